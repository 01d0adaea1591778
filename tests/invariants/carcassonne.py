"""What is true of every position of Carcassonne."""

from collections import Counter

from engine.games.carcassonne.board import MESSAGES
from engine.games.carcassonne.boxes import rules_of
from engine.games.carcassonne.land import root_of, signs_at
from engine.games.carcassonne.scoring import leaders
from engine.games.carcassonne.shrines import is_holy, is_shrine, rivals
from engine.games.carcassonne.state import Errand, Part, standing_figures


def check(state):
    rules = rules_of(state.options)
    check_tiles(state, rules.deck())
    check_figures(state, rules)
    check_features(state)
    check_leads(state, rules)
    check_messages(state)
    check_circus(state)
    check_flocks(state)
    check_abbeys(state)
    check_shrines(state)
    assert 0 <= state.buried <= sum(map(len, state.bags))
    assert all(award.points > 0 for award in state.owed)
    assert all(step >= 0 for steps in state.track for step in steps)


def check_tiles(state, deck):
    """Every tile is in a bag, in a hand, on the table or out of the game."""
    held = [part.tile for part in state.work if isinstance(part, Part) and part.step == "place"]
    known = [laid.tile for laid in state.tiles.values() if laid.tile != "AB"] + list(state.aside) + held
    box = Counter([deck.start, *(laid.tile for laid in deck.beside), *(tile for bag in deck.bags for tile in bag)])
    assert Counter(known) + Counter(tile for bag in state.bags for tile in bag) == box


def check_figures(state, rules):
    figures = standing_figures(state)
    assert len(set(figures)) == len(figures)
    for seat, supply in enumerate(state.supply):
        out = Counter(figure.kind for figure in figures if figure.seat == seat)
        assert out + Counter(supply) == Counter(rules.supply)
    for figure in figures:
        assert figure in state.features[root_of(state, figure)].figures


def check_features(state):
    for root, feature in state.features.items():
        assert root not in state.parents
        assert feature.open >= 0, feature
        assert len(set(feature.tiles)) == len(feature.tiles)


def check_leads(state, rules):
    """No two leaders of a feature differ in strength."""
    for feature in state.features.values():
        strengths = dict.fromkeys(leaders(state, rules, feature), 0)
        for figure in feature.figures:
            if figure.seat in strengths:
                shields = feature.marks.count("shield")
                strengths[figure.seat] += shields if figure.kind == "mayor" else rules.strength[figure.kind]
        assert len(set(strengths.values())) <= 1


def check_messages(state):
    """Every message lies in the stack or is being dealt with."""
    if state.options.messages:
        held = [errand.number for errand in state.work if isinstance(errand, Errand) and errand.number]
        assert sorted(held + list(state.pile.unseen) + list(state.pile.seen)) == list(MESSAGES)


def check_circus(state):
    """Every token is in the box or was turned over once for one of the circus tiles."""
    if state.options.big_top:
        circuses = sum("circus" in signs_at(state, cell) for cell in state.tiles)
        assert len(state.animals) >= 16 - circuses
        assert not state.tent or "circus" in signs_at(state, state.tent)
        for feature in state.features.values():
            assert feature.kind != "acrobats" or len(feature.figures) <= 3


def check_abbeys(state):
    """Every abbey is with its owner or on the table, and no wagon waits unless its round goes on."""
    laid = sum(tile.tile == "AB" for tile in state.tiles.values())
    assert laid + sum(state.abbeys) == (len(state.track) if state.options.abbey_mayor else 0)
    assert not state.wagons or state.phase == "playing"
    for feature in state.features.values():
        barn = any(figure.kind == "barn" for figure in feature.figures)
        assert not barn or feature.kind == "field"


def check_shrines(state):
    """No shrine lies beside two cloisters, and no cloister beside two shrines."""
    for cell, laid in state.tiles.items() if state.options.shrines else ():
        if is_holy(laid.tile):
            assert len(rivals(state, cell, is_shrine(laid.tile))) <= 1


def check_flocks(state):
    """Every flock has a shepherd, every shepherd who has drawn a flock, and there are eighteen tokens."""
    shepherds = {figure.place for figure in standing_figures(state) if figure.kind == "shepherd"}
    assert state.phase != "playing" or set(state.flocks) <= shepherds
    counted = Counter(value for sheep in state.flocks.values() for value in sheep)
    assert all(counted[value] <= number for value, number in {1: 4, 2: 5, 3: 5, 4: 2}.items())
    assert set(counted) <= {1, 2, 3, 4}
