"""How long a seat may take, until when that is, and when it is reminded: arithmetic on plain numbers.

A seat's time is two numbers: so many seconds were left at such a moment. They run down except on vacation. A deadline
that would fall into a vacation, quiet hours or a spared weekend moves to their end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta, Struct

from engine.canonical_json import convert, make_decoder
from engine.refusal import Refused
from service.settings import DAY

HOUR = 3_600
SATURDAY = 5
Seconds = Annotated[int, Meta(ge=0, le=366 * DAY)]
Late = Literal["move", "seat", "resign", "skip"]


class Clock(Struct, frozen=True, dict=True):  # `dict` for the cached properties
    """What a table agrees on besides its rules: above all time, so long for a move, or a bank, or no limit at all.

    `late` says what a missed deadline does: a bot makes this move, takes the seat until its player comes back, or
    takes it for good; or the move is skipped where the game allows that. With `hints` players may ask for a good
    move although other people play.
    """

    pace: Seconds = 3 * DAY
    bank: Seconds = 0
    increment: Seconds = 0
    grace: Annotated[int, Meta(ge=0, le=7 * DAY)] = 0
    late: Late = "move"
    offer_after: Annotated[int, Meta(ge=0, le=20)] = 0
    spare_weekends: bool = False
    automatic: bool = False
    hints: bool = False

    @cached_property
    def runs(self) -> bool:
        """Whether there are deadlines at all."""
        return bool(self.pace or self.bank)

    @property
    def courtesy(self) -> int:
        """The least time of a seat whose clock runs again: a day, or less where a whole turn is shorter."""
        return min(DAY, self.bank or self.pace)


def checked(clock: Clock) -> Clock:
    """The same clock, refused where its parts do not go together."""
    if clock.pace and clock.bank:
        raise Refused("A clock gives a time for each move or a bank of time, not both.")
    if clock.bank and not HOUR <= clock.increment <= clock.bank:
        raise Refused("A bank of time needs an increment: at least an hour, at most the bank itself.")
    if clock.pace and clock.pace < 60:
        raise Refused("A move needs at least a minute.")
    return clock


def words(clock: Clock) -> dict[str, str]:
    """The clock as it is written into the opening of a table."""
    return {name: str(value).lower() for name, value in msgspec.to_builtins(clock).items()}


def read(told: Mapping[str, str], pace: int) -> Clock:
    """The clock a table was opened with; tables from before clocks, or with a clock unknown here, have their pace."""
    try:
        return convert({"pace": pace, **told}, Clock, strict=False)
    except msgspec.ValidationError:
        return Clock(pace)


class Calendar(Struct, frozen=True):
    """When a player rests: nights, weekends and vacations, in his own time zone."""

    zone: str = "UTC"
    quiet: tuple[int, int] | None = None
    weekends: bool = False
    remind: tuple[int, ...] = ()
    away: tuple[tuple[str, str], ...] = ()

    @property
    def timezone(self) -> tzinfo:
        return zone(self.zone) or UTC


def zone(name: str) -> tzinfo | None:
    """The time zone of that name, such as Europe/Amsterdam."""
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None


def today(calendar: Calendar, at: int) -> date:
    """The day it is for this person."""
    return datetime.fromtimestamp(at, calendar.timezone).date()


def absences(calendar: Calendar) -> Iterator[tuple[int, int]]:
    """The vacations as moments, in order; those that touch are one."""
    begin = end = 0
    for first, last in sorted(calendar.away):
        start = _midnight(date.fromisoformat(first), calendar)
        stop = _midnight(date.fromisoformat(last) + timedelta(days=1), calendar)
        if start > end:
            if end:
                yield begin, end
            begin = start
        end = max(end, stop)
    if end:
        yield begin, end


def is_away(at: int, calendar: Calendar) -> bool:
    """Whether that moment lies in a vacation."""
    return any(begin <= at < end for begin, end in absences(calendar))


def spent(since: int, at: int, calendar: Calendar) -> int:
    """How much of a seat's time has run down between these moments."""
    away = (min(at, end) - max(since, begin) for begin, end in absences(calendar))
    return max(0, at - since - sum(part for part in away if part > 0))


def deadline(since: int, left: int, calendar: Calendar) -> int:
    """The moment until which a seat may take that had so much time left then."""
    at = since
    for begin, end in absences(calendar):
        if end <= at:
            continue
        if at + left < begin:
            break
        left -= max(0, begin - at)
        at = end
    return _convenient(at + left, calendar)


def _convenient(at: int, calendar: Calendar) -> int:
    """The first moment from then on at which this person could be expected to move."""
    while (later := _end_of_quiet(at, calendar)) > at:
        at = later
    return at


def awake(at: int, calendar: Calendar) -> int:
    """The first moment from then on that lies in no quiet hours and no vacation; letters leave on weekends too."""
    return _convenient(at, msgspec.structs.replace(calendar, weekends=False))


def daily(after: int, hour: int, calendar: Calendar) -> int:
    """When the letter of the day leaves: at that hour of the reader's next day at home, or after his quiet hours."""
    day = today(calendar, after)
    while (at := int(datetime.combine(day, time(hour), calendar.timezone).timestamp())) <= after or is_away(
        at, calendar
    ):
        day += timedelta(days=1)
    return awake(at, calendar)


def _end_of_quiet(at: int, calendar: Calendar) -> int:
    for begin, end in absences(calendar):
        if begin <= at < end:
            return end
    now = datetime.fromtimestamp(at, calendar.timezone)
    if calendar.weekends and now.weekday() >= SATURDAY:
        return _midnight(now.date() + timedelta(days=7 - now.weekday()), calendar)
    if calendar.quiet is None:
        return at
    begin, end = calendar.quiet
    if not ((begin <= now.hour < end) if begin <= end else (now.hour >= begin or now.hour < end)):
        return at
    morning = now.date() + timedelta(days=1 if now.hour >= end else 0)
    return int(datetime.combine(morning, time(end), calendar.timezone).timestamp())


def _midnight(day: date, calendar: Calendar) -> int:
    return int(datetime.combine(day, time(), calendar.timezone).timestamp())


def leads(left: int, calendar: Calendar, share: float) -> tuple[int, ...]:
    """How long before the deadline reminders are sent: as the player chose, or with this share of his time left."""
    return tuple(sorted(calendar.remind, reverse=True)) or (round(left * share),)


def reminder(due: int, ahead: tuple[int, ...], after: int) -> int | None:
    """The next reminder after that moment, if one is still to come."""
    return min((due - lead for lead in ahead if due - lead > after), default=None)


class Due(Struct, frozen=True):
    """Until when a seat may take, and when it is reminded next."""

    at: int
    remind_at: int | None


def due(since: int, left: int, calendar: Calendar, share: float, now: int) -> Due:
    """The deadline of a seat that had so much time left then, and its next reminder."""
    at = deadline(since, left, calendar)
    return Due(at, reminder(at, leads(left, calendar, share), now))


def refilled(clock: Clock, left: int | None) -> int:
    """What a seat has as its turn begins: its pace, or its bank with the increment, never more than the bank held."""
    if not clock.bank:
        return clock.pace
    return clock.bank if left is None else min(left + clock.increment, clock.bank)


@lru_cache(maxsize=1024)
def calendar(text: str, away: tuple[tuple[str, str], ...] = (), spare_weekends: bool = False) -> Calendar:
    """A person's calendar as it is kept, with his vacations, and with weekends where a table spares them."""
    own = make_decoder(Calendar).decode(text) if text else Calendar()
    return msgspec.structs.replace(own, away=away, weekends=own.weekends or spare_weekends)


def kept(one: Calendar) -> str:
    """A person's calendar as text; vacations stand in the log of each table."""
    return msgspec.json.encode(msgspec.structs.replace(one, away=())).decode()


def checked_calendar(one: Calendar) -> Calendar:
    """The same calendar; refused where it leaves no time to move."""
    if zone(one.zone) is None:
        raise Refused("There is no time zone “{zone}”; one is called Europe/Amsterdam.", zone=one.zone[:40])
    if one.quiet is not None:
        begin, end = one.quiet
        if not (0 <= begin < 24 and 0 <= end < 24) or not 0 < (end - begin) % 24 <= 14:
            raise Refused("Quiet hours begin and end at full hours and last at most 14 hours.")
    if len(one.remind) > 3 or any(not HOUR <= lead <= 14 * DAY for lead in one.remind):
        raise Refused("There can be up to three reminders, an hour to two weeks before the time is up.")
    return one
