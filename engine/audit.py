"""Checking a log afterwards: is it whole, were the draws honest, was every move legal, do the rules still agree?

Tampering breaks the chain, a digest or a draw. Drift is an honest log that today's rules would have decided
otherwise. Either is reported with the first entry concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine import beacon as beacons
from engine import chance as chances
from engine import form, law, log, record, table
from engine.beacon import Signed
from engine.chance import Chance
from engine.game import Game
from engine.log import Entry, Export, Link
from engine.menu import Move
from engine.reading import convert
from engine.record import Rewind, Table
from engine.refusal import Refused
from engine.table_events import (
    RoundDrawn,
)

Kind = Literal["tampering", "drift"]


class Finding(Struct, frozen=True):
    """Something that is not as it should be, and the entry at which it shows first."""

    seq: int
    kind: Kind
    sentence: str


class Report(Struct, frozen=True):
    """What an audit found: entries seen, how many of them were open to a full check, and what is wrong.

    `proven` counts the entries that are what was sealed; `named` says that the log seals the name of its table.
    `ruled` says that the rules were there; without them no move can be judged. `rounds` of a public beacon were drawn
    by, and `signed` says that their signatures were checked.
    """

    entries: int
    replayed: int
    head: str
    finding: Finding | None = None
    proven: int = 0
    named: bool = True
    ruled: bool = True
    rounds: int = 0
    signed: bool = True


class Receipt(Struct, frozen=True):
    """What a letter said on its day: the head hash after so many entries, of which table, and where it was found.

    Who types it may give only the beginning of the hash.
    """

    hash: str
    length: int
    source: str = ""
    table: str = ""


class Comparison(Struct, frozen=True):
    """A receipt held against a log: whether they agree, in a sentence."""

    receipt: Receipt
    agrees: bool
    sentence: str


def audit(game: Game | None, export: Export, *, running: bool = False, signed: Signed | None = None) -> Report:
    """Everything that can be checked about this log with what it discloses; without its game all but the moves.

    `running` is for its host, who alone holds the seed of a table that has not ended. `signed` knows the curve of
    beacons; without it their signatures are not checked, and the report says so.
    """
    broken = form.broken(export, running=running) or next(beacons.broken(export, signed), None)
    finding, replayed = (_tampered(*broken) if broken else None), 0
    checked = 0
    if finding is None and export.seed is not None:
        seed = bytes.fromhex(export.seed)
        finding, checked = _replay(game, export, seed) if game else _unsealed(export, seed)
        replayed = checked if game else 0
    proven = checked if export.seed else sum(link.salt is not None for link in export.entries)
    finding = _head(export, finding)
    named = "table" in log.opening(export)
    rounds = 0 if finding else beacons.rounds(export)
    seen = (len(export.entries), replayed, export.head, finding, 0 if finding else proven)
    return Report(*seen, named, game is not None, rounds, signed is not None)


def _tampered(seq: int, sentence: str) -> Finding:
    return Finding(seq, "tampering", sentence)


def _head(export: Export, finding: Finding | None) -> Finding | None:
    """A log that misses its head hash was tampered with; what else was found tells where."""
    if finding and finding.kind == "tampering":
        return finding
    if not form.misses_head(export):
        return finding
    broken = "The digests do not lead to the head hash of this log."
    if finding:
        return _tampered(finding.seq, f"{broken} {finding.sentence}")
    return _tampered(len(export.entries) - 1, broken)


def _replay(game: Game, export: Export, seed: bytes) -> tuple[Finding | None, int]:
    """Every entry in turn: sealed as it stands, honestly drawn, and what the rules make of its move."""
    tables, key, decode = [Table()], b"", record.decoder(game).decode
    for number, link in enumerate(export.entries):
        entry = _opened(decode, number, link, seed)
        if isinstance(entry, Finding):
            return entry, number
        now = tables[-1]
        if entry.move == "start" and now.phase == "gathering":
            key = chances.key(seed, (seat.nonce for seat in now.seats))
        drawn = _draws(entry, _own_key(entry, key)) if entry.draws else None
        after = drawn or _decision(game, now, entry, tables.__getitem__)
        if isinstance(after, Finding):
            return after, number
        tables.append(after)
    return None, len(export.entries)


def _unsealed(export: Export, seed: bytes) -> tuple[Finding | None, int]:
    """Every entry in turn without the rules: sealed as it stands, and honestly drawn."""
    nonces, key = dict[int, str](), b""
    for number, link in enumerate(export.entries):
        entry = convert(link.entry, Entry[dict[str, Any]])
        if log.digest(seed, number, log.canonical(entry)) != link.digest:
            return _tampered(number, f"Entry {number} is not the one that was sealed: its digest differs."), number
        nonces |= {event["seat"]: event["nonce"] for event in entry.events if event["type"] == "table.Sat"}
        if entry.move == "start" and not key:
            key = chances.key(seed, (nonces[seat] for seat in sorted(nonces)))
        if broken := _draws(entry, _own_key(entry, key)):
            return broken, number
    return None, len(export.entries)


def _opened(decode: Callable[[bytes], Entry[Any]], seq: int, link: Link, seed: bytes) -> Entry[Any] | Finding:
    body = log.canonical(link.entry)
    if log.digest(seed, seq, body) != link.digest:
        return _tampered(seq, f"Entry {seq} is not the one that was sealed: its digest differs.")
    try:
        entry = decode(body)
    except msgspec.MsgspecError as error:
        return Finding(seq, "drift", f"Today's rules cannot read entry {seq}: {error}.")
    if (again := log.canonical(entry)) != body and not _within(link.entry, log.plain(again)):
        return _tampered(seq, f"Entry {seq} is not in its one written form: a field is unknown, or tells a default.")
    return entry


def _within(then: Any, now: Any) -> bool:
    """Whether today's form says the same and at most adds fields that came later, at their defaults."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(name in now and _within(value, now[name]) for name, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_within, then, now))
    return type(then) is type(now) and bool(then == now)


def _own_key(entry: Entry[Any], key: bytes) -> bytes:
    """The key of the draws of this entry: that of its table, with the round it draws by mixed in."""
    match entry.events[0]:
        case RoundDrawn(_, signature) | {"type": "table.RoundDrawn", "signature": str(signature)}:
            return chances.public(key, signature)
    return key


def _draws(entry: Entry[Any], key: bytes) -> Finding | None:
    if entry.draws and not key:
        return _tampered(entry.seq, f"Entry {entry.seq} draws before the table has started.")
    for number, draw in enumerate(entry.draws):
        result = chances.drawn(key, entry.seq, number, draw.size) if draw.size > 0 else None
        if result != draw.result:
            return _tampered(
                entry.seq,
                f"Draw {number} of entry {entry.seq} (“{draw.label}”) gives {result} of "
                f"{draw.size} from the revealed seed, not {draw.result}.",
            )
    return None


def _decision(game: Game, now: Table, entry: Entry[Any], rewind: Rewind) -> Table | Finding:
    """The same command under today's rules, with the draws as recorded; the table after it where they agree."""
    chance = _unlit(now, entry) if now.beacon else Chance(_recorded(entry))
    move = Move.read(entry.move or "-")
    if why := law.objection(now, entry, move):
        return _tampered(entry.seq, f"The table’s own law forbids {_said(entry)}: {why}.")
    try:
        after, events = table.play(game, now, entry.seat, move, chance, rewind)
    except (Refused, Drifted) as refused:
        kind: Kind = "drift" if law.hangs_on_rules(entry, move) else "tampering"
        return Finding(entry.seq, kind, f"Today's rules would not allow {_said(entry)}: {refused}")
    same = events == entry.events or law.without_later_options(game, entry, events) == entry.events
    if same and tuple(chance.draws) == entry.draws:
        return after
    kind = "drift" if law.agree(entry, events) else "tampering"
    difference = _difference(entry.events, events)
    return Finding(entry.seq, kind, f"Today's rules decide {_said(entry)} otherwise: {difference}.")


def _said(entry: Entry[Any]) -> str:
    return f"entry {entry.seq} (“{entry.move}”)"


class Drifted(Exception):
    """Today's rules draw something else than was drawn then."""


def _unlit(now: Table, entry: Entry[Any]) -> Chance:
    """Where the table draws in public and waits for nothing yet a draw has to wait; otherwise draws are as recorded."""
    assert now.beacon
    return Chance(_recorded(entry)) if now.awaited else chances.unlit(now.beacon.named(entry.at))


def _recorded(entry: Entry[Any]) -> chances.Source:
    def source(label: str, faces: Any, index: int) -> int:
        draw = entry.draws[index] if index < len(entry.draws) else None
        if draw is None or (draw.label, draw.size) != (label, len(faces)):
            raise Drifted(f"they draw “{label}” out of {len(faces)}, which was not drawn then.")
        return draw.result

    return source


def _difference(then: tuple[Any, ...], now: tuple[Any, ...]) -> str:
    for number, (old, new) in enumerate(zip(then, now, strict=False)):
        if old != new:
            return f"event {number} was {old!r} and would be {new!r}"
    if then == now:
        return "they draw less than was drawn then"
    return f"there were {len(then)} events and would be {len(now)}"


def compared(export: Export, receipts: Iterable[Receipt]) -> tuple[Comparison, ...]:
    """Every receipt held against the log, whose head after so many entries it has to be; other tables' are left out.

    The heads are worked out from the digests, so this holds for the log as far as `audit` finds its chain whole.
    """
    heads = log.heads([link.digest for link in export.entries])
    return tuple(_compared(receipt, heads) for receipt in receipts if receipt.table in ("", export.table))


def _compared(receipt: Receipt, heads: Sequence[str]) -> Comparison:
    named = f"The receipt after {receipt.length} entries{f' ({receipt.source})' if receipt.source else ''}"
    if not 0 < receipt.length <= len(heads):
        return Comparison(receipt, False, f"{named} contradicts the log, which has {len(heads)} entries.")
    head = heads[receipt.length - 1]
    if not head.startswith(receipt.hash):
        said = f"it says {receipt.hash}, the log {head}. Something up to entry {receipt.length - 1} is not as it was"
        return Comparison(receipt, False, f"{named} contradicts the log: {said}.")
    return Comparison(receipt, True, f"{named} agrees with the log.")


def sentences(report: Report) -> Iterator[str]:
    """The report as somebody would read it aloud: what is wrong, or what is proven and what is not."""
    yield f"{report.entries} entries, receipt {report.head}"
    if report.finding:
        yield f"{report.finding.kind.upper()} at entry {report.finding.seq}: {report.finding.sentence}"
        return
    if report.replayed:
        yield "The chain, every digest, every draw, every move and every consequence are as they should be."
    else:
        yield f"The chain of {report.entries} digests is whole, so none was taken out, added or put elsewhere."
        yield _unproven(report) if report.ruled else _unruled(report)
    if report.rounds and report.signed:
        yield f"{report.rounds} rounds of the public beacon were named before they came, and are signed by its key."
    elif report.rounds:
        yield f"NOT CHECKED: the signatures of {report.rounds} rounds of the public beacon."
    if not report.named:
        yield "This log does not seal the name of its table; only a receipt shows which table it is from."


def _unruled(report: Report) -> str:
    checked = f"{report.proven} of {report.entries} entries are what was sealed, with all draws they show."
    return f"{checked} NOT CHECKED: the moves. The game is not installed here, and only its rules can judge them."


def _unproven(report: Report) -> str:
    later = "draws and hidden moves can be checked once the table has ended"
    if not report.proven:
        return f"NOT PROVEN: what the entries say. This copy has no salts that would prove it; {later}."
    rest = report.entries - report.proven
    hidden = f" NOT PROVEN: what the other {rest} show, for they hide something" if rest else " None hides anything"
    return f"{report.proven} entries are proven to be what was sealed.{hidden}; {later}."
