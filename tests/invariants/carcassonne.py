"""What is true of every position of Carcassonne."""

from collections import Counter

from engine.games.carcassonne.boxes import rules_of
from engine.games.carcassonne.land import root_of
from engine.games.carcassonne.state import Part, standing_figures


def check(state):
    rules = rules_of(state.options)
    check_tiles(state, rules.deck())
    check_figures(state, rules)
    check_features(state)
    assert all(award.points > 0 for award in state.owed)
    assert all(step >= 0 for steps in state.track for step in steps)


def check_tiles(state, deck):
    """Every tile is in a bag, in a hand, on the table or out of the game."""
    held = [part.tile for part in state.work if isinstance(part, Part) and part.step == "place"]
    known = [laid.tile for laid in state.tiles.values()] + list(state.aside) + held
    box = Counter([deck.start, *(tile for bag in deck.bags for tile in bag)])
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
        assert feature.open >= 0
        assert len(set(feature.tiles)) == len(feature.tiles)
