"""The requests of programs to the JSON interface: their bodies and their query parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from service.numbers import MAX_ENTRY
from service.tables.opening import ChanceSource, Strength, Who
from service.timing import Clock

Line = Annotated[str, Meta(max_length=2_000)]
Language = Literal["en", "nl", "fr", "de"]
LanguageOfProse = Annotated[Language, Meta(description="The language of the prose; otherwise the first you accept")]


class Guest(Struct, forbid_unknown_fields=True):
    """A guest: a person, a bot, or the first person who comes with the table's link.

    Without `who`, a guest with an address is a person, and a guest without one is a bot of this server.
    """

    name: Line = ""
    address: Line = ""
    who: Who = ""
    level: Strength = ""
    language: Annotated[Language, Meta(description="Of letters to a person who chose none")] | UnsetType = UNSET


class Opening(Struct, forbid_unknown_fields=True):
    """A table to open; a guest without an address is a bot. A clock replaces the pace.

    The same request with the same key is the same table; a key is 16 random characters or more. If it is not `watched`,
    the link for spectators leads nowhere; `seeking` offers its free seats in the lobby, and `shown` shows the game
    there. With a `nonce`, a word for the dice, the first person sits down at once and gets no invitation, as on the
    page. With public luck each draw waits for a round of a public beacon that is named before it exists; with sealed
    luck the draw is made at once; left empty, the server decides.
    """

    game: Line
    players: Annotated[list[Guest], Meta(min_length=1, max_length=12)]
    options: dict[str, str | int | bool] = {}
    pace: Annotated[int, Meta(ge=0, le=31_536_000)] | None = None
    clock: Clock | None = None
    watched: bool = True
    seeking: bool = False
    shown: bool = False
    luck: ChanceSource = ""
    nonce: Line = ""
    language: Annotated[Language, Meta(description="Of letters to new players")] | UnsetType = UNSET
    key: Annotated[str, Meta(pattern="^([!-~]{16,80})?$")] = ""


class Sitting(Struct, forbid_unknown_fields=True):
    """A word of the player's own for the dice; the server makes one up if it is empty."""

    nonce: Line = ""


class Command(Struct, forbid_unknown_fields=True):
    """A move in its text form, the entry last seen, and a key that makes sending it twice the same as once.

    With `seen` a move is refused if what the seat sees has changed since. The same `key` of the same seat is the same
    submission, with its first verdict, even with another move.
    """

    move: Line
    seen: Annotated[int, Meta(ge=0, le=MAX_ENTRY)] | None = None
    key: Annotated[str, Meta(max_length=80, pattern="^[!-~]*$")] = ""


class LanguageQuery(Struct, forbid_unknown_fields=True):
    """The query for an answer with prose in it."""

    language: LanguageOfProse | UnsetType = UNSET


class Words(Struct, forbid_unknown_fields=True):
    """The query for the menu of a seat."""

    said: Annotated[Line, Meta(description="The beginning of a move: the answer says what may follow")] = ""


class Since(Struct, forbid_unknown_fields=True):
    """The query for the entries of the log from a number on."""

    since: Annotated[int, Meta(ge=0, le=MAX_ENTRY, description="The first entry wanted")] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="How many entries at most")] = 200
    language: LanguageOfProse | UnsetType = UNSET


class Eyes(Struct, forbid_unknown_fields=True):
    """The query for the table after an earlier entry; without `as`, as the seat of the link could see it."""

    eyes: Annotated[int, Meta(ge=0, le=99, description="After the end: through the eyes of this seat")] | UnsetType = (
        field(default=UNSET, name="as")
    )
    language: LanguageOfProse | UnsetType = UNSET
