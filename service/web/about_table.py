"""What several pages of a table show: who sits there, and the rules it is played by."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from engine.game import Meta
from engine.options import Option, describe
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, players
from service.text.languages import Said, in_game, say
from service.timing import Clock
from service.web.rendering import language

ON, OFF = Said("on"), Said("off")
FREE_SEAT = Said("A free seat")
FOR_ANYBODY = Said("for anybody with the link")
NOT_SEATED = Said("has not sat down yet")
HELD = Said("is invited as soon as whoever opened the table has confirmed their address")
BOUNCED = Said("letters come back")
INVITED = Said("has been invited by letter")
BOT = Said("a bot, ready to play")
SEATED = Said("has sat down")


class OptionInWords(Struct, frozen=True):
    """An option that the table is played with, and the paragraph of the rules about it."""

    label: str
    value: str
    rule: str


class AboutTable(Struct, frozen=True):
    """The foot of every page of a table: its rules, its clock, and where its dice come from."""

    game: Meta
    clock: Clock
    public: bool  # whether the dice come from a public beacon
    shown: bool  # whether the lobby shows the table
    options: tuple[OptionInWords, ...]
    watch: str  # address for spectators; empty if the reader may not pass it on
    commitment: str
    length: int
    receipt: str


class Chair(Struct, frozen=True):
    """A seat of a table that has not started: its player, and whether the player has come."""

    player: Player
    name: str
    is_you: bool
    status: str


def about_table(table: Snapshot, watch: str = "") -> AboutTable:
    """Describe a table in the reader's language."""
    options = describe(table.game.META.options)
    return AboutTable(
        game=table.game.META,
        clock=table.clock,
        public=table.table.beacon is not None,
        shown=table.row.shown,
        options=tuple(_option_in_words(table, option) for option in options if option.name in table.table.options),
        watch=watch,
        commitment=table.row.commitment,
        length=table.row.length,
        receipt=table.row.head,
    )


def _option_in_words(table: Snapshot, option: Option) -> OptionInWords:
    spoken, game, value = language(), table.game.META.name, table.table.options[option.name]
    if isinstance(value, bool):
        words = say(spoken, ON if value else OFF)
    else:
        words = in_game(spoken, game, str(value).replace("_", " "))
    return OptionInWords(in_game(spoken, game, option.label), words, option.rule)


def chairs(table: Snapshot, me: int | None = None, unreachable: Collection[int] = ()) -> tuple[Chair, ...]:
    """List the seats of a table that has not started; letters to `unreachable` seats come back."""
    spoken = language()
    return tuple(
        Chair(
            player,
            seat.name or say(spoken, FREE_SEAT),
            seat.seat == me,
            say(spoken, _status(table, seat, seat.seat == me, seat.seat in unreachable)),
        )
        for player, seat in zip(players(table.names), table.seats, strict=True)
    )


def _status(table: Snapshot, seat: Any, is_you: bool, unreachable: bool) -> Said:
    match seat.status:
        case "open":
            return FOR_ANYBODY
        case "bot":
            return BOT
        case "invited":
            return NOT_SEATED if is_you else HELD if table.row.held else BOUNCED if unreachable else INVITED
    return SEATED
