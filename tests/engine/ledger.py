"""A table and its log in memory, for tests: what the service does with a database, in a few lines."""

from __future__ import annotations

import types
from random import Random
from typing import Any

from engine import bots, canonical_json, chance, log, menu, open_command, record
from engine import table as tables
from engine.beacon import Beacon
from engine.log import Entry, Export, Link
from engine.menu import Move
from engine.record import Table
from tests.beacons import sign

SEED = bytes(range(32))
NAME = "t"


class Ledger:
    """Every entry of a table, and the table before each and after the last."""

    def __init__(self, game: Any, seed: bytes = SEED) -> None:
        self.game, self.seed = game, seed
        self.entries: list[Entry[Any]] = []
        self.tables = [Table()]

    @property
    def table(self) -> Table:
        return self.tables[-1]

    def do(self, seat: int | None, move: Move | str) -> Table:
        """One command of a seat, or of the house (None); what is refused changes nothing."""
        move = Move.parse(move) if isinstance(move, str) else move
        at, edition = 1_000 + len(self.entries), self.game.META.edition
        luck = tables.make_chance(self.table, self.seed, move, at)
        after, events = tables.play(self.game, self.table, seat, move, luck, self.tables.__getitem__)
        self.entries.append(Entry(len(self.entries), at, seat, str(move), tuple(luck.draws), events, edition))
        self.tables.append(after)
        return after

    def waiting(self) -> tuple[int, ...]:
        return tables.find_seats_to_move(self.game, self.table)

    def any_move(self, seat: int, random: Random) -> Move:
        return bots.pick_random_move(tables.menu(self.game, self.table, seat), random)

    def export(self, seat: int | None = None) -> Export:
        """The log as that seat may keep it; open and with its seed once the table is over."""
        over = self.table.phase == "over"
        digests = [log.digest(self.seed, entry.seq, canonical_json.encode(entry)) for entry in self.entries]
        known = [entry if over else record.redact(self.game, entry, seat) for entry in self.entries]
        links = tuple(
            Link(digest, True, canonical_json.decode_object(canonical_json.encode(entry)))
            if over
            else log.make_link(self.seed, entry, told, digest)
            for digest, told, entry in zip(digests, known, self.entries, strict=True)
        )
        return Export(
            table=NAME,
            game=self.game.META.name,
            commitment=chance.commit(self.seed),
            head=log.compute_head(digests),
            entries=links,
            seed=self.seed.hex() if over else None,
            seat=None if over else seat,
        )


def seated(
    game: Any, seats: int, chosen: Any = (), seed: bytes = SEED, clock: Any = (), beacon: Beacon | None = None
) -> Ledger:
    """A table at which everybody sits and nothing has begun."""
    ledger = Ledger(game, seed)
    ledger.do(None, open_command.make_open_command(game, seats, seed, dict(chosen), dict(clock), NAME, beacon))
    for seat in range(seats):
        ledger.do(None, f"sit {seat} nonce-{seat}")
    return ledger


def started(
    game: Any, seats: int, chosen: Any = (), seed: bytes = SEED, clock: Any = (), beacon: Beacon | None = None
) -> Ledger:
    ledger = seated(game, seats, chosen, seed, clock, beacon)
    ledger.do(None, "start")
    return lit(ledger)


def lit(ledger: Ledger) -> Ledger:
    """The round that is awaited, if one is, has come."""
    waited = ledger.table.waiting_command
    if waited:
        ledger.do(None, Move(tables.ROUND, (str(waited.round), sign(waited.round))))
    return ledger


def play_on(ledger: Ledger, random: Random, moves: int = 1_000_000) -> Ledger:
    """So many random moves, or to the end."""
    while moves and ledger.table.phase == "playing":
        seat = random.choice(ledger.waiting())
        ledger.do(seat, ledger.any_move(seat, random))
        lit(ledger)
        moves -= 1
    return ledger


def live_on(ledger: Ledger, random: Random, moves: int = 1_000_000, restless: float = 0.02) -> Ledger:
    """Like `play_on`, but life happens: moves are taken back, clocks run out, people come and go."""
    while moves and ledger.table.phase == "playing":
        if ledger.table.waiting_command:
            ledger.do(*_while_waiting(ledger, random))
            continue
        seat = random.choice(ledger.waiting())
        happens = _what_time_brings if random.random() < restless else _what_happens
        ledger.do(*happens(ledger, seat, random))
        moves -= 1
    return ledger


def abandon(ledger: Ledger) -> Ledger:
    """One after the other leaves until the table is over."""
    for seat in range(len(ledger.table.seats)):
        if ledger.table.phase == "playing":
            ledger.do(None, f"substitute {seat}")  # also a bot's chair can then be given up
            ledger.do(seat, "resign")
    return ledger


def _while_waiting(ledger: Ledger, random: Random) -> tuple[int | None, Move]:
    """Mostly the round comes; now and then players talk of going on without it."""
    waited, asked = ledger.table.waiting_command, ledger.table.seal_request
    assert waited
    people = [seat for seat, chair in enumerate(ledger.table.seats) if chair.status == "taken"]
    chances = random.random()
    if asked and asked.waiting and chances < 0.6:
        return random.choice(asked.waiting), Move("agree" if chances < 0.3 else "refuse")
    if not asked and people and chances < 0.2:
        return random.choice(people), Move("sealed")
    return None, Move(tables.ROUND, (str(waited.round), sign(waited.round)))


def _what_happens(ledger: Ledger, seat: int, random: Random) -> tuple[int | None, Move]:
    move, chances = ledger.any_move(seat, random), random.random()
    asked, anybody = ledger.table.undo_request, random.randrange(len(ledger.table.seats))
    if asked and chances < 0.9:
        return random.choice(asked.waiting), Move("agree" if chances < 0.6 else "refuse")
    if chances < 0.02:
        return None, Move("expire", (str(seat), move.verb, *move.args))
    if chances < 0.03:
        return None, Move(random.choice(("relieve", "substitute")), (str(anybody),))
    own = tables.list_commands(ledger.table, anybody)
    if chances < 0.08 and menu.allows(own, Move("undo")):
        return anybody, Move("undo")
    if chances < 0.0805 and menu.allows(own, Move("resign")):
        return anybody, Move("resign")
    return seat, move


def _what_time_brings(ledger: Ledger, seat: int, random: Random) -> tuple[int | None, Move]:
    """A seat is late, away or back, or wishes to pause: one of what is possible now."""
    anybody = random.randrange(len(ledger.table.seats))
    chair = ledger.table.seats[anybody]
    own = [entry.verb for entry in tables.list_commands(ledger.table, anybody) if entry.verb not in ("undo", "resign")]
    app = [f"vacation {anybody} 2027-01-0{random.randint(1, 4)} 2027-01-0{random.randint(5, 9)}"]
    app += [f"home {anybody} {first} 2027-01-01" for first, last in chair.vacations if last > "2027-01-01"]
    app += [f"miss {seat} relieve"] if ledger.table.seats[seat].status == "taken" else []
    app += [] if chair.offered else [f"offer {anybody}"]
    if own and random.random() < 0.5:
        return anybody, Move(random.choice(own))
    return None, Move.parse(random.choice(app))


def variant(game: Any, **changed: Any) -> Any:
    """The same game under rules that were changed a little."""
    other = types.ModuleType(game.__name__ + "_variant")
    other.__dict__.update({name: value for name, value in vars(game).items() if not name.startswith("__")} | changed)
    return other
