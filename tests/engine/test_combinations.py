"""The contract, kept by the combinations of options and seats that each game promises by name."""

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
MORE = tuple(box.option for box in boxes.BOXES if box.option not in BOXES and not box.switches)


def kurier() -> Iterator[tuple[int, dict[str, str]]]:
    """Every number of seats with the basic rules; the revised ones are the default."""
    yield from ((seats, {"rules": "basic"}) for seats in (2, 3, 4, 5))
    yield from ((seats, {"at_the_guard": "roubles"}) for seats in (2, 5))


def turfmaster() -> Iterator[tuple[int, dict[str, str]]]:
    """Every number of players, with hedges and without, in turn with each number of horses."""
    yield from tracks(0)
    yield from ((seats, {"simultaneous_cards": "on", "grand_national": "race3"}) for seats in (2, 8))


def tracks(*quarters: int) -> Iterator[tuple[int, dict[str, str]]]:
    for seats, horses, hedges in itertools.product(range(2, 9), range(1, 5), (0, 1)):
        if (seats + horses + 2 * hedges) % 4 in quarters:
            yield seats, {"horses": str(horses), "grand_national": ("none", "all")[hedges]}


def carcassonne() -> Iterator[tuple[int, dict[str, str]]]:
    """Every combination of any three of the boxes the game began with, mixtures of all, and all at once."""
    yield from first_boxes(0)
    yield from mixtures(range(3))
    yield 3, dict.fromkeys((*BOXES, *MORE), "on") | {"river": "off"}
    yield 4, dict.fromkeys((*BOXES, *MORE), "on") | {"school": "off"}
    yield 6, dict.fromkeys(BOXES, "on")
    yield 3, {**dict.fromkeys(BOXES, "on"), "figures": "own_turn"}


def first_boxes(*quarters: int) -> Iterator[tuple[int, dict[str, str]]]:
    """These quarters of the combinations; each quarter holds every combination of any three."""
    for number, switches in enumerate(itertools.product(("on", "off"), repeat=len(BOXES))):
        if 2 * (switches[:4].count("on") % 2) + switches[2:].count("on") % 2 in quarters:
            yield 2 + number // 2 % 4, dict(zip(BOXES, switches, strict=True))


def mixtures(numbers: range) -> Iterator[tuple[int, dict[str, str]]]:
    for number in numbers:
        mixed = Random(number)
        yield 2 + number % 5, {box: mixed.choice(("on", "off")) for box in (*BOXES, *MORE)} | {"inns_cathedrals": "on"}


def more_carcassonne() -> Iterator[tuple[int, dict[str, str]]]:
    """All combinations of the first boxes that are left, each later box alone without messages, more mixtures."""
    yield from first_boxes(1, 2, 3)
    for number, box in enumerate(MORE):
        yield 2 + number % 4, {box: "on", "messages": "off"}
    yield from mixtures(range(3, 12))


def kaiser() -> Iterator[tuple[int, dict[str, str]]]:
    """Rounds, with every number of seats and both ways to end them."""
    for seats, last in itertools.product((2, 3, 4), ("wins", "must_enter")):
        yield seats, {"rounds": str(seats), "last_emperor": last}


Made = Callable[[], Iterator[tuple[int, dict[str, str]]]]
NAMED: dict[str, Made] = {made.__name__: made for made in (kurier, turfmaster, carcassonne, kaiser)}
THE_REST: dict[str, Made] = {"turfmaster": lambda: tracks(1, 2, 3), "carcassonne": more_carcassonne}


def combinations(named: Mapping[str, Made]) -> list[Case]:
    cases = [
        Case(game, seats, tuple(chosen.items()))
        for name, game in catalogue.find_all().items()
        for seats, chosen in (named[name]() if name in named else ())
    ]
    return [case for case in cases if not games.objection(case.game, case.options, case.seats)]


@pytest.mark.parametrize("named", combinations(NAMED), ids=str)
def test_every_promise_is_kept(named: Case) -> None:
    contract.test_a_random_game_ends(named, SEED)
    contract.test_before_the_end_a_seat_always_has_a_menu(named)
    contract.test_every_move_on_a_menu_is_accepted_and_does_not_change_the_state(named)
    contract.test_a_move_that_is_not_on_the_menu_is_refused(named)
    contract.test_the_same_seed_gives_the_same_game(named)
    contract.test_replay_by_evolve_alone_gives_the_played_state(named)
    check = load_check(ROOT, named.game.META.name)
    for position in play_case(named, SEED):
        check(position.state)
    contract.test_states_events_and_views_can_be_stored_as_json(named)
    contract.test_a_view_and_a_menu_tell_nothing_hidden(named)
    contract.test_a_redealt_state_can_be_played_to_the_end(named)
    contract.test_every_move_has_one_text_form(named)


@pytest.mark.soak
@pytest.mark.parametrize("named", combinations(THE_REST), ids=str)
def test_every_promise_is_kept_by_the_rest_too(named: Case) -> None:
    test_every_promise_is_kept(named)
