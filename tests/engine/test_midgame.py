"""Copies of a log before the end tell nothing hidden, at tables with undos, pauses and players who leave."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from engine import chance, log
from engine import table as tables
from engine.chance import Chance, UnexpectedDraw
from engine.log import Entry
from engine.menu import Move
from engine.refusal import Refused
from tests.engine.cases import make_cases
from tests.engine.ledger import Ledger, play_eventfully, start_table
from tests.engine.test_twins import RecordingSource, repeat_draws

MOVES = 60
EVENT_RATE = 0.05  # of all commands: a player is late, away, leaves or returns


class RecordedDraws(RecordingSource):
    """A source with the draws of an entry, which records their results."""

    def __init__(self, ledger: Ledger, seq: int) -> None:
        super().__init__(Random(0))
        self.chance = tables.make_sealed_chance(ledger.tables[seq], ledger.seed)

    def __call__(self, label, faces, index):
        result = self.chance.source(label, faces, index)
        self.faces.append((label, faces[result], result))
        return result


def play_table(case) -> Ledger:
    ledger = start_table(case.game, case.seats, case.chosen)
    return play_eventfully(ledger, Random(str(case)), MOVES, EVENT_RATE)


def twin(case, ledger, seq, reader):
    """Return the entry of the same command at a table that looks the same to this reader; None if it differs."""
    entry, before, noted = ledger.entries[seq], ledger.tables[seq], RecordedDraws(ledger, seq)
    tables.play(case.game, before, entry.seat, Move.parse(entry.move), Chance(noted), ledger.tables.__getitem__)
    imagined = case.game.redeal(before.state, reader, chance.make_from_random(Random(seq)))
    recorded = Chance(repeat_draws(noted.faces))
    try:
        there = replace(before, state=imagined)
        _, events = tables.play(
            case.game, there, entry.seat, Move.parse(entry.move), recorded, ledger.tables.__getitem__
        )
    except (Refused, UnexpectedDraw):
        return None
    return Entry(seq, entry.at, entry.seat, entry.move, tuple(recorded.draws), events, entry.edition)


@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_every_entry_is_the_same_in_every_deal_that_its_reader_can_imagine(case):
    ledger, compared = play_table(case), 0
    for seq in range(case.seats + 2, len(ledger.entries)):
        for reader in (*range(case.seats), None):
            other = twin(case, ledger, seq, reader)
            if other is None:
                continue
            different, imagined = (log.redact(case.game, one, reader) for one in (ledger.entries[seq], other))
            if different.events == imagined.events:
                compared += 1
                assert different == imagined, (reader, ledger.entries[seq])
    assert compared > (len(ledger.entries) - case.seats - 2) / 2


@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_a_copy_contains_no_salt_of_hidden_entries(case):
    ledger = play_table(case)
    if ledger.table.phase == "over":
        return
    key = chance.derive_key(ledger.seed, [seat.nonce for seat in ledger.table.seats])
    for reader in (*range(case.seats), None):
        export = ledger.export(reader)
        written = msgspec.json.encode(export).decode()
        assert ledger.seed.hex() not in written
        assert key.hex() not in written
        for exported, entry in zip(export.entries, ledger.entries, strict=True):
            assert (exported.salt is None) == (not exported.whole)
            assert (log.derive_salt(ledger.seed, entry.seq).hex() in written) == exported.whole
            assert exported.whole or not exported.entry["draws"]
