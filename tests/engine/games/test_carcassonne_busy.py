"""Crowded random games of short roads and small cities, in which messages and double turns come again and again."""

from collections import Counter
from random import Random
from types import SimpleNamespace

import msgspec
import pytest

from engine import chance, menu, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne.boxes import get_rules
from engine.games.carcassonne.tiles import NUMBERS, count_tiles_of, number_tile
from tests.invariants import carcassonne as invariants

CLOSING_TILES = {"E": 6, "H": 3, "I": 3, "A": 4, "U": 5, "V": 5, "W": 3, "X": 2, "L": 3, "J": 3, "B": 2, "F": 2}
SPECIAL_TILES = ("E*", "U*", "T15", "T17", "I15", "I01")
RARE_EVENTS = {"TileSetAside", "OvertimeBegan", "ChallengeLost", "MessageOffered", "MessageLeft", "TeacherAsked"}
RARE_EVENTS |= {"ChurchCompleted", "ChurchPaid", "CityDeclined"}
RARE_EVENTS |= {"ExchangeOffered", "PrisonersExchanged", "SecondTileDeclined"}
RARE_EVENTS |= {"MarketOpened", "MerchantSent", "MarketDeclined"}
FIRST_BOXES = ("messages", "inns_cathedrals", "traders_builders", "abbot", "fairy")
LATER_BOXES = (
    "wind_roses",
    "watchtowers",
    "hills_sheep",
    "big_top",
    "besiegers",
    "shrines",
    "monasteries",
    "abbey_mayor",
)
LATER_BOXES = (*LATER_BOXES, "fruit_trees", "tollkeepers", "school", "king_robber", "darmstadt", "revolts", "tunnel")
LATER_BOXES = (*LATER_BOXES, "tower", "bathhouses", "princess_dragon", "bridges_castles", "plague")
ALL_BOXES = dict.fromkeys((*FIRST_BOXES, *LATER_BOXES), True)
ROUND_THE_WHEEL = ALL_BOXES | {"wheel": True, "school": False, "wind_roses": False}
ROUND_THE_CITY = ALL_BOXES | {"count": True, "school": False, "wind_roses": False}
ROUND_LEIPZIG = ALL_BOXES | {"leipzig": True, "school": False, "wind_roses": False}
FEW_SEEDS = (1, 2, 6, 8, 20)  # found so that everything happens in them that happens in twenty-one games


def setup(chosen, seats, chance):
    """Return the first events of a game with another bag."""
    began, *others = carcassonne.setup(chosen, seats, chance)
    bag = [tile for tile, number in CLOSING_TILES.items() for _ in range(number)]
    further = [tile for box in LATER_BOXES for tile in count_tiles_of(box) if box != "school"] if chosen.big_top else []
    further += [number_tile(name, number) for name in NUMBERS for number in NUMBERS[name]] if chosen.wheel else []
    return [msgspec.structs.replace(began, bags=((*bag, *SPECIAL_TILES, *SPECIAL_TILES, *further),)), *others]


BUSY = SimpleNamespace(**{name: getattr(carcassonne, name) for name in carcassonne.__all__} | {"setup": setup})


def choose_eagerly(offered, random):
    """Choose any move, but mostly the builder or acrobats, then another figure, seldom a farmer or none."""
    moves = list(menu.iter_moves(offered))
    if random.random() < 0.2:
        return random.choice(moves)
    building = [move for move in moves if any(word in str(move) for word in ("builder", "acrobats", "pyramid"))]
    seldom = ("field", "fairy", "pass", "protect", "crown")
    acting = [move for move in moves if not any(word in str(move) for word in seldom)]
    several = building or acting or moves
    verb = random.choice(sorted({move.verb for move in several}))  # not the one with the most options
    return random.choice([move for move in several if move.verb == verb])


def boxes_of(seed):
    """Return all boxes that go together, with the school, the wheel, Carcassonne or Leipzig."""
    return (ALL_BOXES, ROUND_THE_WHEEL, ROUND_THE_CITY, ROUND_LEIPZIG)[seed % 4]


def play_busy_game(chosen, seats, seed):
    """Yield every position of a busy game with the events that led to it."""
    random = Random(seed)
    rigged = chance.make_from_random(random)
    state, events = games.begin(BUSY, options.parse(carcassonne.META.options, chosen), seats, rigged)
    yield state, events
    while open_menus := [(seat, offered) for seat in range(seats) if (offered := carcassonne.menu(state, seat))]:
        seat, offered = random.choice(open_menus)
        state, events = games.play(carcassonne, state, seat, choose_eagerly(offered, random), rigged)
        yield state, events


@pytest.mark.parametrize("seeds", [FEW_SEEDS, pytest.param(range(51), marks=pytest.mark.soak)], ids=["few", "many"])
@pytest.mark.parametrize("figures", ["at_once", pytest.param("own_turn", marks=pytest.mark.release)])
def test_busy_games_keep_every_promise_and_everything_happens_in_them(figures, seeds):
    happened, performed = Counter(), Counter()
    for seed in seeds:
        folded = None
        played = play_busy_game(boxes_of(seed) | {"figures": figures}, 2 + seed % 2, seed)
        for number, (state, events) in enumerate(played):
            folded = games.fold(carcassonne, events, folded)
            assert folded == state
            if number % 4 == seed % 4 or seeds is not FEW_SEEDS:  # checking takes longer than playing
                check(state)
            happened.update(type(event).__name__ for event in events)
            performed.update(event.number for event in events if type(event).__name__ == "MessagePerformed")
        assert games.is_over(carcassonne, folded)
        assert msgspec.json.decode(msgspec.json.encode(folded), type=type(folded)) == folded
    assert set(performed) == set(range(1, 9))
    assert {kind.__name__ for kind in carcassonne.Event.__args__} - set(happened) <= RARE_EVENTS


def check(state):
    rules = get_rules(state.options)
    invariants.check_figures(state, rules)
    invariants.check_features(state)
    invariants.check_leads(state, rules)
    invariants.check_messages(state)
    invariants.check_circus(state)
    invariants.check_flocks(state)
    invariants.check_abbeys(state)
    invariants.check_shrines(state)
    invariants.check_wheel(state)
    invariants.check_towers(state)
    invariants.check_dragon(state)
    invariants.check_castles(state)
    invariants.check_auction(state)
    invariants.check_plague(state)
