"""Clocks, deadlines, reminders, calendars, and pauses between tries: arithmetic on plain numbers.

A seat's time is two numbers: the seconds that were left, and the moment when they were. They run down except on
vacation. A deadline in a vacation, quiet hours or a free weekend moves to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache, cached_property, lru_cache
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from msgspec import Meta, Struct

from engine.canonical_json import convert, make_decoder
from engine.refusal import Refused
from service.settings import DAY_S

HOUR_S = 3_600
FIRST_PAUSE_S, LONGEST_PAUSE_S = 10, 6 * HOUR_S  # between tries to send something
MAX_QUIET_H = 14  # the longest night
MAX_REMINDERS = 3
MAX_DOUBLINGS = 16  # of the first pause: it is longer than the longest by then
SATURDAY = 5
MIDNIGHT = 0  # the hour
CONTINENTS = "Africa America Antarctica Arctic Asia Atlantic Australia Europe Indian Pacific".split()
Seconds = Annotated[int, Meta(ge=0, le=366 * DAY_S)]
Late = Literal["move", "seat", "resign", "skip"]


class Clock(Struct, frozen=True, dict=True):  # `dict` for the cached properties
    """The agreements of a table besides its rules: time for each move, or a bank of time, or no limit, and more.

    `pace` are the seconds for a move, and `bank` those that a seat has in the whole game, to which each of its turns
    adds `increment`; without a limit both are 0. `grace` is the time between a deadline and its effect, `late`: a bot
    makes this move, takes the seat until its player comes back, or takes it for good; or the move is skipped if the
    game allows that. After `offer_after` missed deadlines in a row the seat is offered to a substitute. If `automatic`,
    a move is made for a seat that has no other. With `hints` players may ask for a good move although they play against
    people.
    """

    pace: Seconds = 3 * DAY_S
    bank: Seconds = 0
    increment: Seconds = 0
    grace: Annotated[int, Meta(ge=0, le=7 * DAY_S)] = 0
    late: Late = "move"
    offer_after: Annotated[int, Meta(ge=0, le=20)] = 0
    spare_weekends: bool = False
    automatic: bool = False
    hints: bool = False

    @cached_property
    def runs(self) -> bool:
        """Whether there are deadlines."""
        return bool(self.pace or self.bank)

    @property
    def courtesy(self) -> int:
        """The minimum time of a seat whose clock is started again: a day, or the whole bank or turn if shorter."""
        return min(DAY_S, self.bank or self.pace)


def check_clock(clock: Clock) -> Clock:
    """Return the clock; raise Refused if its parts contradict each other."""
    if clock.pace and clock.bank:
        raise Refused("A clock gives a time for each move or a bank of time, not both.")
    if clock.bank and not HOUR_S <= clock.increment <= clock.bank:
        raise Refused("A bank of time needs an increment: at least an hour, at most the bank itself.")
    if clock.pace and clock.pace < 60:
        raise Refused("A move needs at least a minute.")
    return clock


def dump_clock(clock: Clock) -> dict[str, str]:
    """Return the clock as the words in the log's opening of a table."""
    return {name: str(value).lower() for name, value in msgspec.to_builtins(clock).items()}


def parse_clock(words: Mapping[str, str], pace: int) -> Clock:
    """Parse the clock of a table's opening; without a valid one, the table has only its pace."""
    return _parse_clock(tuple(words.items()), pace)


@lru_cache(maxsize=256)
def _parse_clock(words: tuple[tuple[str, str], ...], pace: int) -> Clock:
    """Parse a clock as `parse_clock` does, once for the same words."""
    try:
        return convert({"pace": pace, **dict(words)}, Clock, strict=False)
    except msgspec.ValidationError:
        return Clock(pace)


class Calendar(Struct, frozen=True, dict=True):  # `dict` for the cached property
    """The times when a player rests: nights, weekends and vacations, in the player's time zone."""

    zone: str = "UTC"
    quiet: tuple[int, int] | None = None  # the hours when the night begins and ends
    weekends: bool = False  # whether they are free
    remind: tuple[int, ...] = ()  # seconds before a deadline
    away: tuple[tuple[str, str], ...] = ()  # the first and the last day of each vacation

    @cached_property
    def timezone(self) -> tzinfo:
        return find_zone(self.zone) or UTC


def find_zone(name: str) -> tzinfo | None:
    """Return the time zone of a name such as Europe/Amsterdam; None if there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None


@cache
def list_zones() -> tuple[str, ...]:
    """Return the time zones that are called after places."""
    return tuple(sorted(name for name in available_timezones() if name.partition("/")[0] in CONTINENTS))


def find_local_date(calendar: Calendar, at: int) -> date:
    """Return the date in this person's time zone."""
    return datetime.fromtimestamp(at, calendar.timezone).date()


def list_absences(calendar: Calendar) -> list[tuple[int, int]]:
    """Return when each vacation begins and ends, in order; adjacent ones are joined."""
    absences = list[tuple[int, int]]()
    for first_day, last_day in sorted(calendar.away):
        begin = _find_moment(date.fromisoformat(first_day), MIDNIGHT, calendar)
        end = _find_moment(date.fromisoformat(last_day) + timedelta(days=1), MIDNIGHT, calendar)
        if absences:
            last_begin, last_end = absences[-1]
            if begin <= last_end:
                absences.pop()
                begin = last_begin
                end = max(last_end, end)
        absences.append((begin, end))
    return absences


def is_away(at: int, calendar: Calendar) -> bool:
    """Return whether this moment is in a vacation."""
    return any(begin <= at < end for begin, end in list_absences(calendar))


def compute_time_spent(since: int, at: int, calendar: Calendar) -> int:
    """Return the seconds of a seat's time that ran down between two moments, without those of vacations."""
    away_s = 0
    for begin, end in list_absences(calendar):
        overlap_s = min(at, end) - max(since, begin)
        away_s += max(0, overlap_s)
    return max(0, at - since - away_s)


def compute_deadline(since: int, left: int, calendar: Calendar) -> int:
    """Return the deadline of a seat that had `left` seconds at the moment `since`."""
    at = since
    for begin, end in list_absences(calendar):
        if end <= at:
            continue
        if at + left < begin:
            break
        left -= max(0, begin - at)  # the seat's time runs down until the vacation, and goes on after it
        at = end
    return _skip_rest(at + left, calendar)


def _skip_rest(at: int, calendar: Calendar) -> int:
    """Return the first moment from `at` on that is in no rest."""
    while (later := _find_end_of_rest(at, calendar)) > at:
        at = later
    return at


def find_next_letter_time(at: int, calendar: Calendar) -> int:
    """Return the first moment from `at` on outside quiet hours and vacations; letters are sent on weekends too."""
    return _skip_rest(at, msgspec.structs.replace(calendar, weekends=False))


def find_next_digest_time(after: int, hour: int, calendar: Calendar) -> int:
    """Return the time of the next daily letter: this hour on a day outside vacations, or the end of quiet hours."""
    day = find_local_date(calendar, after)
    at = _find_moment(day, hour, calendar)
    while at <= after or is_away(at, calendar):
        day += timedelta(days=1)
        at = _find_moment(day, hour, calendar)
    return find_next_letter_time(at, calendar)


def _find_end_of_rest(at: int, calendar: Calendar) -> int:
    """Return when the vacation, weekend or quiet hours around a moment end; the moment itself outside of them."""
    for begin, end in list_absences(calendar):
        if begin <= at < end:
            return end
    now = datetime.fromtimestamp(at, calendar.timezone)
    if calendar.weekends and now.weekday() >= SATURDAY:
        return _find_moment(now.date() + timedelta(days=7 - now.weekday()), MIDNIGHT, calendar)
    if calendar.quiet is None or not _is_quiet(now.hour, *calendar.quiet):
        return at
    _, end_hour = calendar.quiet
    days_left = 1 if now.hour >= end_hour else 0  # a night that began today ends tomorrow
    return _find_moment(now.date() + timedelta(days=days_left), end_hour, calendar)


def _is_quiet(hour: int, begin: int, end: int) -> bool:
    """Return whether an hour is in the quiet hours, which may go past midnight."""
    if begin <= end:
        return begin <= hour < end
    return hour >= begin or hour < end


def _find_moment(day: date, hour: int, calendar: Calendar) -> int:
    return int(datetime.combine(day, time(hour), calendar.timezone).timestamp())


def list_reminder_leads(left: int, calendar: Calendar, share: float) -> tuple[int, ...]:
    """Return the seconds between each reminder and the deadline, the longest first.

    They are the player's choice, or this share of the time left.
    """
    if calendar.remind:
        return tuple(sorted(calendar.remind, reverse=True))
    return (round(left * share),)


def find_next_reminder(due_at: int, leads: tuple[int, ...], after: int) -> int | None:
    """Return the time of the next reminder after this moment; None if there is none."""
    times = [due_at - lead for lead in leads]
    return min((at for at in times if at > after), default=None)


class Due(Struct, frozen=True):
    """The deadline of a seat, and the time of its next reminder."""

    at: int
    remind_at: int | None


def compute_due(since: int, left: int, calendar: Calendar, share: float, now: int) -> Due:
    """Compute the deadline of a seat that had `left` seconds at `since`, and its next reminder after `now`.

    `share` is the part of `left` that remains at the reminder, unless its player chose other reminders.
    """
    at = compute_deadline(since, left, calendar)
    return Due(at, find_next_reminder(at, list_reminder_leads(left, calendar, share), now))


def compute_turn_time(clock: Clock, left: int | None) -> int:
    """Return the seconds of a seat as its turn begins: the pace, or the rest of its bank plus the increment.

    The bank never grows beyond its first size. `left` is that rest; None at the first turn of a seat, whose bank is
    full.
    """
    if not clock.bank:
        return clock.pace
    if left is None:
        return clock.bank
    return min(left + clock.increment, clock.bank)


@lru_cache(maxsize=1024)
def parse_calendar(text: str, away: tuple[tuple[str, str], ...] = (), spare_weekends: bool = False) -> Calendar:
    """Parse a stored calendar; add the person's vacations, and free weekends if the table has them."""
    own = make_decoder(Calendar).decode(text) if text else Calendar()
    return msgspec.structs.replace(own, away=away, weekends=own.weekends or spare_weekends)


def dump_calendar(calendar: Calendar) -> str:
    """Return a calendar as text to store, without the vacations, which are rows of their own."""
    return msgspec.json.encode(msgspec.structs.replace(calendar, away=())).decode()


def check_calendar(calendar: Calendar) -> Calendar:
    """Return the calendar; raise Refused if it leaves no time to move."""
    if find_zone(calendar.zone) is None:
        raise Refused("There is no time zone “{zone}”; one is called Europe/Amsterdam.", zone=calendar.zone[:40])
    if calendar.quiet is not None:
        begin, end = calendar.quiet
        are_hours = 0 <= begin < 24 and 0 <= end < 24
        duration_h = (end - begin) % 24  # also past midnight
        if not are_hours or not 0 < duration_h <= MAX_QUIET_H:
            raise Refused("Quiet hours begin and end at full hours and last at most 14 hours.")
    if len(calendar.remind) > MAX_REMINDERS or any(not HOUR_S <= lead <= 14 * DAY_S for lead in calendar.remind):
        raise Refused("There can be up to three reminders, an hour to two weeks before the time is up.")
    return calendar


def compute_retry_pause(failures: int, asked_s: int = 0) -> int:
    """Return the seconds until something is sent again: twice as many after each failure, or more if they are asked.

    `asked_s` is what the receiver asks for; 0 if it asks for nothing.
    """
    doublings = min(failures, MAX_DOUBLINGS)
    doubled_s: int = min(FIRST_PAUSE_S * 2**doublings, LONGEST_PAUSE_S)
    return max(doubled_s, min(asked_s, LONGEST_PAUSE_S))
