"""Opening a table: an idempotent form with its guests, within rate limits."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from engine import catalogue, chance, log, open_command
from engine.game import objection
from engine.menu import Move
from engine.options import parse as parse_options
from engine.refusal import Refused
from service import timing
from service.app import App
from service.links import hash_token
from service.people import limits, names, register
from service.settings import EMBEDDED
from service.store import notices, queries
from service.store.batch import Batch
from service.store.schema import seats, tables
from service.tables import access, seating
from service.tables.locked_table import LockedTable, append_command, lock_table
from service.text.languages import LANGUAGES, SOURCE
from service.text.sentences import translate
from service.timing import Clock

Who = Literal["", "person", "bot", "anybody"]
Strength = Literal["", "easy", "normal", "strong"]
Luck = Literal["", "sealed", "public"]
LEVELS = {"easy": Refused("easy"), "normal": Refused("normal"), "strong": Refused("strong")}
STATUS = {"person": "invited", "bot": "bot", "anybody": "open"}


class Invited(Struct, frozen=True):
    """A guest: a person, a bot, or the first who comes with the table's link.

    Unless it is said who, an address makes a person and none a bot. With a word for the dice one sits down at once.
    The level is that of a bot; left empty it is normal. The language is that of the letters to a person who has chosen
    none; left empty it is the opener's.
    """

    name: str
    address: str = ""
    nonce: str = ""
    who: Who = ""
    level: Strength = ""
    language: str = ""

    @property
    def status(self) -> str:
        return STATUS[self.who or ("person" if self.address else "bot")]


class Opened(Struct, frozen=True):
    """A new table, the link of every seat (empty for a bot), and the token to join it, if it is open."""

    table: str
    links: tuple[str, ...]
    watch: str
    join: str = ""


class NewTable(Struct, frozen=True):
    """A table to be opened: what is played, by whom, and how time is kept; the same key again is the same table."""

    game: str
    chosen: Mapping[str, Any]
    guests: tuple[Invited, ...]
    clock: Clock
    language: str = SOURCE
    key: str = ""
    watched: bool = True
    opener: int | None = None  # the person who has proven just now to be the one who asks
    luck: Luck = ""  # how draws are made; empty is as this house does it
    seeking: bool = False  # whether the lobby offers its free seats to all
    shown: bool = False  # whether the lobby leads spectators to it

    @property
    def once(self) -> str | None:
        """The idempotency key, with the guests and the game: a key alone could be another person's."""
        who = sorted(
            (guest.name, guest.address, guest.status, *filter(None, [guest.level, guest.language]))
            for guest in self.guests
        )
        what = [self.key, self.game, dict(self.chosen), who, *filter(None, [self.luck])]
        return hash_token(msgspec.json.encode(what, order="sorted").decode()) if self.key else None


def open_table(
    app: App,
    game: str,
    chosen: Mapping[str, Any],
    invited: Sequence[Invited],
    clock: Clock | int | None = None,
    language: str = SOURCE,
    key: str = "",
    watched: bool = True,
    opener: int | None = None,
    luck: Luck = "",
    seeking: bool = False,
    shown: bool = False,
) -> Opened:
    """Open a table, seat its bots, and owe an invitation to all other guests; the first person among them opens it.

    He sits down at once if he gives a word for the dice, and is not invited by himself.

    A number for the clock is so many seconds for a move, 0 no limit, None the default of this house. The same key again
    is the same table.
    Where addresses are proven, invitations wait until the organiser has said by letter that it is his table, unless he
    is the `opener`. With public luck every draw waits for a beacon that nobody can foresee.
    """
    time = _clock(app, clock)
    how = (language, key, watched, opener, luck, seeking, shown)
    return open_once(app, NewTable(game, chosen, tuple(invited), time, *how))


def opened_by_first(invited: Sequence[Invited], word: str) -> list[Invited]:
    """The same guests, the first person among them with his word for the dice, so that he sits down at once."""
    opener = next((number for number, one in enumerate(invited) if one.status == "invited"), None)
    return [replace(one, nonce=word) if number == opener else one for number, one in enumerate(invited)]


def _clock(app: App, asked: Clock | int | None) -> Clock:
    if isinstance(asked, Clock):
        return timing.check_clock(asked)
    return Clock(app.settings.pace if asked is None else asked)


def open_once(app: App, opening: NewTable) -> Opened:
    """Open a table, or return the one that was opened with the same idempotency key."""
    opening = _allowed(opening)
    try:
        with app.store.writing() as db:
            batch = Batch(db)
            table = open_within(app, batch, opening)
            batch.flush()
    except IntegrityError:  # asked for twice in this very moment
        with app.store.reading() as connection:
            again = _known(connection, opening.once)
        if again is None:
            raise
        table = again
    ring(app)
    return _opened(app, table)


def open_within(app: App, batch: Batch, opening: NewTable) -> str:
    """The same as part of something greater, after which the house is told by `ring`; the result is the table."""
    opening = _allowed(opening)
    return _known(batch.flush(), opening.once) or _laid_if_open(app, batch, opening)


def ring(app: App) -> None:
    """Let the invitations leave, and the bots play."""
    app.wakeups.wake("post")
    app.wakeups.wake("bots")


def _allowed(opening: NewTable) -> NewTable:
    """The same with clean guests, refused where its game does not go with its options or seats."""
    game = catalogue.find(opening.game)
    options = parse_options(game.META.options, opening.chosen)
    why = objection(game, options, len(opening.guests))
    if why:
        raise why
    return replace(opening, guests=checked(opening.guests, opening.language))


def _laid_if_open(app: App, batch: Batch, opening: NewTable) -> str:
    """Lay a table, unless the host opens no new ones for now."""
    if closed := notices.load_notices(batch.flush()).closed:
        raise Refused("No new tables are opened here for now: {why}", why=closed)
    return _laid(app, batch, opening)


def checked(invited: Sequence[Invited], language: str = SOURCE) -> tuple[Invited, ...]:
    """The guests with clean names and addresses; no name twice, and at least one person."""
    guests = tuple(_clean(one, language) for one in invited)
    looks = [names.fold_name(guest.name) for guest in guests if guest.name]
    if len(set(looks)) < len(looks):
        raise Refused("Two players have the same name; please tell them apart.")
    persons = [guest for guest in guests if guest.status == "invited"]
    if not persons:
        raise Refused("At least one player needs an e-mail address; the others may be bots.")
    first = next(guest for guest in guests if guest.status != "bot")
    if first.status == "open":
        raise Refused("Whoever opens the table plays; please put your own name before the seats for anybody.")
    if not all(guest.address for guest in persons) and any(guest.status != "bot" for guest in guests if guest != first):
        raise Refused("Without an e-mail address you can play against bots only; please give yours and theirs.")
    return guests


def _clean(guest: Invited, language: str) -> Invited:
    if guest.status == "open":
        return Invited("", who="anybody")
    address = register.clean_address(guest.address) if guest.address.strip() and guest.status == "invited" else ""
    if guest.status == "bot":
        return _bot(guest, language)
    return Invited(names.clean_name(guest.name), address, guest.nonce, "person", language=guest.language)


def _bot(guest: Invited, language: str) -> Invited:
    """A bot, called by its level too where that is not the usual one: “Bot 2 (strong)”."""
    level: Strength = "" if guest.level == "normal" else guest.level
    added = f" ({translate(language, LEVELS[level])})" if level else ""
    name = _named_level().sub("", names.clean_name(guest.name)) if level else names.clean_name(guest.name)
    return Invited(name[: names.MAX_NAME_CHARS - len(added)] + added, "", "", "bot", level)


@cache
def _named_level() -> re.Pattern[str]:
    """The level at the end of a name that another table gave it, in any language, as it is written and as it was."""
    said = "|".join(re.escape(translate(language, level)) for language in LANGUAGES for level in LEVELS.values())
    return re.compile(rf" \((?:{said})\)$|, (?:{said})$")


def _known(connection: Connection, once: str | None) -> str | None:
    """The table that was opened with this idempotency key."""
    wanted = select(tables.c.id).where(tables.c.opening == once)
    return connection.execute(wanted).scalar_one_or_none() if once else None


def _laid(app: App, batch: Batch, opening: NewTable) -> str:
    """The table with its seats, opened; who can sit down at once does."""
    connection = batch.flush()
    table, seed, at, guests = secrets.token_hex(8), secrets.token_bytes(32), app.now(), opening.guests
    owners = _owners(connection, guests, at, opening.language)
    organiser = next((owners[guest.address] for guest in guests if guest.address), None)
    proven = organiser is not None and organiser == opening.opener and register.is_confirmed(connection, organiser)
    limits.refuse_table(connection, app.settings, organiser, list(owners.values()), at, proven)
    held = app.settings.confirms and organiser is not None and not proven
    row = _row(app, table, seed, opening)
    connection.execute(insert(tables), {**row, "opened_at": at, "moved_at": at, "held": held})
    connection.execute(
        insert(seats),
        [_seat_row(app, table, number, guest, owners.get(guest.address)) for number, guest in enumerate(guests)],
    )
    game = catalogue.find(opening.game)
    beacon = app.settings.beacon_source.beacon if (opening.luck or app.settings.luck) == "public" else None
    clock = timing.dump_clock(opening.clock)
    move = open_command.make_open_command(game, len(guests), seed, opening.chosen, clock, table, beacon)
    _seat(append_command(lock_table(app, batch, table), None, move), guests)
    connection = batch.flush()
    if held and organiser is not None:
        queries.owe_personal_letter(connection, organiser, f"confirm/{table}", at)
    elif proven or app.settings.smtp == EMBEDDED:  # nobody else can have typed his address
        queries.cancel_own_invitation(connection, table)
    return table


def _seat(locked: LockedTable, guests: Sequence[Invited]) -> None:
    """Bots sit down, and every guest who gave a word for the dice."""
    for number, guest in enumerate(guests):
        if guest.status == "bot":
            locked = append_command(locked, None, Move("bot", (str(number), secrets.token_hex(8))))
    for number, guest in enumerate(guests):
        if guest.status == "invited" and guest.nonce:
            locked = seating.sit(locked, number, register.clean_nonce(guest.nonce, "word"))


def _owners(connection: Connection, guests: Sequence[Invited], at: int, language: str) -> dict[str, int]:
    """The persons behind the addresses; always noted in the same order, so that two openings never wait in a circle."""
    named = sorted((guest.address, guest.name, guest.language or language) for guest in guests if guest.address)
    return {
        address: register.find_or_create_person(connection, address, name, at, spoken)
        for address, name, spoken in named
    }


def _row(app: App, table: str, seed: bytes, opening: NewTable) -> dict[str, Any]:
    return {
        "id": table,
        "game": opening.game,
        "edition": catalogue.find(opening.game).META.edition,
        "seats": len(opening.guests),
        "seed": seed,
        "commitment": chance.commit(seed),
        "phase": "new",
        "length": 0,
        "head": log.GENESIS,
        "pace": opening.clock.pace,
        "watch": hash_token(app.links.watch(table)),
        "opening": opening.once,
        "watched": opening.watched or opening.shown,
        "seeking": opening.seeking,
        "shown": opening.shown,
    }


def _seat_row(app: App, table: str, number: int, guest: Invited, owner: int | None) -> dict[str, Any]:
    return {
        "table": table,
        "seat": number,
        "person": owner,
        "name": guest.name,
        "status": guest.status,
        "level": guest.level,
        "link": hash_token(app.links.seat(table, number, 0)),
        "link_number": 0,
    }


def _opened(app: App, table: str) -> Opened:
    """The links to the table; where addresses are proven by letters, the others' leave by letter alone."""
    with app.store.reading() as connection:
        sitting = queries.list_seats(connection, table)
    shown = {seat.seat for seat in sitting if seat.status not in ("bot", "open")}
    if app.settings.confirms:
        shown = {min(shown)}
    links = tuple(access.link_of(app, seat) if seat.seat in shown else "" for seat in sitting)
    free = any(seat.status == "open" for seat in sitting)
    return Opened(table, links, app.links.watch(table), app.links.join(table) if free else "")
