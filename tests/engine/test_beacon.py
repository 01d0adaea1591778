"""Public draws: rounds that follow from the time, a waiting command, and draws that the seed does not determine."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from random import Random

import msgspec
import pytest

from engine import audit, beacon, catalogue, chance, log
from engine import table as tables
from engine.menu import Move
from engine.refusal import Refused
from engine.table_events import (
    RoundDrawn,
    RoundNamed,
    WentSealed,
)
from service.internet.beacon import is_signed
from tests.beacons import BEACON, sign
from tests.engine import highcard, second_verifier
from tests.engine.ledger import SEED, Ledger, draw_awaited_round, open_table, play_on, start_table

DRAWS = 100_000


def open_waiting_table() -> Ledger:
    ledger = open_table(highcard, 2, beacon=BEACON)
    ledger.do(None, "start")
    return ledger


def guess_draws(key: bytes, entry: int, before: str) -> tuple[int, ...]:
    """Return a host's guesses: the sealed draws and those by the round before, of this entry and the one before."""
    by_round = chance.derive_round_key(key, before)
    return (
        chance.compute_draw(key, entry, 0, 6),
        chance.compute_draw(key, entry - 1, 0, 6),
        chance.compute_draw(by_round, entry, 0, 6),
        chance.compute_draw(by_round, entry - 1, 0, 6),
    )


def test_a_host_cannot_predict_public_draws():
    """Every guess before the round hits one face in six, within four standard deviations."""
    random, hits, faces = Random(17), Counter[int](), Counter[int]()
    key, before = chance.derive_key(SEED, ["anna", "berta"]), random.randbytes(48).hex()
    for entry in range(DRAWS):
        guessed, signature = guess_draws(key, entry + 1, before), random.randbytes(48).hex()
        drawn = chance.compute_draw(chance.derive_round_key(key, signature), entry + 1, 0, 6)
        hits.update(number for number, guess in enumerate(guessed) if guess == drawn)
        faces[drawn] += 1
        before = signature
    width = 4 * sqrt(DRAWS * 1 / 6 * 5 / 6)
    for number_of_hits in (*hits.values(), *faces.values()):
        assert abs(number_of_hits - DRAWS / 6) < width
    assert len(hits) == 4


def test_every_signature_leads_to_other_draws():
    dealt, waits = Counter[int](), open_waiting_table()
    for number in range(2_000):
        signature = Random(number).randbytes(48).hex()
        move = Move("round", (str(waits.table.waiting_command.round), signature))
        public_chance = tables.make_chance(waits.table, SEED, move, 0)
        dealt[tables.play(highcard, waits.table, None, move, public_chance).table.state.hands[0][0]] += 1
    assert len(dealt) > 10
    assert max(dealt.values()) < 2_000 / 5


@pytest.mark.parametrize("at", [0, 1, 2, 3, 100, 1_692_803_366, 1_692_803_367, 1_800_000_001])
@pytest.mark.parametrize("period", [1, 3, 30])
def test_a_named_round_comes_later_than_its_move_by_one_to_two_periods(at, period):
    chain = beacon.Beacon("", 0, period)
    assert period < chain.time_of(chain.find_next_round(at)) - at <= 2 * period


def test_a_command_before_the_first_round_names_the_first_one():
    assert beacon.Beacon("", 1_000_000, 3).find_next_round(5) == 1


def test_a_command_that_draws_nothing_waits_for_nothing():
    ledger = draw_awaited_round(open_waiting_table())
    seat = ledger.find_seats_to_move()[0]
    ledger.do(seat, ledger.pick_move(seat, Random(1)))
    assert ledger.table.waiting_command is None
    assert not isinstance(ledger.entries[-1].events[0], RoundNamed)


def test_a_waiting_command_is_carried_out_by_its_round_and_by_no_other():
    ledger = open_waiting_table()
    number = ledger.table.waiting_command.round
    for words in (f"round {number + 1} {sign(number + 1)}", f"round {number}", f"round {number} xyz"):
        with pytest.raises(Refused):
            ledger.do(None, words)
    ledger.do(None, f"round {number} {sign(number)}")
    assert ledger.entries[-1].events[0] == RoundDrawn(number, sign(number))
    assert ledger.table.phase == "playing"


@pytest.mark.parametrize("move", ["start", "sit 0 again", "expire 0 pass", "miss 0 relieve"])
def test_while_a_round_is_awaited_the_server_cannot_go_on(move):
    with pytest.raises(Refused):
        open_waiting_table().do(None, move)


def test_a_bot_replaces_a_player_before_the_first_draws_with_the_same_nonce():
    ledger = open_waiting_table()
    with pytest.raises(Refused):
        ledger.do(None, "bot 0 another")
    ledger.do(None, "bot 0 nonce-0")
    export = play_on(draw_awaited_round(ledger), Random(4)).export()
    assert audit.audit(highcard, export, verify_signature=is_signed).finding is None
    assert second_verifier.verify(msgspec.json.encode(export))["sound"]


def test_all_players_have_to_agree_before_a_table_goes_on_sealed():
    ledger = open_waiting_table()
    ledger.do(0, "sealed")
    assert ledger.table.seal_request.waiting == (1,)
    with pytest.raises(Refused):
        ledger.do(0, "agree")
    ledger.do(1, "agree")
    assert ledger.entries[-1].events[1] == WentSealed()
    assert ledger.table.beacon is None
    assert audit.audit(highcard, play_on(ledger, Random(1)).export(), verify_signature=is_signed).finding is None


def test_the_table_ends_when_one_seat_is_left_though_a_round_is_awaited():
    kurier, random = catalogue.find("kurier"), Random(1)
    ledger = draw_awaited_round(start_table(kurier, 2, beacon=BEACON))
    while not ledger.table.waiting_command:
        seat = ledger.find_seats_to_move()[0]
        ledger.do(seat, ledger.pick_move(seat, random))
    assert ledger.table.phase == "playing"
    ledger.do(0, "resign")
    assert (ledger.table.phase, ledger.table.waiting_command) == ("over", None)
    text = msgspec.json.encode(ledger.export())
    assert audit.audit(kurier, log.parse_export(text), verify_signature=is_signed).finding is None
    assert second_verifier.verify(text)["sound"]


def test_an_audit_without_the_curve_says_that_signatures_were_not_checked():
    export = play_on(draw_awaited_round(open_waiting_table()), Random(1)).export()
    sentences = list(audit.describe(audit.audit(highcard, export)))
    assert any("NOT CHECKED: the signatures of 1 rounds" in sentence for sentence in sentences)
    assert not any(
        "NOT CHECKED" in one for one in audit.describe(audit.audit(highcard, export, verify_signature=is_signed))
    )


def test_a_waiting_move_is_hidden_from_other_seats():
    """It is not known yet which of its events will be hidden."""
    ledger = draw_awaited_round(open_waiting_table())
    seat = ledger.find_seats_to_move()[0]
    waits = log.Entry(7, 1, seat, "play 3", (), (RoundNamed(9),), 1)
    assert log.redact(highcard, waits, seat) == waits
    assert log.redact(highcard, waits, 1 - seat).move is None
    assert log.redact(highcard, waits, None).move is None


def test_logs_verify_offline_in_both_verifiers_while_played_and_after():
    waits = open_waiting_table()
    over = play_on(draw_awaited_round(open_waiting_table()), Random(2))
    for export in (waits.export(0), waits.export(), over.export()):
        text = msgspec.json.encode(export)
        assert audit.audit(highcard, log.parse_export(text), verify_signature=is_signed).finding is None
        assert second_verifier.verify(text)["sound"]
    assert second_verifier.verify(msgspec.json.encode(over.export()))["rounds"] == 1


# Rounds of drand's quicknet, from public sources.
QUICKNET = (
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
SIGNATURES = {
    1: "b55e7cb2d5c613ee0b2e28d6750aabbb78c39dcc96bd9d38c2c2e12198df95571de8e8e402a0cc48871c7089a2b3af4b",
    123: "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
    1_000: "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    657_413: "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
}


def verify_round(key: str, number: int, signature: str) -> set[bool]:
    """Return the results of both verifiers for a round: one, if they agree."""
    return {
        is_signed(key, number, signature),
        second_verifier.ask(signed={"key": key, "round": number, "signature": signature}),
    }


@pytest.mark.parametrize("number", SIGNATURES)
def test_both_verifiers_know_the_rounds_of_quicknet(number: int):
    right = SIGNATURES[number]
    assert verify_round(QUICKNET, number, right) == {True}
    negated = f"{int(right[0], 16) ^ 2:x}{right[1:]}"  # the other point with the same x, which is on the curve as well
    others = [other for other in SIGNATURES.values() if other != right]
    for key, wrong, signature in (
        (BEACON.key, number, right),
        (QUICKNET, number + 1, right),
        (QUICKNET, number, negated),
        *((QUICKNET, number, other) for other in others),
    ):
        assert verify_round(key, wrong, signature) == {False}
