"""Whole tables played at random, for measuring, demonstrating and testing."""

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
    """A table and its log, as they grow; a command that is refused changes nothing."""

    def __init__(self, game: Game, seed: bytes) -> None:
        self.game = game
        self.seed = hashlib.sha256(seed).digest()
        self.table = Table()
        self.entries: list[Entry[Any]] = []

    def do(self, seat: int | None, move: Move) -> None:
        """A command of a seat, or of the house (None)."""
        chance = table.make_sealed_chance(self.table, self.seed)
        self.table, events = table.play(self.game, self.table, seat, move, chance, self.before)
        seq = len(self.entries)
        self.entries.append(
            Entry(seq, 1_700_000_000 + 60 * seq, seat, str(move), tuple(chance.draws), events, self.game.META.edition)
        )

    def before(self, seq: int) -> Table:
        return record.fold(self.game, self.entries, seq)

    def export(self, name: str = "sample", seat: int | None = None) -> Export:
        """The log as an export: whole once the table is over, before that as this seat may know it."""
        over = self.table.phase == "over"
        return make_export(self.game, self.entries, self.seed, name, reveal=over, seat=None if over else seat)


def make_export(
    game: Game, entries: Iterable[Entry[Any]], seed: bytes, name: str, *, reveal: bool, seat: int | None
) -> Export:
    """These entries, sealed; the seed is told only where all is to be revealed."""
    links = tuple(_link(game, entry, seed, reveal, seat) for entry in entries)
    head = log.compute_head(link.digest for link in links)
    return Export(name, game.META.name, commit(seed), head, links, seed=seed.hex() if reveal else None, seat=seat)


def _link(game: Game, entry: Entry[Any], seed: bytes, reveal: bool, seat: int | None) -> Link:
    body = canonical_json.encode(entry)
    digest = log.digest(seed, entry.seq, body)
    if reveal:
        return Link(digest, True, canonical_json.decode_object(body))
    return log.make_link(seed, entry, record.redact(game, entry, seat), digest)


def start_sample(game: Game, seats: int, seed: bytes, chosen: Mapping[str, Any] = {}, name: str = "") -> Sample:
    """A table where everybody has just sat down; without a name its log may be exported under any."""
    sample = Sample(game, seed)
    sample.do(None, open_command.make_open_command(game, seats, sample.seed, chosen, name=name))
    for seat in range(seats):
        sample.do(None, Move("sit", (str(seat), f"word{seat}")))
    sample.do(None, Move("start"))
    return sample


def play_randomly(sample: Sample, random: Random) -> Iterator[int]:
    """Random moves to the end, one at a time; yields the seat that has moved."""
    while waiting := table.find_seats_to_move(sample.game, sample.table):
        seat = random.choice(waiting)
        sample.do(seat, bots.pick_random_move(table.menu(sample.game, sample.table, seat), random))
        yield seat
