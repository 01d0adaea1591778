"""Parts that several pages of a table show: who sits there, and the rules it is played by."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from engine.game import Meta
from engine.options import Option, describe
from service.tables.snapshots import Snapshot
from service.text.drawing import Player, list_players
from service.text.languages import translate_in_game
from service.text.sentences import Sentence, translate
from service.timing import Clock
from service.web.rendering import language

SWITCH_ON, SWITCH_OFF = Sentence("on"), Sentence("off")
FREE_SEAT = Sentence("A free seat")
STATUS_OPEN = Sentence("for anybody with the link")
STATUS_NOT_SEATED = Sentence("has not sat down yet")
STATUS_HELD = Sentence("is invited as soon as whoever opened the table has confirmed their address")
STATUS_BOUNCED = Sentence("letters come back")
STATUS_INVITED = Sentence("has been invited by letter")
STATUS_BOT = Sentence("a bot, ready to play")
STATUS_SEATED = Sentence("has sat down")


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


def describe_table(table: Snapshot, watch: str = "") -> AboutTable:
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
    in_language, game, value = language(), table.game.META.name, table.table.options[option.name]
    if isinstance(value, bool):
        words = translate(in_language, SWITCH_ON if value else SWITCH_OFF)
    else:
        words = translate_in_game(in_language, game, str(value).replace("_", " "))
    return OptionInWords(translate_in_game(in_language, game, option.label), words, option.rule)


def chairs(table: Snapshot, me: int | None = None, unreachable: Collection[int] = ()) -> tuple[Chair, ...]:
    """List the seats of a table that has not started; letters to `unreachable` seats come back."""
    in_language = language()
    return tuple(
        Chair(
            player,
            seat.name or translate(in_language, FREE_SEAT),
            seat.seat == me,
            translate(in_language, _status(table, seat, seat.seat == me, seat.seat in unreachable)),
        )
        for player, seat in zip(list_players(table.names), table.seats, strict=True)
    )


def _status(table: Snapshot, seat: Any, is_you: bool, unreachable: bool) -> Sentence:
    match seat.status:
        case "open":
            return STATUS_OPEN
        case "bot":
            return STATUS_BOT
        case "invited" if is_you:
            return STATUS_NOT_SEATED
        case "invited" if table.row.held:
            return STATUS_HELD
        case "invited":
            return STATUS_BOUNCED if unreachable else STATUS_INVITED
    return STATUS_SEATED
