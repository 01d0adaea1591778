"""Opening a table for its guests, within rate limits; the same request again opens no second one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from engine import catalogue, chance, log
from engine.game import objection
from engine.menu import Move
from engine.options import make_open_command
from engine.options import parse as parse_options
from engine.refusal import Refused
from service import timing
from service.app import App
from service.links import hash_token
from service.people import limits, register
from service.people.proof import ProvenPerson
from service.settings import EMBEDDED
from service.store import queries, server_facts
from service.store.batch import Batch
from service.store.schema import seats, tables
from service.tables import access, seat_commands
from service.tables.locked_table import LockedTable, append_command, lock_table
from service.text.languages import SOURCE
from service.timing import Clock

Who = Literal["", "person", "bot", "anybody"]
Strength = Literal["", "easy", "normal", "strong"]
ChanceSource = Literal["", "sealed", "public"]
STATUS = {"person": "invited", "bot": "bot", "anybody": "open"}  # of a new seat, by the kind of guest


class Invitee(Struct, frozen=True):
    """A guest: a person, a bot, or the first who comes with the table's link.

    Where `who` is empty, a guest with an address is a person, and one without is a bot. A person with a `nonce`, the
    player's word for the dice, sits down at once. `level` is that of a bot; empty means normal. `language` is that of
    the letters to a person who has chosen none; empty means the organiser's.
    """

    name: str
    address: str = ""
    nonce: str = ""
    who: Who = ""
    level: Strength = ""
    language: str = ""

    @property
    def status(self) -> str:
        """The status of this guest's seat, when the table is opened."""
        return STATUS[self.who or ("person" if self.address else "bot")]


class OpenedTable(Struct, frozen=True):
    """A new table, the link of every seat (empty for a bot), and the token to join it, if it is open."""

    table: str
    links: tuple[str, ...]  # where addresses must be proven, empty also for all players but the first
    watch: str  # the token of the link for spectators
    join: str = ""  # empty if no seat is free


class NewTable(Struct, frozen=True, kw_only=True):
    """A table to be opened: what is played, by whom, and how time is kept; the same key again is the same table."""

    game: str
    chosen: Mapping[str, Any]
    guests: Sequence[Invitee]
    clock: Clock
    language: str = SOURCE
    key: str = ""
    watched: bool = True  # whether spectators are allowed
    signed_in: ProvenPerson | None = None  # the person who is signed in where the table is opened
    visitor: str = ""  # a name for the network it is opened from: bots of one visitor do not hold up another's
    luck: ChanceSource = ""  # how draws are made; empty: the default of the server
    seeking: bool = False  # whether the lobby offers its free seats to all
    shown: bool = False  # whether the lobby leads spectators to it

    @property
    def key_hash(self) -> str | None:
        """A hash of the idempotency key, the guests and the game: the same key from another person is another table."""
        if not self.key:
            return None
        # What is left empty adds nothing: a program that does not know of a newer choice keeps its hashes.
        guests = sorted(
            (guest.name, guest.address, guest.status, *filter(None, (guest.level, guest.language)))
            for guest in self.guests
        )
        content = [self.key, self.game, dict(self.chosen), guests, *filter(None, (self.luck,))]
        return hash_token(msgspec.json.encode(content, order="sorted").decode())


def seat_first_person(guests: Sequence[Invitee], nonce: str) -> list[Invitee]:
    """Give the first person among the guests this word for the dice, so that this player sits down at once."""
    changed = list(guests)
    for number, guest in enumerate(guests):
        if guest.status == "invited":
            changed[number] = replace(guest, nonce=nonce)
            break
    return changed


def make_clock(app: App, chosen: Clock | int | None) -> Clock:
    """Return the chosen clock, checked; for a number one with so many seconds for a move; for None the server's own."""
    if isinstance(chosen, Clock):
        return timing.check_clock(chosen)
    return Clock(app.settings.pace if chosen is None else chosen)


def open_table(app: App, new: NewTable) -> OpenedTable:
    """Open a table, seat its bots, and owe invitations; if a table has this idempotency key already, return that one.

    The first person among the guests is the organiser, who sits down at once with a word for the dice. Where addresses
    must be proven, invitations wait until the organiser has confirmed the table, unless the organiser is `signed_in`.
    """
    new = _check_table(new)
    try:
        with app.store.writing() as db:
            batch = Batch(db)
            table = open_within(app, batch, new)
            opened = _load_opened(app, batch.flush(), table)
    except IntegrityError:  # two requests with the same key at the same moment
        with app.store.reading() as db:
            stored = _find_table(db, new.key_hash)
            if stored is None:
                raise
            opened = _load_opened(app, db, stored)
    wake_workers(app)
    return opened


def open_within(app: App, batch: Batch, new: NewTable) -> str:
    """Open a table in the transaction of a batch, and return its name; call `wake_workers` after the commit."""
    new = _check_table(new)
    return _find_table(batch.flush(), new.key_hash) or _create_if_allowed(app, batch, new)


def wake_workers(app: App) -> None:
    """Wake the workers that send invitations and play for bots."""
    app.wakeups.wake("post")
    app.wakeups.wake("bots")


def _check_table(new: NewTable) -> NewTable:
    """Clean the guests; raise Refused if the game does not allow these options or this number of seats."""
    game = catalogue.find(new.game)
    options = parse_options(game.META.options, new.chosen)
    why = objection(game, options, len(new.guests))
    if why:
        raise why
    return replace(new, guests=check_guests(new.guests))


def _create_if_allowed(app: App, batch: Batch, new: NewTable) -> str:
    """Create a table; raise Refused if the host allows no new ones for now."""
    if closed := server_facts.load_notices(batch.flush()).closed:
        raise Refused("No new tables are opened here for now: {why}", why=closed)
    return _create(app, batch, new)


def check_guests(invited: Sequence[Invitee]) -> tuple[Invitee, ...]:
    """Clean names and addresses; raise Refused unless all names differ and the first guest who is no bot is a person.

    A person needs an address, except one who plays against bots only.
    """
    guests = tuple(_clean(one) for one in invited)
    folded = [register.fold_name(guest.name) for guest in guests if guest.name]
    if len(set(folded)) < len(folded):
        raise Refused("Two players have the same name; please tell them apart.")
    persons = [guest for guest in guests if guest.status == "invited"]
    if not persons:
        raise Refused("At least one player needs an e-mail address; the others may be bots.")
    first = next(guest for guest in guests if guest.status != "bot")
    if first.status == "open":
        raise Refused("You play at the table that you open; please put your own name before the free seats.")
    plays_bots_only = all(guest.status == "bot" for guest in guests if guest != first)
    if not plays_bots_only and not all(guest.address for guest in persons):
        raise Refused("Without an e-mail address you can play against bots only; please give yours and theirs.")
    return guests


def _clean(guest: Invitee) -> Invitee:
    """Return the guest with a clean name and address, and without what does not apply to this kind of guest."""
    if guest.status == "open":
        return Invitee(name="", who="anybody")
    if guest.status == "bot":
        level: Strength = "" if guest.level == "normal" else guest.level
        return Invitee(register.clean_name(guest.name), who="bot", level=level)
    address = register.clean_address(guest.address) if guest.address.strip() else ""
    name = register.clean_name(guest.name)
    return Invitee(name, address, nonce=guest.nonce, who="person", language=guest.language)


def _find_table(db: Connection, key_hash: str | None) -> str | None:
    """Return the table that was opened with this idempotency key; None if there is none, or no key."""
    if not key_hash:
        return None
    query = select(tables.c.id).where(tables.c.opening == key_hash)
    return db.execute(query).scalar_one_or_none()


def _create(app: App, batch: Batch, new: NewTable) -> str:
    """Create the table with its seats, and return its name; bots and the organiser sit down at once.

    An organiser whose address is not proven is owed the letter to confirm the table.
    """
    db = batch.flush()
    table, seed, at = secrets.token_hex(8), secrets.token_bytes(32), app.now()
    for guest in new.guests:
        register.refuse_reserved(guest.name, app.settings.sender_name)
    owners = _find_or_create_owners(db, new.guests, at, new.language)
    addresses = [guest.address for guest in new.guests if guest.address]
    organiser = owners[addresses[0]] if addresses else None  # the first person: bots have no address
    proven = new.signed_in is not None and organiser == new.signed_in.id
    limits.refuse_many_tables(db, app.settings, organiser, at, proven)
    awaits_confirmation = app.settings.confirms and organiser is not None and not proven
    row = _make_table_row(app, table, seed, new)
    db.execute(insert(tables), {**row, "opened_at": at, "moved_at": at, "awaits_confirmation": awaits_confirmation})
    db.execute(insert(seats), [_make_seat_row(app, table, number, new, owners) for number in range(len(new.guests))])
    _append_first_entries(app, batch, table, seed, new)
    db = batch.flush()
    if awaits_confirmation and organiser is not None:
        queries.owe_personal_letter(db, organiser, f"confirm/{table}", at)
    elif proven or app.settings.smtp == EMBEDDED:
        # The organiser typed this address and has the link. Else a stranger may have typed it: its owner gets a letter.
        queries.cancel_own_invitation(db, table)
    return table


def _append_first_entries(app: App, batch: Batch, table: str, seed: bytes, new: NewTable) -> None:
    """Append the command that opens the game, and those by which bots and the organiser sit down."""
    luck = new.luck or app.settings.luck
    beacon = app.settings.beacon_source.beacon if luck == "public" else None
    clock = timing.dump_clock(new.clock)
    move = make_open_command(catalogue.find(new.game), len(new.guests), seed, new.chosen, clock, table, beacon)
    opened = append_command(lock_table(app, batch, table), None, move)
    _seat_guests(opened, new.guests)


def _seat_guests(locked: LockedTable, guests: Sequence[Invitee]) -> None:
    """Seat the bots, and the persons who gave a word for the dice, mostly the organiser; the others stay invited.

    The bots come first, so that the game begins if a person then takes the last seat.
    """
    for number, guest in enumerate(guests):
        if guest.status == "bot":
            locked = append_command(locked, None, Move("bot", (str(number), secrets.token_hex(8))))
    for number, guest in enumerate(guests):
        if guest.status == "invited" and guest.nonce:
            locked = seat_commands.sit(locked, number, register.clean_nonce(guest.nonce, otherwise="word"))


def _find_or_create_owners(db: Connection, guests: Sequence[Invitee], at: int, language: str) -> dict[str, int]:
    """Return the persons by the guests' addresses; add those that are not stored yet.

    Each opening adds them in the order of their addresses, so that two at the same time cannot deadlock.
    """
    named = sorted((guest.address, guest.name, guest.language or language) for guest in guests if guest.address)
    return {
        address: register.find_or_create_person(db, address, name, at, in_language)
        for address, name, in_language in named
    }


def _make_table_row(app: App, table: str, seed: bytes, new: NewTable) -> dict[str, Any]:
    """Make the row of a new table, whose log is still empty."""
    return {
        "id": table,
        "game": new.game,
        "edition": catalogue.find(new.game).META.edition,
        "seats": len(new.guests),
        "seed": seed,
        "commitment": chance.commit(seed),
        "phase": "new",
        "length": 0,
        "head": log.GENESIS,
        "pace": new.clock.pace,
        "spectator_link": hash_token(app.links.make_watch_token(table)),
        "opening": new.key_hash,
        "visitor": new.visitor,
        "allows_spectators": new.watched or new.shown,
        "seeking": new.seeking,
        "shown": new.shown,
    }


def _make_seat_row(app: App, table: str, number: int, new: NewTable, owners: Mapping[str, int]) -> dict[str, Any]:
    """Make the row of a seat; it is proven if its player is signed in, or if the server asks for no proofs."""
    guest = new.guests[number]
    owner = owners.get(guest.address)
    is_signed_in = new.signed_in is not None and owner == new.signed_in.id
    return {
        "table": table,
        "seat": number,
        "person": owner,
        "name": guest.name,
        "status": guest.status,
        "level": guest.level,
        "link": hash_token(app.links.make_seat_token(table, seat=number, number=0)),
        "link_number": 0,
        "proven": owner is not None and (is_signed_in or not app.settings.confirms),
    }


def _load_opened(app: App, db: Connection, table: str) -> OpenedTable:
    """Return the links to the table; where addresses must be proven, other players get theirs by letter alone."""
    sitting = queries.list_seats(db, table)
    players = [seat.seat for seat in sitting if seat.status not in ("bot", "open")]
    with_link = players[:1] if app.settings.confirms else players  # the first of them opens the table
    links = tuple(access.make_seat_link(app, seat) if seat.seat in with_link else "" for seat in sitting)
    has_free_seat = any(seat.status == "open" for seat in sitting)
    join = app.links.make_join_token(table) if has_free_seat else ""
    return OpenedTable(table, links, app.links.make_watch_token(table), join)
