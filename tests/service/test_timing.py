"""The arithmetic of time: deadlines that move out of nights, weekends and vacations, and time that runs down."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.refusal import Refused
from service import timing
from service.settings import DAY_S
from service.timing import HOUR_S, Calendar, Clock

ZONES = ("UTC", "Europe/Amsterdam", "America/Los_Angeles", "Asia/Kathmandu", "Pacific/Apia", "Africa/Cairo")
NOW = int(datetime(2027, 1, 6, 12, tzinfo=UTC).timestamp())  # a Wednesday

moments = st.integers(NOW, NOW + 400 * DAY_S)
lengths = st.integers(0, 60 * DAY_S)
days = st.dates(date(2027, 1, 1), date(2028, 3, 1))


@st.composite
def vacations(draw: st.DrawFn) -> tuple[str, str]:
    first = draw(days)
    return first.isoformat(), (first + timedelta(days=draw(st.integers(0, 20)))).isoformat()


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    begin, lasts = draw(st.integers(0, 23)), draw(st.integers(0, 14))
    return Calendar(
        draw(st.sampled_from(ZONES)),
        (begin, (begin + lasts) % 24) if lasts else None,
        draw(st.booleans()),
        away=tuple(draw(st.lists(vacations(), max_size=3))),
    )


def local(at: int, calendar: Calendar) -> datetime:
    return datetime.fromtimestamp(at, ZoneInfo(calendar.zone))


def free(at: int, calendar: Calendar) -> bool:
    """Return whether this person plays at that moment, computed in another way than the code."""
    now = local(at, calendar)
    if any(first <= now.date().isoformat() <= last for first, last in calendar.away):
        return False
    if calendar.weekends and now.isoweekday() in (6, 7):
        return False
    if calendar.quiet is None:
        return True
    begin, end = calendar.quiet
    return now.hour not in {hour % 24 for hour in range(begin, begin + (end - begin) % 24)}


@given(moments, lengths, calendars())
def test_no_deadline_falls_into_a_night_a_weekend_or_a_vacation(since: int, left: int, calendar: Calendar) -> None:
    assert free(timing.compute_deadline(since, left, calendar), calendar)


@given(moments, lengths, calendars())
def test_a_calendar_never_shortens_the_time_of_a_player(since: int, left: int, calendar: Calendar) -> None:
    due = timing.compute_deadline(since, left, calendar)
    assert due >= since + left
    assert timing.compute_time_spent(since, due, calendar) >= left


@given(moments, lengths, calendars())
def test_a_calendar_gives_little_more_than_its_vacations(since: int, left: int, calendar: Calendar) -> None:
    """A weekend, a night and the hours between them, and no more, however the settings are turned."""
    due = timing.compute_deadline(since, left, calendar)
    rests = sum(1 for first, last in calendar.away for _ in range((_day(last) - _day(first)).days + 1))
    assert due - since - left <= (rests + 1) * DAY_S + (rests + 1) * 4 * DAY_S
    if not calendar.away:
        assert due - since - left <= 4 * DAY_S


def _day(text: str) -> date:
    return date.fromisoformat(text)


@given(moments, lengths, lengths, calendars())
def test_more_time_is_never_an_earlier_deadline(since: int, left: int, more: int, calendar: Calendar) -> None:
    assert timing.compute_deadline(since, left, calendar) <= timing.compute_deadline(since, left + more, calendar)


@given(moments, lengths, st.integers(0, 90 * DAY_S), calendars())
def test_looking_at_the_clock_does_not_move_the_deadline(since: int, left: int, later: int, calendar: Calendar) -> None:
    """Time that is settled in the middle, as a pause does, comes to the same deadline."""
    at = since + later
    used = timing.compute_time_spent(since, at, calendar)
    if used < left:
        assert timing.compute_deadline(at, left - used, calendar) == timing.compute_deadline(since, left, calendar)


@given(moments, lengths, lengths, calendars())
def test_time_runs_down_piece_by_piece(since: int, first: int, second: int, calendar: Calendar) -> None:
    middle, end = since + first, since + first + second
    whole = timing.compute_time_spent(since, end, calendar)
    assert whole == timing.compute_time_spent(since, middle, calendar) + timing.compute_time_spent(
        middle, end, calendar
    )
    assert 0 <= whole <= first + second


@given(
    st.integers(0, 100 * DAY_S), moments, st.lists(st.integers(HOUR_S, 14 * DAY_S), max_size=3), st.integers(0, DAY_S)
)
def test_reminders_come_before_the_deadline_and_each_once(left: int, since: int, wish: list[int], tick: int) -> None:
    due = since + left
    ahead, at, seen = timing.list_reminder_leads(left, Calendar(remind=tuple(wish)), 0.25), since, []
    while (at_next := timing.find_next_reminder(due, ahead, at)) is not None:
        assert at < at_next <= due
        seen.append(at_next)
        at = at_next
    assert len(seen) <= max(1, len(wish))


@given(st.lists(st.integers(0, 40 * DAY_S), max_size=12))
def test_a_bank_never_holds_more_than_at_the_start_nor_less_than_the_increment(times: list[int]) -> None:
    clock, left = Clock(0, 10 * DAY_S, HOUR_S), None
    for used in times:
        began = timing.compute_turn_time(clock, left)
        assert HOUR_S <= began <= 10 * DAY_S
        left = max(0, began - used)


@given(calendars())
def test_a_calendar_is_kept_whole(calendar: Calendar) -> None:
    assert timing.parse_calendar(timing.dump_calendar(calendar)) == replace(calendar, away=())
    assert timing.parse_calendar("") == Calendar()


@pytest.mark.parametrize("clock", [Clock(), Clock(0), Clock(0, 10 * DAY_S, DAY_S, HOUR_S, "seat", 2, True, True)])
def test_a_clock_is_written_in_words_and_read_again(clock: Clock) -> None:
    assert timing.parse_clock(timing.dump_clock(clock), 7) == clock
    assert timing.parse_clock({}, 5 * DAY_S) == Clock(5 * DAY_S)
    assert timing.parse_clock({"pace": "fast", "late": "shout"}, 5 * DAY_S) == Clock(5 * DAY_S)
    assert timing.parse_clock({"moon": "full"}, DAY_S) == Clock(DAY_S)


@pytest.mark.parametrize(
    ("clock", "sentence"),
    [
        (Clock(DAY_S, DAY_S, HOUR_S), "not both"),
        (Clock(0, DAY_S, 60), "at least an hour"),
        (Clock(0, DAY_S, 2 * DAY_S), "at most the bank"),
        (Clock(5), "at least a minute"),
    ],
)
def test_a_clock_whose_parts_do_not_go_together_is_refused(clock: Clock, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        timing.check_clock(clock)
    assert timing.check_clock(Clock(0)) == Clock(0)


@pytest.mark.parametrize(
    ("calendar", "sentence"),
    [
        (Calendar("Europe/Atlantis"), "no time zone"),
        (Calendar("../../etc/passwd"), "no time zone"),
        (Calendar(quiet=(8, 23)), "at most 14 hours"),
        (Calendar(quiet=(8, 8)), "at most 14 hours"),
        (Calendar(quiet=(22, 24)), "full hours"),
        (Calendar(remind=(1,)), "three reminders"),
        (Calendar(remind=(DAY_S,) * 4), "three reminders"),
    ],
)
def test_an_impossible_calendar_is_refused(calendar: Calendar, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        timing.check_calendar(calendar)
    fine = Calendar("Europe/Amsterdam", (22, 7), True, (DAY_S, HOUR_S))
    assert timing.check_calendar(fine) == fine


def parse_time(text: str, zone: str = "UTC") -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp())


@pytest.mark.parametrize(
    ("due", "moved", "calendar"),
    [
        ("2027-01-06T23:30", "2027-01-07T07:00", Calendar(quiet=(22, 7))),
        ("2027-01-07T06:59", "2027-01-07T07:00", Calendar(quiet=(22, 7))),
        ("2027-01-07T07:00", "2027-01-07T07:00", Calendar(quiet=(22, 7))),
        ("2027-01-09T12:00", "2027-01-11T00:00", Calendar(weekends=True)),
        ("2027-01-08T23:00", "2027-01-11T07:00", Calendar(quiet=(22, 7), weekends=True)),
        ("2027-01-06T13:30", "2027-01-06T15:00", Calendar(quiet=(13, 15))),
        ("2027-03-28T01:30", "2027-03-28T07:00", Calendar("Europe/Amsterdam", (0, 7))),  # the night is an hour shorter
        ("2027-10-31T01:30", "2027-10-31T07:00", Calendar("Europe/Amsterdam", (0, 7))),
        ("2027-01-07T12:00", "2027-01-09T12:00", Calendar(away=(("2027-01-07", "2027-01-08"),))),
        ("2027-01-07T12:00", "2027-01-10T12:00", Calendar(away=(("2027-01-07", "2027-01-08"), ("2027-01-09",) * 2))),
    ],
)
def test_deadlines_as_people_would_expect_them(due: str, moved: str, calendar: Calendar) -> None:
    since = parse_time("2027-01-06T12:00", calendar.zone)
    assert local(
        timing.compute_deadline(since, parse_time(due, calendar.zone) - since, calendar), calendar
    ) == datetime.fromisoformat(moved).replace(tzinfo=ZoneInfo(calendar.zone))
