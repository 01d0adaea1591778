"""Commands about time: missed deadlines, offered seats, pauses and vacations."""

from __future__ import annotations

from random import Random

import pytest

from engine import menu, options
from engine import table as tables
from engine.record import Request
from engine.refusal import Refused
from engine.table_events import (
    Ended,
    Missed,
    Offered,
    Opened,
    PauseAgreed,
    PauseAsked,
    Paused,
    PauseRefused,
    Resigned,
    Resumed,
    Returned,
    Substituted,
    UndoRefused,
    VacationEnded,
    VacationTaken,
)
from tests.engine import highcard
from tests.engine.ledger import SEED, Ledger, play_on, start_table


def check_refused(ledger, seat, words, sentence="cannot play|not possible"):
    before = ledger.table
    with pytest.raises(Refused, match=sentence):
        ledger.do(seat, words)
    assert ledger.table is before


def get_last_events(ledger):
    return ledger.entries[-1].events


def list_verbs(ledger, seat):
    return {entry.verb for entry in tables.list_commands(ledger.table, seat)}


# The clock


def test_the_clock_is_part_of_the_opening():
    ledger = Ledger(highcard)
    table = ledger.do(None, options.make_open_command(highcard, 2, SEED, {}, {"pace": "86400", "late": "seat"}))
    assert ledger.entries[0].move.endswith(" cards=3 clock.pace=86400 clock.late=seat")
    (event,) = get_last_events(ledger)
    assert isinstance(event, Opened)
    assert table.clock == event.clock == {"pace": "86400", "late": "seat"}


@pytest.mark.parametrize("word", ["clock.", "clock.pace", "clock.Pace=1", "clock.pace=a:b", "clock.=3", "clock.a=b=c"])
def test_a_clock_with_wrong_words_is_refused(word):
    check_refused(Ledger(highcard), None, f"open highcard 2 {'0' * 64} {word}", "plain words")


# Missing a deadline


def test_after_a_missed_deadline_a_bot_may_play_until_the_player_returns():
    ledger = start_table(highcard, 2)
    before = ledger.table.last
    ledger.do(None, "miss 0 relieve")
    assert get_last_events(ledger) == (Missed(0), Substituted(0, bot=True))
    assert ledger.table.last is before
    assert tables.list_commands(ledger.table, 0) == menu.make_menu("back")
    check_refused(ledger, 0, "resign")
    ledger.do(0, "back")
    assert get_last_events(ledger) == (Returned(0),)
    assert ledger.table.seats[0].status == "taken"
    check_refused(ledger, 0, "back")


def test_after_a_missed_deadline_a_seat_may_resign():
    ledger = start_table(highcard, 3)
    ledger.do(None, "miss 0 resign")
    assert get_last_events(ledger) == (Missed(0), Resigned(0))
    assert list_verbs(ledger, 0) == set()


def test_the_table_ends_if_only_one_seat_is_left_after_a_missed_deadline():
    ledger = start_table(highcard, 2)
    ledger.do(None, "miss 0 resign")
    assert get_last_events(ledger) == (Missed(0), Resigned(0), Ended((2, 1)))


@pytest.mark.parametrize("words", ["miss 1 relieve", "miss 0", "miss 0 flog", "miss 9 resign", "miss 0 resign 1"])
def test_only_a_seat_with_a_menu_misses_a_deadline(words):
    check_refused(start_table(highcard, 2), None, words, "cannot play|no seat 9")


def test_a_bot_misses_no_deadline_and_does_not_return():
    ledger = Ledger(highcard)
    ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
    ledger.do(None, "bot 0 a")
    ledger.do(None, "sit 1 b")
    ledger.do(None, "start")
    check_refused(ledger, None, "miss 0 relieve")
    check_refused(ledger, None, "offer 0")
    assert list_verbs(ledger, 0) == set()


# Offering a seat


def test_a_substitute_takes_an_offered_seat_or_its_player_keeps_it():
    ledger = start_table(highcard, 2)
    ledger.do(None, "offer 0")
    assert get_last_events(ledger) == (Offered(0),)
    check_refused(ledger, None, "offer 0")
    assert "back" in list_verbs(ledger, 0)
    ledger.do(0, "back")
    assert not ledger.table.seats[0].offered
    ledger.do(None, "offer 0")
    ledger.do(None, "substitute 0")
    assert not ledger.table.seats[0].offered
    assert "back" not in list_verbs(ledger, 0)


def test_a_seat_that_resigned_can_be_offered():
    ledger = start_table(highcard, 3)
    ledger.do(0, "resign")
    ledger.do(None, "offer 0")
    ledger.do(None, "substitute 0")
    assert ledger.table.seats[0].status == "taken"


# Pauses


def test_a_pause_needs_the_consent_of_all_players():
    ledger = start_table(highcard, 3)
    ledger.do(1, "pause")
    assert get_last_events(ledger) == (PauseAsked(1),)
    assert ledger.table.pause_request == Request(1, (0, 2))
    assert "agree" in list_verbs(ledger, 0)
    assert "agree" not in list_verbs(ledger, 1)
    assert all("pause" not in list_verbs(ledger, seat) for seat in range(3))
    ledger.do(0, "agree")
    assert get_last_events(ledger) == (PauseAgreed(0),)
    check_refused(ledger, 0, "agree")
    ledger.do(2, "agree")
    assert get_last_events(ledger) == (PauseAgreed(2), Paused())
    assert ledger.table.paused
    check_refused(ledger, 0, "pause")


def test_every_player_may_end_a_pause():
    ledger = start_table(highcard, 2)
    ledger.do(0, "pause")
    ledger.do(1, "agree")
    ledger.do(1, "resume")
    assert get_last_events(ledger) == (Resumed(1),)
    assert not ledger.table.paused
    check_refused(ledger, 1, "resume")


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_one_refusal_ends_the_request_for_a_pause(seat):
    ledger = start_table(highcard, 3)
    ledger.do(0, "pause")
    ledger.do(2, "agree")
    ledger.do(seat, "refuse")
    assert get_last_events(ledger) == (PauseRefused(seat),)
    assert (ledger.table.pause_request, ledger.table.paused) == (None, False)


def test_a_request_for_a_pause_survives_moves_but_not_a_player_who_leaves():
    ledger = start_table(highcard, 3)
    ledger.do(0, "pause")
    ledger.do(0, ledger.pick_move(0, Random(1)))
    assert ledger.table.pause_request == Request(0, (1, 2))
    ledger.do(1, "resign")
    assert ledger.table.pause_request is None


def test_a_pause_begins_at_once_if_all_other_seats_are_bots():
    ledger = start_table(highcard, 2)
    ledger.do(None, "relieve 1")
    ledger.do(0, "pause")
    assert get_last_events(ledger) == (PauseAsked(0), Paused())


def test_an_answer_is_one_to_the_undo_first():
    ledger = start_table(highcard, 2)
    ledger.do(0, ledger.pick_move(0, Random(1)))
    ledger.do(0, "pause")
    ledger.do(0, "undo")
    ledger.do(1, "refuse")
    assert get_last_events(ledger) == (UndoRefused(1),)
    ledger.do(1, "agree")
    assert get_last_events(ledger) == (PauseAgreed(1), Paused())


def test_the_game_may_end_in_a_pause():
    ledger = start_table(highcard, 2)
    ledger.do(0, "pause")
    ledger.do(1, "agree")
    assert play_on(ledger, Random(1)).table.phase == "over"


# Vacations


def test_a_vacation_is_taken_changed_ended_and_called_off():
    ledger = start_table(highcard, 2)
    ledger.do(None, "vacation 0 2027-03-01 2027-03-10")
    ledger.do(None, "vacation 0 2027-01-30 2027-02-02")
    assert get_last_events(ledger) == (VacationTaken(0, "2027-01-30", "2027-02-02"),)
    assert ledger.table.seats[0].vacations == (("2027-01-30", "2027-02-02"), ("2027-03-01", "2027-03-10"))
    ledger.do(None, "home 0 2027-01-30 2027-02-01")
    ledger.do(None, "home 0 2027-03-01 2027-02-28")
    assert get_last_events(ledger) == (VacationEnded(0, "2027-03-01", "2027-02-28"),)
    assert ledger.table.seats[0].vacations == (("2027-01-30", "2027-02-01"),)


@pytest.mark.parametrize(
    "words",
    [
        "vacation 0 2027-03-01",
        "vacation 0 2027-03-02 2027-03-01",
        "vacation 0 2027-02-30 2027-03-01",
        "vacation 0 20270301 20270302",
        "vacation 0 soon later",
        "home 0 2027-03-01 2027-03-01",
    ],
)
def test_a_vacation_with_wrong_days_is_refused(words):
    check_refused(start_table(highcard, 2), None, words)


def test_a_substitute_has_no_vacation():
    ledger = start_table(highcard, 2)
    ledger.do(None, "vacation 0 2027-03-01 2027-03-02")
    ledger.do(None, "substitute 0")
    assert ledger.table.seats[0].vacations == ()
