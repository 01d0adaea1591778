"""Invariants of every position of Carcassonne."""

from collections import Counter

from engine.games.carcassonne.boxes import bridges, castles, get_rules, plague, tower
from engine.games.carcassonne.boxes.princess_dragon import DRAGON_STEPS, find_prey
from engine.games.carcassonne.boxes.shrines import find_rivals, has_cloister, has_shrine
from engine.games.carcassonne.boxes.wheel import CROWNS
from engine.games.carcassonne.land import find_figure_root, get_signs, has_segment, list_cells
from engine.games.carcassonne.scoring import count_tiles, find_leaders
from engine.games.carcassonne.state import Part, Task, count_points_of, list_figures
from engine.games.carcassonne.tiles import MESSAGES

PAYMENTS = ("protection", "ransom", "bathhouse", "bazaar")


def check(state):
    rules = get_rules(state.options)
    check_tiles(state, rules.make_deck())
    check_figures(state, rules)
    check_features(state)
    check_leads(state, rules)
    check_messages(state)
    check_circus(state)
    check_flocks(state)
    check_abbeys(state)
    check_shrines(state)
    check_titles(state)
    check_wheel(state)
    check_tunnels(state)
    check_towers(state)
    check_dragon(state)
    check_castles(state)
    check_auction(state)
    check_plague(state)
    assert 0 <= state.buried <= sum(map(len, state.bags))
    check_points(state)


def check_wheel(state):
    """Every crown has one meeple at most, and there is none without the wheel."""
    places = [(figure.segment, figure.way) for figure in state.crowns]
    assert len(set(places)) == len(places)
    assert all(int(number) <= CROWNS[section] for section, number in places)
    assert state.options.wheel or not places


def check_tunnels(state):
    """No pair has more than two tokens, and a road is open wherever an opening has no tunnel."""
    owners = list(state.tunnels.values())
    assert all(owners.count(owner) <= 2 for owner in owners)
    for feature in state.features.values():
        leads_on = sum(owners.count(owner) == 2 for owner in owners)
        assert feature.marks.count("tunnel") - leads_on <= feature.open or feature.kind != "road"


def check_points(state):
    """Points are above zero, except for payments, which alone bring a scoring figure below it."""
    assert all(award.points > 0 or award.why in PAYMENTS for award in state.owed)
    may_pay = state.options.revolts or state.options.tower or state.options.bathhouses
    bids = state.options.bridges_castles
    assert may_pay or bids or all(step >= 0 for steps in state.track for step in steps)
    assert may_pay or all(count_points_of(state, seat) >= 0 for seat in range(len(state.track)))
    protected = [figure for figure in list_figures(state) if figure.protected]
    assert state.options.revolts or not protected
    for figure in protected:
        assert state.features[find_figure_root(state, figure)].kind in ("city", "road", "cloister", "castle")


def check_tiles(state, deck):
    """Every tile is in a bag, in a hand, on the table or out of the game."""
    in_hand = [part.tile for part in state.work if isinstance(part, Part) and part.step == "place"]
    on_table = [placed.tile for placed in state.tiles.values() if placed.tile != "AB"]
    in_bags = [tile for bag in state.bags for tile in bag]
    beside_start = [event.tile for event in deck.beside]
    box = Counter([deck.start, *beside_start, *(tile for bag in deck.bags for tile in bag)])
    in_auction = [tile for own in state.bought for tile in own] + list(state.auction.tiles if state.auction else ())
    known = in_hand + on_table + in_bags + in_auction + list(state.aside)
    assert Counter(tile.partition("=")[0] for tile in known) == box


def check_figures(state, rules):
    figures = list_figures(state)
    assert len(set(figures)) == len(figures)
    for seat, supply in enumerate(state.supply):
        out = Counter(
            figure.kind
            for figure in (*figures, *state.crowns, *state.citizens, *state.merchants)
            if figure.seat == seat
        )
        held = Counter(prisoner.kind for prisoner in state.prisoners if prisoner.seat == seat)
        bathing = Counter(meeple=sum(bather.seat == seat for bather in (*state.bathers, *state.bathers_due)))
        assert out + held + bathing + Counter(supply) == Counter(rules.supply)
    for figure in figures:
        assert figure in state.features[find_figure_root(state, figure)].figures


def check_features(state):
    for root, feature in state.features.items():
        assert root not in state.parents
        assert feature.open >= 0, feature
        assert len(set(feature.tiles)) == len(feature.tiles)


def check_leads(state, rules):
    """No two leaders of a feature differ in strength."""
    for feature in state.features.values():
        strengths = dict.fromkeys(find_leaders(state, rules, feature), 0)
        for figure in feature.figures:
            if figure.seat in strengths:
                shields = feature.marks.count("shield")
                strengths[figure.seat] += shields if figure.kind == "mayor" else rules.strength[figure.kind]
        assert len(set(strengths.values())) <= 1


def check_messages(state):
    """Every message is in the stack or is being dealt with."""
    if state.options.messages:
        drawn = [task.number for task in state.work if isinstance(task, Task) and task.number]
        assert sorted(drawn + list(state.pile.unseen) + list(state.pile.seen)) == list(MESSAGES)


def check_circus(state):
    """No more tokens were turned over than there are circus tiles, and the tent is on one of them."""
    if state.options.big_top:
        circuses = sum("circus" in get_signs(state, cell) for cell in state.tiles)
        assert len(state.animals) >= 16 - circuses
        assert not state.tent or "circus" in get_signs(state, state.tent)
        for feature in state.features.values():
            assert feature.kind != "acrobats" or len(feature.figures) <= 3


def check_abbeys(state):
    """Every abbey is with its owner or on the table; wagons wait only during the game; barns are on fields."""
    on_table = sum(placed.tile == "AB" for placed in state.tiles.values())
    assert on_table + sum(state.abbeys) == (len(state.track) if state.options.abbey_mayor else 0)
    assert not state.wagons or state.phase == "playing"
    for feature in state.features.values():
        barn = any(figure.kind == "barn" for figure in feature.figures)
        assert not barn or feature.kind == "field"


def check_shrines(state):
    """No shrine has two cloisters around it, and no cloister two shrines."""
    for cell, placed in state.tiles.items() if state.options.shrines else ():
        if has_cloister(placed.tile):
            assert len(find_rivals(state, cell, has_shrine(placed.tile))) <= 1


def check_titles(state):
    """Each title is for a completed feature, and no completed feature that was scored is larger."""
    for kind, title in {"city": "king", "road": "baron"}.items():
        features = [one for one in state.features.values() if one.kind == kind and not one.open]
        complete = [count_tiles(state, get_rules(state.options), one) for one in features]
        seat, tiles = state.titles.get(title, (0, 0))
        assert not tiles or tiles in complete
        if state.options.king_robber and state.phase != "playing":
            assert tiles == max(complete, default=0)
            assert seat in range(len(state.track))


def check_towers(state):
    """No floor is lost, prisoners are meeples of others, and no two seats hold prisoners of each other for long."""
    if state.options.tower:
        seats = len(state.track)
        assert sum(state.floors) + sum(state.towers.values()) == seats * tower.FLOORS[str(seats)]
        assert all(has_segment(state, cell, "tower") for cell in (*state.towers, *state.closed_towers))
        held = {(prisoner.captor, prisoner.seat) for prisoner in state.prisoners}
        assert all(captor != seat for captor, seat in held)
        is_settled = isinstance(state.work[-1], Part) and state.work[-1].step == "draw" if state.work else True
        assert not is_settled or not any((seat, captor) in held for captor, seat in held)


def check_dragon(state):
    """The dragon is on a tile without the fairy and without figures that it could eat; its way has no tile twice."""
    assert state.options.princess_dragon or not state.dragon
    assert not state.dragon_path or state.dragon_path[-1] == state.dragon
    assert len(set(state.dragon_path)) == len(state.dragon_path) <= DRAGON_STEPS
    if state.dragon:
        assert state.dragon in state.tiles
        assert state.fairy is None or state.fairy.cell != state.dragon
        assert not find_prey(state, state.dragon)


def check_castles(state):
    """A castle is never a city: it is a feature of its own on two tiles, with one lord or none; no piece is lost."""
    seats = len(state.track)
    made = {castle.root for castle in state.castles}
    assert made == {root for root, feature in state.features.items() if feature.kind == "castle"}
    for castle in state.castles:
        feature = state.features[castle.root]
        assert (feature.open, len(feature.tiles), feature.marks) == (0, 2, ())
        assert set(list_cells(state, feature)) == set(castle.cells)
        assert len(feature.figures) <= 1
    assert set(state.lords_pay) <= {figure.place for root in made for figure in state.features[root].figures}
    if state.options.bridges_castles:
        assert sum(state.castles_left) + len(made) == seats * castles.CASTLES[str(seats)]
        in_hand = [part.tile for part in state.work if isinstance(part, Part) and part.step == "place"]
        names = [*in_hand, *(placed.tile for placed in state.tiles.values())]
        assert sum(state.bridges) + sum("=" in name for name in names) == seats * bridges.BRIDGES[str(seats)]


def check_auction(state):
    """There is a tile for each seat that has none yet, and no bid is higher than what its seat has."""
    auction = state.auction
    if auction is not None:
        assert len(auction.tiles) == len(auction.seats) == len(set(auction.seats))
        assert not auction.tile or auction.tile in auction.tiles
        assert auction.bidder is None or auction.bid <= max(0, count_points_of(state, auction.bidder))
        assert set(auction.waiting) <= set(auction.seats[1:])


def check_plague(state):
    """No flea is lost, active ones are connected with an outbreak, and no figure is where the plague is."""
    assert state.options.plague or not state.outbreaks
    assert len(state.fleas) <= plague.FLEAS
    assert len(state.outbreaks) + len(state.ended_outbreaks) <= 6
    assert not state.fleas.keys() & {*state.outbreaks, *state.ended_outbreaks}
    active = {cell for cell, is_active in state.fleas.items() if is_active}
    assert plague.find_region(state.outbreaks, active) == active | set(state.outbreaks)
    for cell in (*state.fleas, *state.outbreaks):
        assert not find_prey(state, cell)


def check_flocks(state):
    """Every flock has a shepherd, and no more sheep are on the table than there are tokens."""
    shepherds = {figure.place for figure in list_figures(state) if figure.kind == "shepherd"}
    assert state.phase != "playing" or set(state.flocks) <= shepherds
    counted = Counter(value for sheep in state.flocks.values() for value in sheep)
    assert all(counted[value] <= number for value, number in {1: 4, 2: 5, 3: 5, 4: 2}.items())
    assert set(counted) <= {1, 2, 3, 4}
