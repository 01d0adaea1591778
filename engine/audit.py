"""Checks a log afterwards: its format and chain, its draws, its moves and their consequences.

Tampering breaks the format, the chain, a digest, a draw or a command of the table itself: those never change. Drift is
an honest log that today's rules of the game decide differently. The report names the first entry concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine import beacon as beacons
from engine import canonical_json, log
from engine import chance as chances
from engine import table as tables
from engine.beacon import VerifySignature
from engine.chance import Chance
from engine.game import Game
from engine.log import Entry, Export, ExportedEntry
from engine.menu import Move
from engine.options import list_open_words
from engine.record import Rewind, Table
from engine.refusal import Refused
from engine.table_events import TABLE_EVENTS, Ended, Opened, RoundDrawn, RoundNamed, UndoAsked, Undone, WentSealed

Kind = Literal["tampering", "drift"]

NEEDS_MENU = frozenset(("expire", "miss"))  # commands of the server that need an open menu, so they depend on the rules
ENDS_WAITING = frozenset((RoundDrawn, WentSealed))  # events after which a command that waited is carried out
MAY_DRAW = frozenset(("start", "expire", "round", "sealed", "agree"))  # commands of the table that may cause draws


class Finding(Struct, frozen=True):
    """A fault of a log, and the first entry that shows it."""

    seq: int
    kind: Kind
    sentence: str


class Report(Struct, frozen=True):
    """The result of an audit: how many entries there are, how many could be replayed, and the first fault if any.

    `proven` counts the entries that are proven to be what was sealed. `seals_name` says that the log seals the name of
    its table, `has_rules` that the game was available: without it no move can be judged. `rounds` counts the rounds of
    a public beacon that the log draws by, and `checked_signatures` says whether their signatures were checked.
    """

    entries: int
    replayed: int
    head: str
    finding: Finding | None = None
    proven: int = 0
    seals_name: bool = True
    has_rules: bool = True
    rounds: int = 0
    checked_signatures: bool = True


def audit(
    game: Game | None, export: Export, *, running: bool = False, verify_signature: VerifySignature | None = None
) -> Report:
    """Check everything that the log discloses; without its game, everything except the moves.

    `running` is for the host, who has the seed of a table that has not ended. `verify_signature` checks signatures of a
    beacon; without it they are not checked, and the report says so.
    """
    finding, correct = _check_entries(game, export, running=running, verify_signature=verify_signature)
    finding = _check_head(export, finding)
    return Report(
        entries=len(export.entries),
        replayed=correct if game else 0,
        head=export.head,
        finding=finding,
        proven=0 if finding else _count_proven(export),
        seals_name="table" in export.opening,
        has_rules=game is not None,
        rounds=0 if finding else beacons.count_rounds(export),
        checked_signatures=verify_signature is not None,
    )


def _check_entries(
    game: Game | None, export: Export, *, running: bool, verify_signature: VerifySignature | None
) -> tuple[Finding | None, int]:
    """Check the format, the rounds and, with the seed, each entry.

    Return the first fault, and how many entries before it the seed has shown to be right.
    """
    format_fault = log.find_format_fault(export, running=running)
    fault = format_fault or next(beacons.find_faults(export, verify_signature), None)
    if fault:
        return _report_tampering(fault.seq, fault.sentence), 0
    if export.seed is None:
        return None, 0
    seed = bytes.fromhex(export.seed)
    return _replay(game, export, seed) if game else _check_without_rules(export, seed)


def _count_proven(export: Export) -> int:
    """Return how many entries of a log without faults are proven: all by the seed, or those that have a salt."""
    if export.seed is not None:
        return len(export.entries)
    return sum(exported.salt is not None for exported in export.entries)


def _report_tampering(seq: int, sentence: str) -> Finding:
    return Finding(seq, "tampering", sentence)


def _report_wrong_digest(seq: int) -> Finding:
    return _report_tampering(seq, f"Entry {seq} is not the one that was sealed: its digest differs.")


def _check_head(export: Export, finding: Finding | None) -> Finding | None:
    """Return the finding, or tampering instead if the head is wrong: at the entry of the finding, else at the last."""
    if (finding and finding.kind == "tampering") or not log.has_wrong_head(export):
        return finding
    sentence = "The digests do not lead to the head hash of this log."
    if finding:
        return _report_tampering(finding.seq, f"{sentence} {finding.sentence}")
    return _report_tampering(len(export.entries) - 1, sentence)


def _replay(game: Game, export: Export, seed: bytes) -> tuple[Finding | None, int]:
    """Check the digest, the draws and the move of each entry; return the first fault and how many entries are right."""
    history = [Table()]  # the table before each entry
    key = b""
    decode = log.make_entry_decoder(game).decode
    for number, exported in enumerate(export.entries):
        entry = _open_entry(decode, number, exported, seed)
        if isinstance(entry, Finding):
            return entry, number
        table = history[-1]
        if entry.move == "start" and table.phase == "gathering":  # all seats have their nonces now
            key = chances.derive_key(seed, (seat.nonce for seat in table.seats))
        if finding := _check_draws(entry, _derive_entry_key(entry, key)):
            return finding, number
        after = _judge_again(game, table, entry, history.__getitem__)
        if isinstance(after, Finding):
            return after, number
        history.append(after)
    return None, len(export.entries)


def _check_without_rules(export: Export, seed: bytes) -> tuple[Finding | None, int]:
    """Check the digest and the draws of each entry; return the first fault and how many entries are right."""
    nonces, key = dict[int, str](), b""
    for number, exported in enumerate(export.entries):
        entry = canonical_json.convert(exported.entry, Entry[dict[str, Any]])
        if log.compute_digest(seed, number, canonical_json.encode(entry)) != exported.digest:
            return _report_wrong_digest(number), number
        nonces |= {event["seat"]: event["nonce"] for event in entry.events if event["type"] == "table.Sat"}
        if entry.move == "start" and not key:  # all seats have their nonces now
            key = chances.derive_key(seed, (nonces[seat] for seat in sorted(nonces)))
        if finding := _check_draws(entry, _derive_entry_key(entry, key)):
            return finding, number
    return None, len(export.entries)


def _open_entry(
    decode: Callable[[bytes], Entry[Any]], seq: int, exported: ExportedEntry, seed: bytes
) -> Entry[Any] | Finding:
    """Decode an entry; return a finding if its digest is wrong, or if it cannot be read or has another form today."""
    body = canonical_json.encode(exported.entry)
    if log.compute_digest(seed, seq, body) != exported.digest:
        return _report_wrong_digest(seq)
    try:
        entry = decode(body)
    except msgspec.MsgspecError as error:
        return Finding(seq, "drift", f"Today's rules cannot read entry {seq}: {error}.")
    canonical = canonical_json.encode(entry)
    if canonical == body:
        return entry
    return _compare_forms(exported.entry, canonical_json.decode_object(canonical)) or entry


def _compare_forms(sealed: dict[str, Any], canonical: dict[str, Any]) -> Finding | None:
    """Return a finding if an event was sealed with other fields than its canonical form, or with other values.

    Fields that were added later are no fault. Other differences are tampering in an event of the table; in one of the
    game they are drift, because only the game knows its fields and their defaults.
    """
    for sealed_event, event in zip(sealed["events"], canonical["events"], strict=True):
        if not _has_only_more_fields(sealed_event, event):
            kind: Kind = "tampering" if event["type"].startswith("table.") else "drift"
            sentence = f"Entry {sealed['seq']} is not in its one written form: a field is unknown, or tells a default."
            return Finding(sealed["seq"], kind, sentence)
    return None


def _has_only_more_fields(then: Any, now: Any) -> bool:
    """Whether `now` is `then`, apart from more fields: those were added to the game later and have their defaults."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(name in now and _has_only_more_fields(value, now[name]) for name, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_has_only_more_fields, then, now))
    return type(then) is type(now) and bool(then == now)


def _derive_entry_key(entry: Entry[Any], key: bytes) -> bytes:
    """Return the key for the draws of this entry: the table's, combined with the beacon's round if it draws by one.

    Without the rules of its game the events of an entry are plain dicts.
    """
    match entry.events[0]:
        case RoundDrawn(_, signature) | {"type": "table.RoundDrawn", "signature": str(signature)}:
            return chances.derive_round_key(key, signature)
    return key


def _check_draws(entry: Entry[Any], key: bytes) -> Finding | None:
    """Return a finding if the key gives another result for a draw than was recorded."""
    if entry.draws and not key:
        return _report_tampering(entry.seq, f"Entry {entry.seq} draws before the table has started.")
    for number, draw in enumerate(entry.draws):
        result = chances.compute_draw(key, entry.seq, number, draw.size) if draw.size > 0 else None
        if result != draw.result:
            return _report_tampering(
                entry.seq,
                f"Draw {number} of entry {entry.seq} (“{draw.label}”) gives {result} of "
                f"{draw.size} from the revealed seed, not {draw.result}.",
            )
    return None


def _judge_again(game: Game, table: Table, entry: Entry[Any], rewind: Rewind) -> Table | Finding:
    """Judge the command by today's rules, with the draws as recorded; return the table after it if they agree."""
    chance = _make_chance(table, entry)
    move = Move.parse(entry.move or "-")  # an empty command meets an objection, because it differs from “-”
    if why := _find_objection(table, entry, move):
        return _report_tampering(entry.seq, f"The table’s own law forbids {_name_entry(entry)}: {why}.")
    try:
        after, events = tables.play(game, table, entry.seat, move, chance, rewind)
    except (Refused, DifferentDraw) as error:
        kind: Kind = "drift" if _depends_on_rules(entry, move) else "tampering"
        return Finding(entry.seq, kind, f"Today's rules would not allow {_name_entry(entry)}: {error}")
    same = events == entry.events or _remove_later_options(game, entry, events) == entry.events
    if same and tuple(chance.draws) == entry.draws:
        return after
    kind = "drift" if _differs_by_rules_only(entry, events) else "tampering"
    difference = _describe_difference(entry.events, events)
    return Finding(entry.seq, kind, f"Today's rules decide {_name_entry(entry)} otherwise: {difference}.")


def _name_entry(entry: Entry[Any]) -> str:
    return f"entry {entry.seq} (“{entry.move}”)"


class DifferentDraw(Exception):
    """Today's rules make another draw than the recorded one."""


def _make_chance(table: Table, entry: Entry[Any]) -> Chance:
    """Return chance with the recorded draws; at a table with a beacon, no command draws before its round is drawn."""
    if table.beacon and not table.waiting_command:
        return chances.make_pending(table.beacon.find_next_round(entry.at))
    return Chance(_replay_draws(entry))


def _replay_draws(entry: Entry[Any]) -> chances.Source:
    """Return a source that gives the recorded results, and raises DifferentDraw for any other draw."""

    def replay_draw(label: str, faces: Any, index: int) -> int:
        draw = entry.draws[index] if index < len(entry.draws) else None
        if draw is None or (draw.label, draw.size) != (label, len(faces)):
            raise DifferentDraw(f"they draw “{label}” out of {len(faces)}, which was not drawn then.")
        return draw.result

    return replay_draw


def _describe_difference(recorded: tuple[Any, ...], repeated: tuple[Any, ...]) -> str:
    """Describe the first event that differs; if none does, the number of draws or of events."""
    for number, (old, new) in enumerate(zip(recorded, repeated, strict=False)):
        if old != new:
            return f"event {number} was {old!r} and would be {new!r}"
    if recorded == repeated:
        return "they draw less than was drawn then"
    return f"there were {len(recorded)} events and would be {len(repeated)}"


def _find_objection(table: Table, entry: Entry[Any], move: Move) -> str:
    """Return why no rules of a game can allow this entry; empty if some can."""
    if str(move) != entry.move:
        return "its words are not parted by single blanks"
    if table.phase == "over":
        return "the table is over"
    seats_can_act = table.phase == "playing" or table.waiting_command is not None  # even the start may wait for a round
    if entry.seat is not None and not (seats_can_act and entry.seat < len(table.seats)):
        return "no seat can act there now"
    if entry.draws and move.verb not in MAY_DRAW and _is_table_command(entry, move):
        return "nothing is drawn for it"
    if entry.seat is None and move.verb == "open" and not _matches_open_command(entry, move):
        return "the opening says something else than the command"
    return ""


def _is_table_command(entry: Entry[Any], move: Move) -> bool:
    """Whether this is a command of the table and not a move of the game."""
    return entry.seat is None or move.verb in tables.RESERVED_VERBS


def _depends_on_rules(entry: Entry[Any], move: Move) -> bool:
    """Whether the rules of the game, and not only those of the table, can be the reason why an entry is refused."""
    if not _is_table_command(entry, move):
        return True
    # The rules judge a move that waited, which is made in this entry; the first event may be a seat's consent.
    if any(type(event) in ENDS_WAITING for event in entry.events[:2]):
        return True
    if entry.seat is not None:
        return False
    if move.verb == "start":  # if it did more than start the table, it has set up the game
        return bool(entry.draws) or len(entry.events) > 1
    return move.verb in NEEDS_MENU or move.verb == "open"


def _differs_by_rules_only(entry: Entry[Any], events: tuple[Any, ...]) -> bool:
    """Whether only the rules of the game can be the reason why today's `events` are not those of the entry."""
    if _waits_for_round(entry.events) != _waits_for_round(events):  # the rules of the game decide whether a move draws
        return True
    recorded, repeated = _select_table_events(entry.events), _select_table_events(events)
    if recorded and repeated:
        undo, undo_today = recorded[0], repeated[0]
        if {type(undo), type(undo_today)} == {UndoAsked, Undone}:  # menus decide whether an undo is free
            return (undo.seat, undo.to) == (undo_today.seat, undo_today.to)
    # No rules of a game decide whether an entry is a command of the table, which begins with an event of the table.
    begins_alike = (type(entry.events[0]) in TABLE_EVENTS) == (type(events[0]) in TABLE_EVENTS)
    return recorded == repeated and begins_alike


def _remove_later_options(game: Game, entry: Entry[Any], events: tuple[Any, ...]) -> tuple[Any, ...]:
    """Remove from today's `events` of an opening the options that the game got after the entry, at their defaults.

    So an old log, whose opening does not name these options, is no drift.
    """
    match entry.events, events:
        case (Opened() as recorded,), (Opened() as repeated,):
            defaults = msgspec.to_builtins(game.META.options())
            options = dict[str, Any]()
            for name, value in repeated.options.items():
                if name in recorded.options or value != defaults.get(name):
                    options[name] = value
            return (replace(repeated, options=options),)
    return events


def _select_table_events(events: tuple[Any, ...]) -> list[Any]:
    """Return the table's own events except the end: the game decides who has won."""
    return [event for event in events if type(event) in TABLE_EVENTS and type(event) is not Ended]


def _waits_for_round(events: tuple[Any, ...]) -> bool:
    return type(events[0]) is RoundNamed


def _matches_open_command(entry: Entry[Any], move: Move) -> bool:
    """Whether the event of an opening has exactly the words of its command, each once, in any order."""
    match entry.events:
        case (Opened() as opened,):
            return sorted(move.args) == sorted(list_open_words(opened))
    return False


def describe(report: Report) -> Iterator[str]:
    """Yield the report as sentences: the fault, or the proven facts and the unproven ones."""
    yield f"{report.entries} entries, receipt {report.head}"
    if report.finding:
        yield f"{report.finding.kind.upper()} at entry {report.finding.seq}: {report.finding.sentence}"
        return
    if report.replayed:
        yield "The chain, every digest, every draw, every move and every consequence are as they should be."
    else:
        yield f"The chain of {report.entries} digests is whole, so none was taken out, added or put elsewhere."
        yield _describe_unproven(report) if report.has_rules else _describe_without_rules(report)
    if report.rounds and report.checked_signatures:
        yield f"{report.rounds} rounds of the public beacon were named before they came, and are signed by its key."
    elif report.rounds:
        yield f"NOT CHECKED: the signatures of {report.rounds} rounds of the public beacon."
    if not report.seals_name:
        yield "This log does not seal the name of its table; only a receipt shows which table it is from."


def _describe_without_rules(report: Report) -> str:
    checked = f"{report.proven} of {report.entries} entries match their seals, and so do all draws in them."
    return f"{checked} NOT CHECKED: the moves. The game is not installed here, and only its rules can judge them."


def _describe_unproven(report: Report) -> str:
    """Return how much of a log without its seed is proven by salts, and what is not proven."""
    later = "draws and hidden moves can be checked once the table has ended"
    if not report.proven:
        return f"NOT PROVEN: what the entries say. This copy has no salts that would prove it; {later}."
    rest = report.entries - report.proven
    hidden = f" NOT PROVEN: what the other {rest} show, for they hide something" if rest else " None hides anything"
    return f"{report.proven} entries are proven to be what was sealed.{hidden}; {later}."
