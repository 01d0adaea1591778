"""§32, the markets of Leipzig: meeples from completed roads go into its quarters, which pay them to the end."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne import editions
from engine.games.carcassonne.boxes.start_blocks import StartBlock, is_at_wall, load_cells
from engine.games.carcassonne.boxes.tollkeepers import VILLAGES
from engine.games.carcassonne.hooks import Moment, Rules
from engine.games.carcassonne.land import (
    find_figure_root,
    find_token_root,
    iter_segments,
    lift_figures,
    list_cells,
    send_home,
)
from engine.games.carcassonne.scoring import count_points, count_tiles, find_companions, find_leaders
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    State,
    Task,
    add_note,
    count_tiles_left,
    find_figure,
    get_current_part,
    get_field,
    list_seats_from_turn,
    make_getter,
    pop_work,
    push_work,
    replace_if_played,
)
from engine.games.carcassonne.tiles import DATA, MOST_SEGMENTS, get_plain_name
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

START: str = DATA["leipzig"]["start"]
CELLS = load_cells("leipzig")
GATES: dict[str, str] = DATA["leipzig"]["gates"]
"""The tile with the gate of each quarter."""

BONUSES: dict[str, int] = DATA["leipzig"]["bonuses"]
"""What each quarter that takes meeples pays: for a tile of a road, for a cloister, for a shield."""

DOUBLE_TILES = tuple((CELLS[name], CELLS[name.replace("a", "b")]) for name in GATES.values())
"""The cells of the two halves of each double tile, such as `LZ1a` and `LZ1b`; its gate road is on both of them."""

WAINWRIGHTS, BOOKBINDERS, COINERS = "wainwrights", "bookbinders", "coiners"
NOWHERE = "nowhere"
STAYS_OUTSIDE = frozenset({"mayor", "abbot"})
QUARTER_POINTS = 9.0
"""The points that a bot expects of a meeple in a quarter while all tiles are in the bag."""

CLASH = Refused(
    "Leipzig takes the place of the start tile: "
    "switch it off, or else “River”, “Wind roses”, “School”, "
    "“The Wheel of Fortune” and “The Count of Carcassonne”.",
    rule="32.1",
)


class MarketOpened(Struct, frozen=True, omit_defaults=True, tag=True):
    """A completed road leads to Leipzig: the seats that lead on it are asked for a meeple in turn."""

    place: str
    seats: tuple[int, ...]


class MerchantSent(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple left its road for a quarter of Leipzig; the figures that do not stay without it go home."""

    figure: Figure
    merchant: Figure
    companions: tuple[Figure, ...] = ()


class MarketDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat sent no meeple."""

    seat: int


get_merchants = make_getter("merchants", tuple[Figure, ...])
"""The meeples in Leipzig; the segment of each is its quarter."""


def apply_market_opened(state: State, event: MarketOpened) -> State:
    """Ask the seats one after the other: the first one is pushed last."""
    state = add_note(state, _make_question_note(event.place))
    for seat in reversed(event.seats):
        state = push_work(state, Task("leipzig", seats=(seat,), place=event.place))
    return state


def apply_merchant_sent(state: State, event: MerchantSent) -> State:
    """Move the meeple to its quarter; from edition 4 on a wagon there does not drive on."""
    state = send_home(lift_figures(pop_work(state), (event.figure,)), event.companions)
    if not editions.drives_from_leipzig(state.edition):
        wagons = tuple(wagon for wagon in get_field(state, "wagons") if wagon != event.figure)
        state = replace_if_played(state, wagons=wagons)
    return replace(state, merchants=(*get_merchants(state), event.merchant))


def apply_market_declined(state: State, event: MarketDeclined) -> State:
    return pop_work(state)


def _make_question_note(place: str) -> str:
    """Return the note by which a part remembers that the leaders of the road at this place were asked."""
    return f"leipzig {place}"


def is_in_quarter(state: State, seat: int, quarter: str) -> bool:
    """Whether a seat has a meeple in a quarter."""
    return any(one.seat == seat and one.segment == quarter for one in get_merchants(state))


def list_free_quarters(state: State, seat: int) -> list[str]:
    """§32.3: Return the quarters to which a seat can send a meeple."""
    return [quarter for quarter in BONUSES if not is_in_quarter(state, seat, quarter)]


def list_gate_roads(state: State) -> set[int]:
    """§32.2: Return the roads that are joined to a gate, directly or through villages."""
    joined = {find_token_root(state, CELLS[name], "road") for name in GATES.values()}
    waiting = list(joined)
    while waiting:
        road = state.features[waiting.pop()]
        for cell in list_cells(state, road):
            if get_plain_name(state.tiles[cell].tile) in VILLAGES:  # it joins this road to all others that end there
                at_village = {root for segment, root in iter_segments(state, cell) if segment.kind == "road"}
                waiting += at_village - joined
                joined |= at_village
    return joined


def is_on_tile(state: State, feature: Feature, cell: str) -> bool:
    """Whether a feature is on the tile of a cell."""
    placed = state.tiles.get(cell)
    if placed is None:
        return False
    tile_number = placed.first // MOST_SEGMENTS
    return tile_number in feature.tiles


def list_travellers(state: State, rules: Rules, seat: int, root: int) -> list[Figure]:
    """§32.3: Return the meeples of a seat on a road that can go to Leipzig."""
    meeples = rules.select_meeples(state.features[root].figures, seat)
    return [figure for figure in meeples if figure.kind not in STAYS_OUTSIDE]


def find_latest_place(state: State, root: int) -> str:
    """Return the place of a segment of a road, on its latest tile."""
    cell = list_cells(state, state.features[root])[-1]
    tokens = [segment.token for segment, segment_root in iter_segments(state, cell) if segment_root == root]
    return f"{cell}/{tokens[0]}"


class Leipzig(StartBlock):
    """The city of Leipzig, its gates and its quarters."""

    option = "leipzig"
    start, cells, clash = START, CELLS, CLASH
    title = "The Markets of Leipzig"
    about = "Leipzig in the middle of the land, whose quarters pay more (§32)"
    supply = {"meeple": 1}
    state_fields = {"merchants": (tuple[Figure, ...], ())}
    view_fields = {"merchants": (tuple[Figure, ...], get_merchants)}
    verbs = ("send",)
    tasks = ("leipzig",)
    tasks_within_round = ("leipzig",)
    events = {
        MarketOpened: apply_market_opened,
        MerchantSent: apply_merchant_sent,
        MarketDeclined: apply_market_declined,
    }

    def before_feature(self, state: State, rules: Rules, root: int, chance: Chance) -> MarketOpened | None:
        """§32.2: Before any feature is scored, ask the leaders of the next completed road that leads to Leipzig.

        The hook is called until all roads were asked about.
        """
        part = get_current_part(state)
        roads = [done for done in part.done if state.features[done].kind == "road" and state.features[done].figures]
        if not roads:
            return None
        gate_roads = list_gate_roads(state)
        for road in roads:
            place = find_latest_place(state, road)
            if road not in gate_roads or _make_question_note(place) in part.notes:
                continue
            seats = self._list_seats_to_ask(state, rules, road)
            if seats:
                return MarketOpened(place, seats)
        return None

    def _list_seats_to_ask(self, state: State, rules: Rules, road: int) -> tuple[int, ...]:
        """Return the leaders of a road that can send a meeple, from the seat on turn on."""
        leaders = find_leaders(state, rules, state.features[road])
        order = [seat for seat in list_seats_from_turn(state) if seat in leaders]
        return tuple(
            seat for seat in order if list_free_quarters(state, seat) and list_travellers(state, rules, seat, road)
        )

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§32.3: Offer to send each meeple of the seat on the road of the task to each free quarter, or none."""
        cell, token = task.place.split("/")
        figures = list_travellers(state, rules, seat, find_token_root(state, cell, token))
        quarters = list_free_quarters(state, seat)
        options = ((figure.place, quarter) for figure in figures for quarter in quarters)
        return (Choice("send", (*options, (NOWHERE,)), "32.3"),)

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§32.3: Send a meeple from its road to a quarter, or none."""
        if move.args == (NOWHERE,):
            return [MarketDeclined(seat)]
        place, quarter = move.args
        figure = find_figure(state, place)
        merchant = Figure(seat, figure.kind, cell="", segment=quarter)
        feature = state.features[find_figure_root(state, figure)]
        return [MerchantSent(figure, merchant, find_companions(state, rules, feature, figure))]

    def count_double_tiles(self, state: State, rules: Rules, feature: Feature) -> int:
        """§32.1: The long road at a gate is on both halves of a double tile, and counts once."""
        if feature.kind != "road" or editions.counts_gate_road_twice(state.edition):
            return 0
        return sum(is_on_tile(state, feature, one) and is_on_tile(state, feature, other) for one, other in DOUBLE_TILES)

    def award_bonus(self, state: State, rules: Rules, feature: Feature, moment: Moment) -> tuple[Award, ...]:
        """§32.4: After the feature itself pay the meeples in the quarter for its kind; a feature of 0 points pays none.

        A road pays its leaders for its tiles, a cloister its leader, and a city all that have a meeple in it for its
        shields.
        """
        if not get_merchants(state) or not count_points(state, rules, feature, moment):
            return ()
        if moment == "message" and not editions.pays_leipzig_for_message_8(state.edition):
            return ()
        match feature.kind:
            case "road":
                leaders = find_leaders(state, rules, feature)
                return self._pay(state, WAINWRIGHTS, leaders, count=count_tiles(state, rules, feature))
            case "cloister":
                return self._pay(state, BOOKBINDERS, find_leaders(state, rules, feature), count=1)
            case "city":
                seats = [seat for seat in range(len(state.track)) if rules.select_meeples(feature.figures, seat)]
                return self._pay(state, COINERS, seats, count=feature.marks.count("shield"))
        return ()

    def _pay(self, state: State, quarter: str, seats: Sequence[int], count: int) -> tuple[Award, ...]:
        """Return an award for each of these seats with a meeple in a quarter, which pays for so many things."""
        points = BONUSES[quarter] * count
        return tuple(Award(seat, points, "leipzig") for seat in seats if points and is_in_quarter(state, seat, quarter))

    def count_more_cities(self, state: State, rules: Rules, farm: Feature) -> int:
        """§32.5: Leipzig is a completed city for each farm at its wall."""
        cells = [CELLS[name] for name in GATES.values() if CELLS[name] in state.tiles]
        return int(is_at_wall(state, farm, cells))

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the meeples in Leipzig can expect of the tiles that are still in the bag."""
        own = sum(one.seat == seat for one in get_merchants(state))
        left = count_tiles_left(state)
        return own * QUARTER_POINTS * left / (left + len(state.tiles))


BOX = Leipzig()
