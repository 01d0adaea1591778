"""The audit passes an honest log, and reports the first entry with a fault of any other."""

from __future__ import annotations

import copy
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import audit, canonical_json, chance, game, log
from engine.log import Export, ExportedEntry
from tests.engine import highcard
from tests.engine.cases import make_cases
from tests.engine.ledger import SEED, abandon, make_variant, play_eventfully, play_on, start_table

OTHER_SEED = bytes(reversed(SEED))
HONEST = play_eventfully(start_table(highcard, 3, {"cards": "5"}.items()), Random(9)).export()
DEAL = 4  # the entry in which the game starts: opened, three sat down
MOVE = next(
    n for n, exported in enumerate(HONEST.entries) if n > DEAL and str(exported.entry["move"]).startswith("play")
)


def find_fault(export, game=highcard):
    return audit.audit(game, export).finding


def check_tampering(seq, words, export, game=highcard):
    fault = find_fault(export, game)
    assert fault is not None
    assert (fault.kind, fault.seq) == ("tampering", seq), fault
    assert words in fault.sentence, fault


def change_entry(number, change, sealed=False, chained=False, export=HONEST):
    """Return the log with one changed entry; its digest fits if it is sealed, and the head if it is chained."""
    entry = copy.deepcopy(export.entries[number].entry)
    change(entry)
    digest = log.compute_digest(SEED, number, canonical_json.encode(entry)) if sealed else export.entries[number].digest
    entries = (*export.entries[:number], ExportedEntry(digest, True, entry), *export.entries[number + 1 :])
    return replace_entries(entries, chained, export)


def replace_entries(entries, chained=False, export=HONEST):
    head = log.compute_head(exported.digest for exported in entries) if chained else export.head
    return replace(export, entries=tuple(entries), head=head)


def change_card(entry):
    event = next(event for event in entry["events"] if event["type"] == "Played")
    event["card"] = 1 if event["card"] != 1 else 2


def change_draw(entry):
    label, size, result = entry["draws"][2]
    entry["draws"][2] = [label, size, (result + 1) % size]


def change_move(entry):
    entry["move"] = "play 99"


@pytest.mark.parametrize("case", make_cases(), ids=str)
def test_an_honest_log_passes(case):
    ledger = abandon(play_eventfully(start_table(case.game, case.seats, case.chosen), Random(1), 5_000))
    report = audit.audit(case.game, ledger.export())
    assert report.finding is None
    assert report.replayed == report.entries == len(ledger.entries)
    assert any("as they should be" in line for line in audit.describe(report))


@pytest.mark.parametrize(("number", "change"), [(MOVE, change_card), (DEAL, change_draw), (MOVE, change_move)])
def test_a_changed_event_draw_or_move_breaks_its_digest(number, change):
    check_tampering(number, "is not the one that was sealed", change_entry(number, change))


@pytest.mark.parametrize(("number", "change"), [(MOVE, change_card), (DEAL, change_draw), (MOVE, change_move)])
def test_a_changed_entry_with_a_new_digest_is_found_by_the_head(number, change):
    check_tampering(number, "", change_entry(number, change, sealed=True))


def test_a_changed_draw_is_found_though_everything_else_fits():
    forged = change_entry(DEAL, change_draw, sealed=True, chained=True)
    check_tampering(DEAL, "from the revealed seed", forged)


def test_a_change_that_does_not_matter_to_the_rules_is_found_by_the_head():
    forged = change_entry(MOVE, lambda entry: entry.update(at=entry["at"] + 1), sealed=True)
    check_tampering(len(HONEST.entries) - 1, "head hash", forged)


def test_a_dropped_doubled_or_moved_entry_is_found_at_its_place():
    entries = list(HONEST.entries)
    for chained in (False, True):
        check_tampering(MOVE, "missing or out of order", replace_entries(entries[:MOVE] + entries[MOVE + 1 :], chained))
        check_tampering(
            MOVE + 1, "missing or out of order", replace_entries([*entries[: MOVE + 1], *entries[MOVE:]], chained)
        )
        swapped = [*entries[:MOVE], entries[MOVE + 1], entries[MOVE], *entries[MOVE + 2 :]]
        check_tampering(MOVE, "missing or out of order", replace_entries(swapped, chained))


def test_a_log_that_was_cut_off_does_not_lead_to_its_head():
    check_tampering(len(HONEST.entries) - 2, "cut off", replace_entries(HONEST.entries[:-1]))


def test_another_seed_commitment_or_head_is_found():
    check_tampering(0, "revealed seed", replace(HONEST, seed=OTHER_SEED.hex()))
    check_tampering(0, "not opened with the commitment", replace(HONEST, commitment=chance.commit(OTHER_SEED)))
    check_tampering(0, "revealed seed", replace(HONEST, seed="no seed"))
    check_tampering(len(HONEST.entries) - 1, "head hash", replace(HONEST, head=log.GENESIS))
    both = replace(HONEST, seed=OTHER_SEED.hex(), commitment=chance.commit(OTHER_SEED))
    check_tampering(0, "not opened with the commitment", both)
    check_tampering(0, "no entries", replace_entries([], chained=True))


def test_a_nonce_cannot_be_changed_afterwards():
    def change_nonce(entry):
        entry["move"] = "sit 0 mine"
        entry["events"][0]["nonce"] = "mine"

    check_tampering(DEAL, "Draw 0", change_entry(1, change_nonce, sealed=True, chained=True))


def test_an_honest_log_is_drift_if_todays_rules_decide_otherwise():
    def upkeep(state, chance_of_entry):
        event = highcard.upkeep(state, chance_of_entry)
        if isinstance(event, highcard.TrickWon):
            return highcard.TrickWon((state.leader + state.trick.index(min(state.trick))) % len(state.hands))
        return event

    fault = find_fault(HONEST, make_variant(highcard, upkeep=upkeep))
    first = next(
        n for n, exported in enumerate(HONEST.entries) if any(e["type"] == "TrickWon" for e in exported.entry["events"])
    )
    assert (fault.kind, fault.seq) == ("drift", first)
    assert "decide entry" in fault.sentence


def test_a_move_that_todays_rules_forbid_is_drift():
    fault = find_fault(HONEST, make_variant(highcard, menu=lambda state, seat: ()))
    assert (fault.kind, fault.seq) == ("drift", MOVE)
    assert "would not allow" in fault.sentence


@pytest.mark.parametrize("label", ["deck", "another deck"])
def test_a_draw_is_drift_if_todays_rules_make_another_one(label):
    def setup(options, seats, chance_of_entry):
        cards = 20 if label != "deck" else 19
        hands = chance_of_entry.shuffle(label, range(1, cards + 1))
        return [highcard.Dealt(seat, hands[seat : seat + 1]) for seat in range(seats)]

    fault = find_fault(HONEST, make_variant(highcard, setup=setup))
    assert (fault.kind, fault.seq) == ("drift", DEAL)


def test_unknown_events_are_drift():
    class Forgotten(msgspec.Struct, frozen=True, tag=True):
        seat: int

    fault = find_fault(HONEST, make_variant(highcard, Event=Forgotten))
    assert (fault.kind, fault.seq) == ("drift", DEAL)
    assert "cannot read" in fault.sentence


def test_the_chain_of_a_running_game_can_be_checked():
    ledger = play_on(start_table(highcard, 3), Random(1), 4)
    for seat in (0, 1, 2, None):
        export = ledger.export(seat)
        report = audit.audit(highcard, export)
        assert (report.finding, report.replayed, report.head) == (None, 0, export.head)
        assert not export.entries[DEAL].whole
        assert export.seed is None
        assert any("once the table has ended" in line for line in audit.describe(report))
    assert len({ledger.export(seat).head for seat in range(3)}) == 1


def test_a_redacted_log_shows_a_missing_entry_and_a_wrong_head_too():
    export = play_on(start_table(highcard, 2), Random(1), 3).export(0)
    dropped = replace_entries([*export.entries[:2], *export.entries[3:]], export=export)
    check_tampering(2, "missing", dropped)
    check_tampering(len(export.entries) - 1, "head hash", replace(export, head=log.GENESIS))
    check_tampering(
        1, "no digest", replace_entries([export.entries[0], ExportedEntry("zz", True, {"seq": 1})], export=export)
    )


def test_the_report_is_described_in_sentences():
    forged = change_entry(MOVE, change_card)
    lines = list(audit.describe(audit.audit(highcard, forged)))
    assert lines[0] == f"{len(HONEST.entries)} entries, receipt {HONEST.head}"
    assert lines[1].startswith(f"TAMPERING at entry {MOVE}: ")


PLAIN = msgspec.to_builtins(HONEST)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(["play 1", "undo", "expire 0 x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data(), st.booleans(), st.booleans())
def test_the_audit_reports_every_forgery_without_a_crash(data, sealed, chained):
    """Any value of an entry is replaced by any other, with or without a digest and a head that fit."""
    number = data.draw(st.integers(0, len(HONEST.entries) - 1))
    changed = copy.deepcopy(PLAIN["entries"][number]["entry"])
    spot, key = changed, data.draw(st.sampled_from(sorted(changed)))
    while isinstance(spot[key], list | dict) and spot[key] and data.draw(st.booleans()):
        spot, inner = spot[key], spot[key]
        key = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
    spot[key] = data.draw(junk)
    try:
        body = canonical_json.encode(changed)
    except (UnicodeEncodeError, msgspec.EncodeError, OverflowError):
        return  # no export can hold it
    digest = log.compute_digest(SEED, number, body) if sealed else HONEST.entries[number].digest
    entries = (*HONEST.entries[:number], ExportedEntry(digest, True, changed), *HONEST.entries[number + 1 :])
    report = audit.audit(highcard, replace_entries(entries, chained))
    if changed != HONEST.entries[number].entry and key not in ("at", "edition") and not (sealed and chained):
        assert report.finding
        assert report.finding.kind == "tampering"


def test_a_text_that_is_no_log_is_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(PLAIN | {"entries": [{"digest": 1}]}, Export)


def test_rules_that_force_events_without_end_name_the_line_of_their_author():
    def upkeep(state, chance_of_entry):
        return highcard.Played(0, 1)

    line = upkeep.__code__.co_firstlineno
    endless = make_variant(highcard, upkeep=upkeep, evolve=lambda state, event: state)
    with pytest.raises(game.EndlessUpkeep, match=rf"{__file__}:{line}: upkeep of highcard forced \d+ events in a row"):
        game.settle(endless, highcard.State(), (), chance.make_rigged({}))
