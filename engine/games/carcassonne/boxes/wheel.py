"""§28, the Wheel of Fortune: a numbered tile turns the wheel when it is drawn, and its section strikes all seats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.boxes.start_blocks import StartBlock, load_cells
from engine.games.carcassonne.hooks import Deck, Rules
from engine.games.carcassonne.land import change_supply, find_figure_root, send_home
from engine.games.carcassonne.scoring import find_companions
from engine.games.carcassonne.state import (
    Award,
    Feature,
    Figure,
    Part,
    State,
    Task,
    add_note,
    apply_awards,
    find_figure,
    find_root,
    finish_figure_step,
    get_field,
    get_setting,
    list_figures,
    list_seats_from_turn,
    make_getter,
    pop_work,
    push_work,
)
from engine.games.carcassonne.tiles import DATA, NUMBERS, PIECES, number_tile
from engine.menu import Choice, Menu, Move
from engine.refusal import Refused

START: str = DATA["wheel"]["start"]
CELLS = load_cells("wheel")
CROWNS: dict[str, int] = DATA["wheel"]["crowns"]
"""How many crowns each section has; the sections are in their order, clockwise."""

SECTIONS = tuple(CROWNS)
FORTUNE, TAXES, FAMINE, STORM, INQUISITION, PLAGUE = SECTIONS
FORTUNE_POINTS, MONK_POINTS, CROWN_POINTS = 3, 2, 3
CROWN_IN_HAND = 5.0
"""The points that a bot expects of a meeple on a crown that is sure to be paid: its points, and that it comes home."""

PASS_CHANCE = 5 / 6
"""The chance that one turn of the wheel does not stop at a certain section."""

CLASH = Refused(
    "The wheel takes the place of the start tile: "
    "switch it off, or else “River”, “Wind roses”, “School”, "
    "“The Count of Carcassonne” and “The Markets of Leipzig”.",
    rule="28.1",
)


class WheelTurned(Struct, frozen=True, omit_defaults=True, tag=True):
    """The wheel was turned to a section: its points, the meeples that leave its crowns, the seats with the plague."""

    seat: int
    number: int
    section: str
    awards: tuple[Award, ...] = ()
    figures: tuple[Figure, ...] = ()
    seats: tuple[int, ...] = ()


class MeepleWithdrawn(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat took a meeple back because of the plague, and the figures that do not stay without it."""

    figures: tuple[Figure, ...]


class CrownTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """A meeple was placed on a crown; the segment of the figure is the section."""

    figure: Figure


get_figures_on_crowns = make_getter("crowns", tuple[Figure, ...])
"""The meeples on the crowns of the wheel."""


def get_pig_section(state: State) -> str:
    """Return the section with the pig; empty without the wheel."""
    return SECTIONS[get_field(state, "pig")] if get_setting(state, "wheel") else ""


def apply_wheel_turned(state: State, event: WheelTurned) -> State:
    """Move the pig, pay, let the meeples of the crowns go home, and ask the seats that the plague strikes in turn."""
    crowns = tuple(figure for figure in get_figures_on_crowns(state) if figure not in event.figures)
    state = add_note(state, _make_wheel_note(state))
    state = replace(
        state, pig=SECTIONS.index(event.section), crowns=crowns, supply=change_supply(state, event.figures, 1)
    )
    for seat in reversed(event.seats):  # the seat that is asked first is pushed last
        state = push_work(state, Task(PLAGUE, seats=(seat,)))
    return apply_awards(state, event.awards)


def apply_meeple_withdrawn(state: State, event: MeepleWithdrawn) -> State:
    return send_home(pop_work(state), event.figures)


def apply_crown_taken(state: State, event: CrownTaken) -> State:
    """Move a meeple from the supply to a crown, in place of a figure on the tile."""
    state = finish_figure_step(state)
    supply = change_supply(state, (event.figure,), -1)
    return replace(state, crowns=(*get_figures_on_crowns(state), event.figure), supply=supply)


def _make_wheel_note(state: State) -> str:
    """Return the note by which a part remembers that the wheel was turned for its tile.

    A tile that fits nowhere is set aside, and another is drawn in the same part: their number tells its tiles apart.
    """
    return f"wheel {len(state.aside)}"


def get_number(tile: str) -> int:
    """Return the number on a tile, or 0."""
    numbers = [int(sign.removeprefix("number ")) for sign in PIECES[tile][0].signs if sign.startswith("number ")]
    return numbers[0] if numbers else 0


def _iter_occupied_features(state: State, kind: str) -> Iterator[Feature]:
    return (feature for feature in state.features.values() if feature.kind == kind and feature.figures)


def count_taxes(state: State, rules: Rules, seat: int) -> int:
    """§28.4: For each knight the shields of his city and the own knights in it."""
    points = 0
    for city in _iter_occupied_features(state, "city"):
        knights = len(rules.select_meeples(city.figures, seat))
        points += knights * (knights + city.marks.count("shield"))
    return points


def count_famine(state: State, rules: Rules, seat: int) -> int:
    """§28.4: For each farmer the completed cities at his farm."""
    return sum(
        len(rules.select_meeples(farm.figures, seat)) * _count_completed_cities(state, farm)
        for farm in _iter_occupied_features(state, "field")
    )


def _count_completed_cities(state: State, farm: Feature) -> int:
    """Count the completed cities that a farm touches, each once; a castle is no city."""
    cities = {find_root(state.parents, city) for city in farm.cities}
    return sum(state.features[root].kind == "city" and not state.features[root].open for root in cities)


def count_storm(state: State, rules: Rules, seat: int) -> int:
    """§28.4: One for each meeple in the supply."""
    return sum(number for kind, number in state.supply[seat].items() if kind not in rules.non_meeples)


def count_inquisition(state: State, rules: Rules, seat: int) -> int:
    """§28.4: Two for each monk."""
    return MONK_POINTS * sum(
        len(rules.select_meeples(feature.figures, seat)) for feature in _iter_occupied_features(state, "cloister")
    )


def count_fortune(state: State, rules: Rules, seat: int) -> int:
    """§28.4: Three for the seat on turn."""
    return FORTUNE_POINTS if seat == state.turn else 0


POINTS_OF_SECTIONS: dict[str, Callable[[State, Rules, int], int]] = {
    FORTUNE: count_fortune,
    TAXES: count_taxes,
    FAMINE: count_famine,
    STORM: count_storm,
    INQUISITION: count_inquisition,
    PLAGUE: lambda state, rules, seat: 0,
}
"""What each section of the wheel brings a seat."""


def turn_wheel(state: State, rules: Rules, number: int) -> WheelTurned:
    """§28.3 to §28.5: Return what happens in the section to which the pig runs, `number` sections on."""
    seats = list_seats_from_turn(state)
    section = SECTIONS[(get_field(state, "pig") + number) % len(SECTIONS)]
    figures = tuple(figure for figure in get_figures_on_crowns(state) if figure.segment == section)
    awards = [Award(seat, POINTS_OF_SECTIONS[section](state, rules, seat), "wheel") for seat in seats]
    awards += [Award(seat, CROWN_POINTS * sum(one.seat == seat for one in figures), "crown") for seat in seats]
    paid = tuple(award for award in awards if award.points)
    struck = seats if section == PLAGUE else []
    with_plague = tuple(seat for seat in struck if list_places_of_meeples(state, rules, seat))
    return WheelTurned(state.turn, number, section, paid, figures, with_plague)


def list_places_of_meeples(state: State, rules: Rules, seat: int) -> list[str]:
    """Return the places of the meeples of a seat on the land."""
    return [figure.place for figure in rules.select_meeples(list_figures(state), seat)]


def withdraw_meeple(state: State, rules: Rules, place: str) -> MeepleWithdrawn:
    """§28.4: Return the event that takes the meeple on this place back."""
    figure = find_figure(state, place)
    companions = find_companions(state, rules, state.features[find_figure_root(state, figure)], figure)
    return MeepleWithdrawn((figure, *companions))


class Wheel(StartBlock):
    """The wheel in the middle of the land, its pig, and its crowns."""

    option = "wheel"
    start, cells, clash = START, CELLS, CLASH
    title = "The Wheel of Fortune"
    about = "A wheel in the middle of the land, turned by tiles with numbers (§28)"
    state_fields = {"pig": (int, 0), "crowns": (tuple[Figure, ...], ())}
    view_fields = {"pig": (str, get_pig_section), "crowns": (tuple[Figure, ...], get_figures_on_crowns)}
    verbs = ("crown", "withdraw")
    tasks = (PLAGUE,)
    tasks_within_round = (PLAGUE,)
    events = {
        WheelTurned: apply_wheel_turned,
        MeepleWithdrawn: apply_meeple_withdrawn,
        CrownTaken: apply_crown_taken,
    }

    def mix_deck(self, deck: Deck) -> Deck:
        """§28.1, §28.2: The block takes the place of the start tile; some tiles of the base game show a number.

        The tiles of the base game are in the last bag.
        """
        *bags, last = deck.bags
        bag = list(last)
        for name, numbers in NUMBERS.items():
            for number in numbers:
                if name in bag:  # another box may have taken it out
                    bag[bag.index(name)] = number_tile(name, number)
        return super().mix_deck(replace(deck, bags=(*bags, tuple(bag))))

    def react_to_drawing(self, state: State, rules: Rules, part: Part, chance: Chance) -> WheelTurned | None:
        """§28.3: Turn the wheel for a tile with a number, before it is placed."""
        number = get_number(part.tile)
        if not number or _make_wheel_note(state) in part.notes:
            return None
        return turn_wheel(state, rules, number)

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§28.4: A seat with the plague chooses one of its meeples on the land."""
        return (Choice("withdraw", tuple((place,) for place in list_places_of_meeples(state, rules, seat)), "28.4"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> MeepleWithdrawn | None:
        """Take the only meeple of a seat back without a question."""
        (seat,) = task.seats
        places = list_places_of_meeples(state, rules, seat)
        if len(places) != 1:
            return None
        return withdraw_meeple(state, rules, places[0])

    def offer_instead_of_figure(self, state: State, rules: Rules, seat: int, part: Part) -> Choice | None:
        """§28.5: Offer to place a meeple on a free crown."""
        taken = [figure.segment for figure in get_figures_on_crowns(state)]
        free = [section for section, crowns in CROWNS.items() if taken.count(section) < crowns]
        kinds = [kind for kind, number in state.supply[seat].items() if number and kind not in rules.non_meeples]
        options = tuple((kind, section) for kind in kinds for section in free)
        return Choice("crown", options, "28.5") if options else None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§28.4, §28.5: Take a meeple back because of the plague, or place one on a free crown of a section."""
        if move.verb == "withdraw":
            return [withdraw_meeple(state, rules, move.args[0])]
        kind, section = move.args
        number = sum(figure.segment == section for figure in get_figures_on_crowns(state)) + 1
        return [CrownTaken(Figure(seat, kind, cell="", segment=section, way=str(number)))]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the meeples on crowns can expect, by the numbers that are still in the bag."""
        own = sum(figure.seat == seat for figure in get_figures_on_crowns(state))
        if not own:
            return 0.0
        turns_to_come = sum(get_number(tile) > 0 for bag in state.bags for tile in bag)
        stop_chance = 1 - PASS_CHANCE**turns_to_come  # that one of the turns stops at the section of a crown
        return own * CROWN_IN_HAND * stop_chance


BOX = Wheel()
