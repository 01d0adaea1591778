"""Twin worlds: tables that differ only in things hidden from a seat give it the same entries, draws included.

The same move is made in both with the same visible results of draws (the same coin, the same card). If the seat then
learns the same events, no other part of the entry may differ.
"""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from engine import catalogue, chance, log
from engine import table as tables
from engine.chance import Chance, UnexpectedDraw
from engine.contract.cases import play_case
from engine.log import Entry
from engine.menu import Move
from engine.record import Seat, Table
from engine.refusal import Refused
from tests.engine.cases import all_games, make_cases
from tests.engine.ledger import make_variant

SEED = b"two worlds"
FEW_POSITIONS = 60  # a game with fewer positions is compared for every reader


def make_entry(case, state, seat, move, drawn_chance):
    """Return the entry of this move at a table in this position."""
    chairs = tuple(Seat("taken", str(number), has_player=True) for number in range(case.seats))
    table = Table(case.game.META.name, case.game.META.edition, seats=chairs, phase="playing", state=state, length=50)
    _, events = tables.play(case.game, table, seat, move, drawn_chance)
    return Entry(50, 0, seat, str(move), tuple(drawn_chance.draws), events, case.game.META.edition)


class RecordingSource:
    """A random source that records the results of draws, and their places."""

    def __init__(self, random: Random) -> None:
        self.random, self.faces = random, list[tuple[str, object, int]]()

    def __call__(self, label, faces, _):
        result = self.random.randrange(len(faces))
        self.faces.append((label, faces[result], result))
        return result


def repeat_draws(faces):
    """Return a source with the same results, from the same places if they are there too."""
    left = list(faces)

    def source(label, there, _):
        expected_label, face, place = left.pop(0) if left else ("", None, 0)
        if expected_label != label or face not in there:
            raise UnexpectedDraw(label)
        return place if place < len(there) and there[place] == face else there.index(face)

    return source


def iter_twins(case, number, position, readers):
    """Yield the entries of the same move in the real world and in another deal, for each reader of the same events."""
    for reader in readers:
        recorder = RecordingSource(Random(number))
        real = make_entry(case, position.before, position.seat, position.move, Chance(recorder))
        other = case.game.redeal(position.before, reader, chance.make_from_random(Random(number)))
        try:
            twin = make_entry(case, other, position.seat, position.move, Chance(repeat_draws(recorder.faces)))
        except (Refused, UnexpectedDraw):
            continue  # in that deal the move is impossible, or draws something else
        real_copy, imagined = (log.redact(case.game, entry, reader) for entry in (real, twin))
        if real_copy.events == imagined.events:
            yield real_copy, imagined


def find_differences(case, every_reader=True):
    """Return the entries that differ for a reader, and the number of comparisons; for all readers or two in turn."""
    different, compared, readers = [], 0, (*range(case.seats), None)
    for number, position in enumerate(positions := play_case(case, SEED)):
        if position.before is None or position.seat is None:
            continue
        two_readers = [readers[(number + step) % len(readers)] for step in (0, len(readers) // 2)]
        for real_copy, imagined in iter_twins(
            case, number, position, readers if every_reader or len(positions) < FEW_POSITIONS else two_readers
        ):
            compared += 1
            different += [(real_copy, imagined)] if real_copy != imagined else []
    return different, compared


@pytest.mark.parametrize("every_reader", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["in_turn", "all"])
@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_no_entry_tells_hidden_things(case, every_reader):
    different, compared = find_differences(case, every_reader)
    assert different == []
    assert compared >= case.seats


def test_shown_draws_from_hidden_purses_would_tell():
    """An entry of Kurier with its draws would tell something about other purses."""
    kurier = catalogue.find("kurier")
    shown = make_variant(kurier, META=replace(kurier.META, hidden_draws=()))
    case = next(case for case in make_cases() if case.game is kurier and case.seats == 5)
    different, _ = find_differences(case._replace(game=shown))
    assert {draw.label for pair in different for entry in pair for draw in entry.draws} >= {"rouble"}


def test_a_move_with_hidden_draws_is_shown():
    """Only the draws are left out if no event is hidden: all saw the move."""
    kurier = catalogue.find("kurier")
    case = next(case for case in make_cases() if case.game is kurier and ("rules", "basic") in case.chosen)
    position = next(position for position in play_case(case, SEED) if position.move == Move("turn"))
    drawn_chance = Chance(RecordingSource(Random(1)))
    entry = make_entry(case, position.before, position.seat, position.move, drawn_chance)
    for seat in (*range(case.seats), None):
        real_copy = log.redact(kurier, entry, seat)
        assert (real_copy.move, real_copy.events, real_copy.draws) == ("turn", entry.events, ())


def test_only_labels_that_a_game_draws_are_hidden():
    for game in (game for game in all_games() if game.META.hidden_draws):
        drawn = {
            label
            for case in make_cases()
            if case.game is game
            for position in play_case(case, SEED)[1:]
            if position.seat is not None
            for label in _find_labels(case, position)
        }
        assert set(game.META.hidden_draws) <= drawn | {"robbed rouble"}


def _find_labels(case, position):
    recorder = RecordingSource(Random(1))
    make_entry(case, position.before, position.seat, position.move, Chance(recorder))
    return {label for label, *_ in recorder.faces}
