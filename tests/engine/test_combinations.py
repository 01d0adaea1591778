"""The contract tests with combinations of options and seats for each game."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from engine import catalogue
from engine import game as games
from engine.contract import suite as contract
from engine.contract.cases import Case, play_case
from engine.contract.plugin import load_check
from engine.games.carcassonne import boxes

ROOT = Path(__file__).parents[2]
SEED = contract.SEEDS[0]
BOXES = ("messages", "inns_cathedrals", "traders_builders", "abbot", "river", "fairy")
OTHER_STARTS = {
    "school": ("river", "wheel", "count", "leipzig"),
    "river": ("school", "wheel", "count", "leipzig"),
    "wheel": ("river", "school", "wind_roses", "count", "leipzig"),
    "count": ("river", "school", "wind_roses", "wheel", "leipzig"),
    "leipzig": ("river", "school", "wind_roses", "wheel", "count"),
}
STARTS = tuple(OTHER_STARTS)
"""The boxes that change the beginning, with those that do not go with them."""

MORE = tuple(box.option for box in boxes.BOXES if box.option not in BOXES and not box.switches)


def kurier() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every number of seats with the basic rules; the revised ones are the default."""
    yield from ((seats, {"rules": "basic"}) for seats in (2, 3, 4, 5))
    yield from ((seats, {"at_the_guard": "roubles"}) for seats in (2, 5))


def turfmaster() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every number of players, with and without hedges, in turn with each number of horses."""
    yield from tracks(0)
    yield from ((seats, {"simultaneous_cards": "on", "grand_national": "race3"}) for seats in (2, 8))


def tracks(*quarters: int) -> Iterator[tuple[int, dict[str, str]]]:
    for seats, horses, hedges in itertools.product(range(2, 9), range(1, 5), (0, 1)):
        if (seats + horses + 2 * hedges) % 4 in quarters:
            yield seats, {"horses": str(horses), "grand_national": ("none", "all")[hedges]}


def carcassonne() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield every combination of any three of the first boxes, and mixtures of all boxes."""
    yield from first_boxes(0)
    yield from mixtures(range(3))
    yield 6, dict.fromkeys(BOXES, "on")
    yield 3, {**dict.fromkeys(BOXES, "on"), "figures": "own_turn"}


def all_boxes() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield all boxes at once, with each of the beginnings; such a game takes as long as twenty others."""
    for number, start in enumerate(STARTS):
        yield 3 + number % 2, dict.fromkeys((*BOXES, *MORE), "on") | dict.fromkeys(OTHER_STARTS[start], "off")


def first_boxes(*quarters: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield these quarters of the combinations; each quarter has every combination of any three."""
    for number, switches in enumerate(itertools.product(("on", "off"), repeat=len(BOXES))):
        if 2 * (switches[:4].count("on") % 2) + switches[2:].count("on") % 2 in quarters:
            yield 2 + number // 2 % 4, dict(zip(BOXES, switches, strict=True))


def mixtures(numbers: range) -> Iterator[tuple[int, dict[str, str]]]:
    for number in numbers:
        mixed = Random(number)
        chosen = {box: mixed.choice(("on", "off")) for box in (*BOXES, *MORE)} | {"inns_cathedrals": "on"}
        yield 2 + number % 5, chosen | dict.fromkeys(OTHER_STARTS[mixed.choice(STARTS)], "off")


def more_carcassonne() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the other combinations of the first boxes, each later box alone without messages, and more mixtures."""
    yield from first_boxes(1, 2, 3)
    for number, box in enumerate(MORE):
        yield 2 + number % 4, {box: "on", "messages": "off"}
    yield from mixtures(range(3, 12))


def kaiser() -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rounds with every number of seats and both ways to end them."""
    for seats, last in itertools.product((2, 3, 4), ("wins", "must_enter")):
        yield seats, {"rounds": str(seats), "last_emperor": last}


Made = Callable[[], Iterator[tuple[int, dict[str, str]]]]
CASES: dict[str, Made] = {made.__name__: made for made in (kurier, turfmaster, carcassonne, kaiser)}
OTHER_CASES: dict[str, Made] = {"turfmaster": lambda: tracks(1, 2, 3), "carcassonne": more_carcassonne}


def make_combinations(several: Mapping[str, Made]) -> list[Case]:
    cases = [
        Case(game, seats, tuple(chosen.items()))
        for name, game in catalogue.find_all().items()
        for seats, chosen in (several[name]() if name in several else ())
    ]
    return [case for case in cases if not games.objection(case.game, case.options, case.seats)]


@pytest.mark.parametrize("case", make_combinations(CASES), ids=str)
def test_the_contract_holds(case: Case) -> None:
    contract.test_a_random_game_ends(case, SEED)
    contract.test_before_the_end_a_seat_always_has_a_menu(case)
    contract.test_every_move_on_a_menu_is_accepted_and_does_not_change_the_state(case)
    contract.test_a_move_that_is_not_on_the_menu_is_refused(case)
    contract.test_the_same_seed_gives_the_same_game(case)
    contract.test_replay_by_evolve_alone_gives_the_played_state(case)
    check = load_check(ROOT, case.game.META.name)
    for position in play_case(case, SEED):
        check(position.state)
    contract.test_states_events_and_views_can_be_stored_as_json(case)
    contract.test_a_view_and_a_menu_tell_nothing_hidden(case)
    contract.test_a_redealt_state_can_be_played_to_the_end(case)
    contract.test_every_move_has_one_text_form(case)


@pytest.mark.release
@pytest.mark.parametrize("case", make_combinations({"carcassonne": all_boxes}), ids=str)
def test_the_contract_holds_with_all_boxes(case: Case) -> None:
    test_the_contract_holds(case)


@pytest.mark.soak
@pytest.mark.parametrize("case", make_combinations(OTHER_CASES), ids=str)
def test_the_contract_holds_for_the_other_combinations(case: Case) -> None:
    test_the_contract_holds(case)
