"""Twin worlds: tables that differ only in what a seat may not know give it the same entries, draws included.

The same move is made in both with the same luck, told in what is seen (the same coin, the same card). Where a seat then
hears the same, nothing else of the entry may tell it in which of the two worlds it lives.
"""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from engine import catalogue, chance, record
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
SHORT = 60  # positions of a game that is looked at by every reader


def entry_of(case, state, seat, move, luck):
    """The entry that this move would be at a table in this position."""
    chairs = tuple(Seat("taken", str(number), has_player=True) for number in range(case.seats))
    table = Table(case.game.META.name, case.game.META.edition, seats=chairs, phase="playing", state=state, length=50)
    _, events = tables.play(case.game, table, seat, move, luck)
    return Entry(50, 0, seat, str(move), tuple(luck.draws), events, case.game.META.edition)


class Noted:
    """Luck that remembers what was seen, in order, and where it lay."""

    def __init__(self, random: Random) -> None:
        self.random, self.faces = random, list[tuple[str, object, int]]()

    def __call__(self, label, faces, _):
        result = self.random.randrange(len(faces))
        self.faces.append((label, faces[result], result))
        return result


def again(faces):
    """Luck that brings the same to light once more, from the same place where it lies there too."""
    left = list(faces)

    def source(label, there, _):
        wanted, face, place = left.pop(0) if left else ("", None, 0)
        if wanted != label or face not in there:
            raise UnexpectedDraw(label)
        return place if place < len(there) and there[place] == face else there.index(face)

    return source


def twins(case, number, position, readers):
    """The same move in the real world and in one dealt anew, for each of these seats that hears no difference."""
    for reader in readers:
        noted = Noted(Random(number))
        real = entry_of(case, position.before, position.seat, position.move, Chance(noted))
        other = case.game.redeal(position.before, reader, chance.make_from_random(Random(number)))
        try:
            twin = entry_of(case, other, position.seat, position.move, Chance(again(noted.faces)))
        except (Refused, UnexpectedDraw):
            continue  # there the mover cannot do it, or does not draw that
        heard, imagined = (record.redact(case.game, entry, reader) for entry in (real, twin))
        if heard.events == imagined.events:
            yield heard, imagined


def differences(case, every_reader=True):
    """Entries that tell a seat in which world it lives, and how many pairs were looked at; or two seats in turn."""
    told, looked, readers = [], 0, (*range(case.seats), None)
    for number, position in enumerate(positions := play_case(case, SEED)):
        if position.before is None or position.seat is None:
            continue
        in_turn = [readers[(number + step) % len(readers)] for step in (0, len(readers) // 2)]
        for heard, imagined in twins(
            case, number, position, readers if every_reader or len(positions) < SHORT else in_turn
        ):
            looked += 1
            told += [(heard, imagined)] if heard != imagined else []
    return told, looked


@pytest.mark.parametrize("every_reader", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["in_turn", "all"])
@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_no_entry_tells_what_a_seat_may_not_know(case, every_reader):
    told, looked = differences(case, every_reader)
    assert told == []
    assert looked >= case.seats


def test_draws_out_of_hidden_purses_would_tell():
    """What the rule is for: with its draws shown, an entry of Kurier tells of other purses."""
    kurier = catalogue.find("kurier")
    shown = make_variant(kurier, META=replace(kurier.META, hidden_draws=()))
    case = next(case for case in make_cases() if case.game is kurier and case.seats == 5)
    told, _ = differences(case._replace(game=shown))
    assert {draw.label for pair in told for entry in pair for draw in entry.draws} >= {"rouble"}


def test_a_move_whose_draws_are_hidden_stays_in_words():
    """Only the draws are left out where all events are heard: what the mover did, all saw."""
    kurier = catalogue.find("kurier")
    case = next(case for case in make_cases() if case.game is kurier and ("rules", "basic") in case.chosen)
    position = next(position for position in play_case(case, SEED) if position.move == Move("turn"))
    luck = Chance(Noted(Random(1)))
    entry = entry_of(case, position.before, position.seat, position.move, luck)
    for seat in (*range(case.seats), None):
        heard = record.redact(kurier, entry, seat)
        assert (heard.move, heard.events, heard.draws) == ("turn", entry.events, ())


def test_only_labels_that_a_game_draws_are_hidden():
    for game in (game for game in all_games() if game.META.hidden_draws):
        drawn = {
            label
            for case in make_cases()
            if case.game is game
            for position in play_case(case, SEED)[1:]
            if position.seat is not None
            for label in _labels(case, position)
        }
        assert set(game.META.hidden_draws) <= drawn | {"robbed rouble"}


def _labels(case, position):
    noted = Noted(Random(1))
    entry_of(case, position.before, position.seat, position.move, Chance(noted))
    return {label for label, *_ in noted.faces}
