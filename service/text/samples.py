"""Tables played at random, for benches, pictures and tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

from engine import bots, canonical_json, log, open_command, record, table
from engine.chance import commit
from engine.game import Game
from engine.log import Entry, Export, Link
from engine.menu import Move
from engine.record import Table


class Sample:
    """A table and its log, to which commands can be added; a refused command changes nothing."""

    def __init__(self, game: Game, seed: bytes) -> None:
        self.game = game
        self.seed = hashlib.sha256(seed).digest()
        self.table = Table()
        self.entries: list[Entry[Any]] = []

    def do(self, seat: int | None, move: Move) -> None:
        """Play a command of a seat, or of the server (None), and append its entry."""
        chance = table.make_sealed_chance(self.table, self.seed)
        self.table, events = table.play(self.game, self.table, seat, move, chance, self.rebuild_before)
        seq = len(self.entries)
        self.entries.append(
            Entry(seq, 1_700_000_000 + 60 * seq, seat, str(move), tuple(chance.draws), events, self.game.META.edition)
        )

    def rebuild_before(self, seq: int) -> Table:
        """Return the table as it was before entry `seq`."""
        return record.fold(self.game, self.entries, seq)

    def export(self, name: str = "sample", seat: int | None = None) -> Export:
        """Export the log: all of it once the table is over, before that the part that this seat may know."""
        over = self.table.phase == "over"
        return make_export(self.game, self.entries, self.seed, name, reveal=over, seat=None if over else seat)


def make_export(
    game: Game, entries: Iterable[Entry[Any]], seed: bytes, name: str, *, reveal: bool, seat: int | None
) -> Export:
    """Seal entries for an export; `reveal` includes the seed and every entry, otherwise a seat sees its own part."""
    links = tuple(_make_link(game, entry, seed, reveal, seat) for entry in entries)
    head = log.compute_head(link.digest for link in links)
    return Export(name, game.META.name, commit(seed), head, links, seed=seed.hex() if reveal else None, seat=seat)


def _make_link(game: Game, entry: Entry[Any], seed: bytes, reveal: bool, seat: int | None) -> Link:
    body = canonical_json.encode(entry)
    digest = log.digest(seed, entry.seq, body)
    if reveal:
        return Link(digest, True, canonical_json.decode_object(body))
    return log.make_link(seed, entry, record.redact(game, entry, seat), digest)


def start_sample(game: Game, seats: int, seed: bytes, chosen: Mapping[str, Any] = {}, name: str = "") -> Sample:
    """Open a table, seat all players and start the game; a table with a `name` can be exported under that name only."""
    sample = Sample(game, seed)
    sample.do(None, open_command.make_open_command(game, seats, sample.seed, chosen, name=name))
    for seat in range(seats):
        sample.do(None, Move("sit", (str(seat), f"word{seat}")))
    sample.do(None, Move("start"))
    return sample


def play_randomly(sample: Sample, random: Random) -> Iterator[int]:
    """Play random moves until the game is over; yield after each move the seat that made it."""
    while waiting := table.find_seats_to_move(sample.game, sample.table):
        seat = random.choice(waiting)
        sample.do(seat, bots.pick_random_move(table.menu(sample.game, sample.table, seat), random))
        yield seat
