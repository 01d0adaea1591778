"""A table and its log in memory, for tests: what the service does with a database, in a few lines."""

from __future__ import annotations

import types
from random import Random
from typing import Any

from engine import bots, canonical_json, chance, log, menu, options
from engine import table as tables
from engine.beacon import Beacon
from engine.log import Entry, Export, ExportedEntry
from engine.menu import Move
from engine.record import Table
from tests.beacons import sign

SEED = bytes(range(32))
NAME = "t"


class Ledger:
    """The entries of a table, and the table before each of them and after the last."""

    def __init__(self, game: Any, seed: bytes = SEED) -> None:
        self.game, self.seed = game, seed
        self.entries: list[Entry[Any]] = []
        self.tables = [Table()]

    @property
    def table(self) -> Table:
        return self.tables[-1]

    def do(self, seat: int | None, move: Move | str) -> Table:
        """Carry out a command of a seat, or of the server (None); raise Refused if it is not allowed."""
        move = Move.parse(move) if isinstance(move, str) else move
        at, edition = 1_000 + len(self.entries), self.game.META.edition
        entry_chance = tables.make_chance(self.table, self.seed, move, at)
        after, events = tables.play(self.game, self.table, seat, move, entry_chance, self.tables.__getitem__)
        self.entries.append(Entry(len(self.entries), at, seat, str(move), tuple(entry_chance.draws), events, edition))
        self.tables.append(after)
        return after

    def find_seats_to_move(self) -> tuple[int, ...]:
        return tables.find_seats_to_move(self.game, self.table)

    def pick_move(self, seat: int, random: Random) -> Move:
        return bots.pick_random_move(tables.menu(self.game, self.table, seat), random)

    def export(self, seat: int | None = None) -> Export:
        """Export the log as the seat may know it; complete and with its seed if the table is over."""
        over = self.table.phase == "over"
        digests = [log.compute_digest(self.seed, entry.seq, canonical_json.encode(entry)) for entry in self.entries]
        copies = [entry if over else log.redact(self.game, entry, seat) for entry in self.entries]
        links = tuple(
            ExportedEntry(digest, True, canonical_json.decode_object(canonical_json.encode(entry)))
            if over
            else log.export_entry(self.seed, entry, redacted, digest)
            for digest, redacted, entry in zip(digests, copies, self.entries, strict=True)
        )
        return Export(
            table=NAME,
            game=self.game.META.name,
            commitment=chance.commit(self.seed),
            head=log.compute_head(digests),
            entries=links,
            format=log.FORMAT,
            seed=self.seed.hex() if over else None,
            seat=None if over else seat,
        )


def open_table(
    game: Any, seats: int, chosen: Any = (), seed: bytes = SEED, clock: Any = (), beacon: Beacon | None = None
) -> Ledger:
    """Open a table and let every seat sit down."""
    ledger = Ledger(game, seed)
    ledger.do(None, options.make_open_command(game, seats, seed, dict(chosen), dict(clock), NAME, beacon))
    for seat in range(seats):
        ledger.do(None, f"sit {seat} nonce-{seat}")
    return ledger


def start_table(
    game: Any, seats: int, chosen: Any = (), seed: bytes = SEED, clock: Any = (), beacon: Beacon | None = None
) -> Ledger:
    """Open a table, let every seat sit down and start the game."""
    ledger = open_table(game, seats, chosen, seed, clock, beacon)
    ledger.do(None, "start")
    return draw_awaited_round(ledger)


def draw_awaited_round(ledger: Ledger) -> Ledger:
    """Let the awaited round come, if there is one."""
    command = ledger.table.waiting_command
    if command:
        ledger.do(None, Move("round", (str(command.round), sign(command.round))))
    return ledger


def play_on(ledger: Ledger, random: Random, moves: int = 1_000_000) -> Ledger:
    """Make random moves, at most so many."""
    while moves and ledger.table.phase == "playing":
        seat = random.choice(ledger.find_seats_to_move())
        ledger.do(seat, ledger.pick_move(seat, random))
        draw_awaited_round(ledger)
        moves -= 1
    return ledger


def play_eventfully(ledger: Ledger, random: Random, moves: int = 1_000_000, event_rate: float = 0.02) -> Ledger:
    """Make random moves, with undos, pauses, missed deadlines, vacations, and players who leave and return."""
    while moves and ledger.table.phase == "playing":
        if ledger.table.waiting_command:
            ledger.do(*_choose_while_waiting(ledger, random))
            continue
        seat = random.choice(ledger.find_seats_to_move())
        choose = _choose_event_of_time if random.random() < event_rate else _choose_event
        ledger.do(*choose(ledger, seat, random))
        moves -= 1
    return ledger


def abandon(ledger: Ledger) -> Ledger:
    """Let one seat after the other resign until the table is over."""
    for seat in range(len(ledger.table.seats)):
        if ledger.table.phase == "playing":
            ledger.do(None, f"substitute {seat}")  # a seat of a bot can resign after this, too
            ledger.do(seat, "resign")
    return ledger


def _choose_while_waiting(ledger: Ledger, random: Random) -> tuple[int | None, Move]:
    """Let the round come, or let players ask to go on without it."""
    command, request = ledger.table.waiting_command, ledger.table.seal_request
    assert command
    people = [seat for seat, chair in enumerate(ledger.table.seats) if chair.status == "taken"]
    chances = random.random()
    if request and request.waiting and chances < 0.6:
        return random.choice(request.waiting), Move("agree" if chances < 0.3 else "refuse")
    if not request and people and chances < 0.2:
        return random.choice(people), Move("sealed")
    return None, Move("round", (str(command.round), sign(command.round)))


def _choose_event(ledger: Ledger, seat: int, random: Random) -> tuple[int | None, Move]:
    """Make a move, or undo, miss a deadline, resign or be substituted."""
    move, chances = ledger.pick_move(seat, random), random.random()
    request, any_seat = ledger.table.undo_request, random.randrange(len(ledger.table.seats))
    if request and chances < 0.9:
        return random.choice(request.waiting), Move("agree" if chances < 0.6 else "refuse")
    if chances < 0.02:
        return None, Move("expire", (str(seat), move.verb, *move.args))
    if chances < 0.03:
        return None, Move(random.choice(("relieve", "substitute")), (str(any_seat),))
    own = tables.list_commands(ledger.table, any_seat)
    if chances < 0.08 and menu.allows(own, Move("undo")):
        return any_seat, Move("undo")
    if chances < 0.0805 and menu.allows(own, Move("resign")):
        return any_seat, Move("resign")
    return seat, move


def _choose_event_of_time(ledger: Ledger, seat: int, random: Random) -> tuple[int | None, Move]:
    """Let a seat be late, away or back, or ask for a pause: one of the commands that are possible now."""
    any_seat = random.randrange(len(ledger.table.seats))
    chair = ledger.table.seats[any_seat]
    own = [entry.verb for entry in tables.list_commands(ledger.table, any_seat) if entry.verb not in ("undo", "resign")]
    server = [f"vacation {any_seat} 2027-01-0{random.randint(1, 4)} 2027-01-0{random.randint(5, 9)}"]
    server += [f"home {any_seat} {first} 2027-01-01" for first, last in chair.vacations if last > "2027-01-01"]
    server += [f"miss {seat} relieve"] if ledger.table.seats[seat].status == "taken" else []
    server += [] if chair.offered else [f"offer {any_seat}"]
    if own and random.random() < 0.5:
        return any_seat, Move(random.choice(own))
    return None, Move.parse(random.choice(server))


def make_variant(game: Any, **changes: Any) -> Any:
    """Return the game with some names replaced."""
    other = types.ModuleType(game.__name__ + "_variant")
    other.__dict__.update({name: value for name, value in vars(game).items() if not name.startswith("__")} | changes)
    return other
