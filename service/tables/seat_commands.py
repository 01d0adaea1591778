"""Commands of a seat to the server: taking a seat before the game, vacations, orders, and the choice of letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import cast, get_args

from msgspec.structs import replace
from sqlalchemy import Connection, update

from engine.menu import Move
from engine.refusal import Refused
from service import timing
from service.links import hash_token
from service.people import letter_settings, proof, register
from service.people.letter_settings import Mode, Span
from service.people.proof import ProvenPerson
from service.store import queries
from service.store.batch import OwedLetter
from service.store.rows import SeatRow
from service.store.schema import submissions, tables
from service.tables import access, locked_table, standing_orders
from service.tables.access import Place, require_seat
from service.tables.locked_table import LockedTable, append_command, change_seat
from service.text.languages import Sentence

Words = list[str]
MODES = get_args(Mode)


def carry_out_request(locked: LockedTable, seat: int, verb: str, words: Words) -> LockedTable:
    """Return the table after one of COMMANDS; only `letters` is possible before the game and after it, too."""
    if verb != "letters":
        locked.refuse_closed()
    return COMMANDS[verb](locked, seat, words)


def restart_deadline(locked: LockedTable, seat: int) -> None:
    """Compute the deadline and the reminder of a seat again, by its player's calendar of now."""
    row = locked.seats[seat]
    reminder = locked.settings.reminder
    changed = locked_table.compute_new_deadline(row, locked.position, locked.clock, reminder, locked.now)
    if changed is not None:
        queries.update_seat(locked.flush(), locked.row.id, changed)


def announce_vacations(locked: LockedTable, seat: int) -> LockedTable:
    """Enter this player's coming vacations into the log of a game that begins or gets a new player."""
    row = locked.seats[seat]
    if (person := proof.find_holder(row)) is not None:
        for span in letter_settings.list_coming_vacations(locked.flush(), person, _find_today(locked, row)):
            locked = _append_vacation(locked, seat, span)
    return locked


def take_vacation(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """Take these days off, here and at every other table of the same person."""
    span = letter_settings.parse_vacation(words)
    row = locked.seats[seat]
    person = _require_person(row)
    letter_settings.add_vacation(locked.flush(), person, span, _find_today(locked, row), locked.settings.vacation)
    if span in locked.position.seats[seat].vacations:
        return locked  # so submissions from table to table come to an end
    first, last = span
    locked = _submit_at_other_tables(locked, person, f"vacation {first} {last}")
    return _append_vacation(locked, seat, span)


def end_vacation(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """End a vacation early or call it off, at every table of the person.

    A player writes `home` alone. It is then submitted at the person's other tables with the first and the last day,
    and each of these submissions changes only the log of its own table.
    """
    row = locked.seats[seat]
    person = _require_person(row)
    if words:
        first, last = _parse_submitted_days(locked, person, words)
    else:
        first, last = letter_settings.end_vacation(locked.flush(), person, _find_today(locked, row))
        locked = _submit_at_other_tables(locked, person, f"home {first} {last}")
    last_in_log = dict(locked.position.seats[seat].vacations).get(first)
    if last_in_log is None or last_in_log <= last:
        return locked  # there is nothing to shorten in this log
    return append_command(locked, None, Move("home", (str(seat), first, last)))


def _parse_submitted_days(locked: LockedTable, person: ProvenPerson, words: Words) -> Span:
    """Parse the first and the new last day in a `home` that was submitted from another table.

    Raise Refused if the vacation of that first day is stored with another last day, as when a player types the days.
    """
    first, last = letter_settings.parse_vacation(words)
    stored_last = dict(letter_settings.list_vacations(locked.flush(), person)).get(first)
    if stored_last is not None and stored_last != last:  # a vacation that was cancelled is not stored
        raise Refused("To end a vacation early write only: home")
    return first, last


def _append_vacation(locked: LockedTable, seat: int, span: Span) -> LockedTable:
    return append_command(locked, None, Move("vacation", (str(seat), *span)))


def _require_person(row: SeatRow) -> ProvenPerson:
    """Return the person in this seat, who takes a vacation; raise Refused without an address, or an unproven one."""
    if row.person is None:
        raise Refused(
            "A vacation is for all your tables: please add your e-mail address on the page of this table first."
        )
    return proof.require_holder(row)


def _find_today(locked: LockedTable, row: SeatRow) -> date:
    return timing.find_local_date(timing.parse_calendar(row.calendar or ""), locked.now)


def _submit_at_other_tables(locked: LockedTable, person: ProvenPerson, text: str) -> LockedTable:
    """Submit the same command for this person's other seats; the referee judges it like every other submission."""
    for table, seat in letter_settings.list_running_tables(locked.flush(), person, locked.row.id):
        key = f"{locked.row.id}/{locked.position.length}/{text}"
        row = {"source": "server", "key": key, "table": table, "seat": seat, "move": text, "at": locked.now}
        queries.insert_new(locked.flush(), submissions, row)
    return locked.wake("referee")


def _add_order(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    return standing_orders.add_order(locked, seat, " ".join(words))


def _choose_letters(locked: LockedTable, seat: int, words: Words) -> LockedTable:
    """Choose which kind of letters this table sends to the player; change nothing if the player has no address."""
    if len(words) != 1 or words[0] not in MODES:
        raise Refused("Write which letters you want, such as: letters digest ({modes})", modes=", ".join(MODES))
    person = locked.seats[seat].person
    if person is not None:
        letter_settings.choose_mode(locked.flush(), locked.row.id, person, cast(Mode, words[0]))
    return locked


COMMANDS: Mapping[str, Callable[[LockedTable, int, Words], LockedTable]] = {
    "vacation": take_vacation,
    "home": end_vacation,
    "order": _add_order,
    "cancel": standing_orders.cancel,
    "letters": _choose_letters,
}


def sit(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """Let a player take a seat with this word for the dice, and begin the game if it was the last free one."""
    if locked.position.phase != "gathering" or locked.position.seats[seat].status != "empty":
        raise Refused("You have sat down already.")
    return begin_if_full(append_command(locked, None, Move("sit", (str(seat), nonce))))


def seat_bot(locked: LockedTable, seat: int, nonce: str) -> LockedTable:
    """Let a bot take a seat with this word for the dice, and begin the game if it was the last free one."""
    return begin_if_full(append_command(locked, None, Move("bot", (str(seat), nonce))))


def begin_if_full(locked: LockedTable) -> LockedTable:
    """Begin the game if no seat is empty; change nothing if it has begun and its first draws are awaited."""
    if locked.position.waiting_command or any(seat.status == "empty" for seat in locked.position.seats):
        return locked
    return announce_all_vacations(append_command(locked, None, Move("start")))


def announce_all_vacations(locked: LockedTable) -> LockedTable:
    """Add the vacations of all players to a game that has just begun; change nothing if its first draws are awaited."""
    if locked.position.phase != "playing":
        return locked
    for seat in range(len(locked.seats)):
        locked = announce_vacations(locked, seat)
    return locked


def decline(locked: LockedTable, seat: int) -> LockedTable:
    """Decline an invitation: anyone with the table's link may take the seat now, and its organiser gets a letter."""
    organiser = queries.find_organiser(locked.seats)
    if seat == organiser or locked.position.phase != "gathering" or locked.position.seats[seat].status != "empty":
        raise Refused("There is no invitation to decline here; to leave the game, write: resign")
    links = locked.app.links
    table = locked.row.id
    invited = locked.seats[seat]
    number = invited.link_number + 1
    queries.clear_seat(locked.flush(), table, seat)
    new_link = {"link_number": number, "link": hash_token(links.make_seat_token(table, seat, number))}
    locked = change_seat(locked, seat, person=None, proven=False, name="", status="open", **new_link)
    if organiser is not None:
        why = Sentence(
            "{who} does not play. The seat is free for the first who sits down here: {link}",
            {"who": invited.name, "link": f"{locked.settings.address}/join/{links.make_join_token(table)}"},
        )
        due_at = queries.NEVER_DUE if locked.row.awaits_confirmation else locked.now
        letter = OwedLetter(organiser, f"declined/{seat}.{number}", due_at)
        queries.owe_letter(locked.flush(), table, locked.position.length - 1, letter, why)
    return locked.wake("post")


def refuse_second_seat(locked: LockedTable, seat: int, holder: int | None, name: str) -> None:
    """Raise Refused if another player has this name, or the holder has another seat at the table.

    A player who has only typed an address has no `holder`, and so does not learn whether its owner plays here. A
    seat whose player has only typed the holder's address is not the holder's; one to which the holder is invited is.
    """
    for other in locked.seats:
        if other.seat == seat:
            continue
        if holder is not None and other.person == holder and (other.proven or other.status == "invited"):
            raise Refused("You have a seat at this table already; its link is in the letter you have from it.")
        if register.fold_name(other.name) == register.fold_name(name):
            raise Refused("Another player at this table is called {name} already; please take another name.", name=name)


MAX_NOTE_CHARS = 4_000


def store_note(db: Connection, place: Place, text: str) -> None:
    """Store a note that no other player sees; an empty text deletes it."""
    note = register.clean_text(text)
    if len(note) > MAX_NOTE_CHARS:
        raise Refused(
            "A note can have at most {most} letters; this one has {length}.", most=MAX_NOTE_CHARS, length=len(note)
        )
    queries.change_seat(db, place.table, require_seat(place), note=note)


def set_at_once(db: Connection, place: Place, enabled: bool) -> None:
    """Set whether moves chosen on this table's board are made without asking again."""
    _change_settings(db, place, at_once=enabled)


def set_presence(db: Connection, place: Place, shown: bool) -> None:
    """Set whether the others at this table see when this player was last there; if not, delete that time."""
    _change_settings(db, place, presence=shown)
    if not shown:
        queries.change_seat(db, place.table, require_seat(place), seen_at=None)


def allow_spectators(db: Connection, place: Place, allowed: bool) -> None:
    """Allow or forbid spectators; raise Refused unless this is the organiser's seat."""
    if require_seat(place) != queries.find_organiser(queries.list_seats(db, place.table)):
        raise Refused("Only the player who opened this table can allow or forbid spectators.")
    db.execute(update(tables).where(tables.c.id == place.table).values(allows_spectators=allowed))


def move_order_up(db: Connection, place: Place, order: int) -> None:
    """Exchange a standing order without a condition with the one before it; raise Refused if it is the first one."""
    queries.lock_table(db, place.table)
    standing_orders.move_up(db, place.table, require_seat(place), order)


def move_branch_up(db: Connection, place: Place, branch: int) -> None:
    """Exchange the standing orders of a branch with those of the branch before it; raise Refused if it is the first."""
    queries.lock_table(db, place.table)
    standing_orders.move_branch_up(db, place.table, require_seat(place), branch)


def release(db: Connection, place: Place, agreed: bool) -> None:
    """Agree to show a finished game in the gallery, or take that back."""
    table = queries.lock_table(db, place.table)
    assert table is not None  # the place was found in this transaction
    access.set_released(db, table, require_seat(place), agreed)


def _change_settings(db: Connection, place: Place, **changed: bool) -> None:
    """Change the settings of a seat for its table."""
    seat = require_seat(place)
    settings = letter_settings.parse_table_settings(queries.list_seats(db, place.table)[seat].letter_settings)
    dumped = letter_settings.dump_settings(replace(settings, **changed))
    queries.change_seat(db, place.table, seat, letter_settings=dumped)
