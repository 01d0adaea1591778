"""Sealed draws: uniform, the same every time, and easy to compute by other programs."""

from __future__ import annotations

import hashlib
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import chance
from engine.chance import Draw, UnexpectedDraw

SEED = bytes(range(32))
seeds = st.binary(min_size=32, max_size=32)
nonces = st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=8)


def compute_draw_again(seed, words, entry, index, size):
    """Compute a draw as `engine/README.md` says, without code of `engine/chance.py`."""
    key = b"depesche key 1" + seed
    for word in words:
        key += len(word.encode()).to_bytes(2, "big") + word.encode()
    material = hashlib.sha256(key).digest() + entry.to_bytes(8, "big") + index.to_bytes(4, "big")
    bits = len(f"{size - 1:b}")
    width = -(-bits // 8)
    stream = hashlib.shake_256(material).digest(10_000)
    numbers = (int.from_bytes(stream[at : at + width], "big") % 2**bits for at in range(0, 10_000, width))
    return next(number for number in numbers if number < size)


@given(seeds, nonces, st.integers(0, 2**63), st.integers(0, 2**31), st.integers(2, 2**40))
def test_a_draw_can_be_computed_by_the_specification(seed, words, entry, index, size):
    ours = chance.compute_draw(chance.derive_key(seed, words), entry, index, size)
    assert ours == compute_draw_again(seed, words, entry, index, size)


@pytest.mark.parametrize(("entry", "index", "size", "result"), [(3, 0, 6, 5), (3, 1, 52, 43), (4, 0, 1000, 281)])
def test_the_bytes_never_change(entry, index, size, result):
    assert chance.compute_draw(chance.derive_key(SEED, ["anna", "émile"]), entry, index, size) == result


def test_the_commitment_and_the_key_never_change():
    assert chance.commit(SEED) == hashlib.sha256(b"depesche commitment 1" + SEED).hexdigest()
    assert chance.commit(SEED) == "65c0643342e411de389031ab9cb0503e1a9bb39e9bf0cc460c208f8ecb4e67b9"
    assert (
        chance.derive_key(SEED, ["anna", "émile"]).hex()
        == "17589de4b6e4364b07ad759d3f1e44a635c722cda3751fba302f0500657fc25c"
    )


@given(seeds, st.integers(1, 10_000), st.integers(0, 50))
def test_a_roll_is_one_of_the_sides(seed, sides, entry):
    assert 1 <= chance.make_sealed(seed, entry).roll("die", sides) <= sides


@given(seeds, st.lists(st.integers(), min_size=1))
def test_a_pick_is_one_of_the_items(seed, items):
    assert chance.make_sealed(seed, 0).pick("bag", items) in items


@given(seeds, st.lists(st.integers(), max_size=60))
def test_a_shuffle_keeps_every_item(seed, items):
    drawn = chance.make_sealed(seed, 0)
    assert Counter(drawn.shuffle("deck", items)) == Counter(items)
    assert [draw.size for draw in drawn.draws] == list(range(len(items), 1, -1))


@given(seeds, st.lists(st.integers(), min_size=1, max_size=30))
def test_a_shuffle_of_n_items_is_n_minus_1_picks(seed, items):
    drawn, left = chance.make_sealed(seed, 0), list(items)
    order = []
    while len(left) > 1:
        order.append(left.pop(drawn.source("deck", left, len(order))))
    assert chance.make_sealed(seed, 0).shuffle("deck", items) == (*order, *left)


@given(seeds, st.integers(0, 99))
def test_the_same_key_and_entry_draw_the_same(seed, entry):
    one, two = chance.make_sealed(seed, entry), chance.make_sealed(seed, entry)
    for drawn in (one, two):
        drawn.roll("die", 6)
        drawn.shuffle("deck", range(10))
    assert one.draws == two.draws


def test_every_draw_is_recorded_and_a_draw_of_one_has_a_number():
    drawn, other = chance.make_sealed(SEED, 1), chance.make_sealed(SEED, 1)
    drawn.reveal("card")
    drawn.pick("only", ["this"])
    assert drawn.roll("die", 6) == chance.compute_draw(SEED, 1, 2, 6) + 1
    assert drawn.draws[:2] == [Draw("card", 1, 0), Draw("only", 1, 0)]
    assert drawn.draws[2] == Draw("die", 6, chance.compute_draw(SEED, 1, 2, 6))
    other.reveal("anything")
    assert other.draws == [Draw("anything", 1, 0)]


def test_a_pick_from_no_items_is_an_error():
    with pytest.raises(IndexError):
        chance.make_sealed(SEED, 0).pick("empty bag", [])
    assert chance.make_sealed(SEED, 0).shuffle("empty deck", []) == ()


def chi_square(counts, cases, draws):
    expected = draws / cases
    return sum((counts[case] - expected) ** 2 / expected for case in range(cases))


@pytest.mark.parametrize("size", [2, 3, 6, 7, 20, 52, 129, 257])
def test_draws_are_uniform(size):
    """Compare chi-square with the value that honest draws exceed once in about a million times."""
    draws = 40 * size
    counts = Counter(chance.compute_draw(SEED, entry, 0, size) for entry in range(draws))
    degrees = size - 1
    assert chi_square(counts, size, draws) < degrees + 5 * (2 * degrees) ** 0.5 + 20


def test_shuffles_are_uniform():
    orders = Counter(chance.make_sealed(SEED, entry).shuffle("deck", range(4)) for entry in range(4_800))
    assert len(orders) == 24
    numbered = Counter(dict(enumerate(orders.values())))
    assert chi_square(numbered, 24, 4_800) < 23 + 5 * 46**0.5


@given(seeds, nonces, nonces)
def test_every_nonce_changes_the_key(seed, one, two):
    assert (chance.derive_key(seed, one) == chance.derive_key(seed, two)) == (one == two)


def test_the_borders_of_nonces_change_the_key():
    assert chance.derive_key(SEED, ["ab", "c"]) != chance.derive_key(SEED, ["a", "bc"])


def test_rigged_draws_have_the_given_results_for_each_label():
    drawn = chance.make_rigged({"die": [6, "1"], "bag": ["red"]})
    assert drawn.roll("die", 6) == 6
    assert drawn.pick("bag", ["blue", "red"]) == "red"
    assert drawn.roll("die", 6) == 1


@pytest.mark.parametrize(
    ("forced", "sentence"),
    [({}, "nothing was foreseen for “die”"), ({"die": [7]}, "“7” cannot be drawn for “die” from 1, 2, 3")],
)
def test_a_rigged_draw_with_an_impossible_result_is_an_error(forced, sentence):
    with pytest.raises(UnexpectedDraw, match=sentence):
        chance.make_rigged(forced).roll("die", 3)


def test_draws_that_are_not_rigged_come_from_another_source():
    drawn = chance.make_rigged({"die": [2]}, chance.make_sealed(SEED, 0).source)
    assert drawn.roll("die", 6) == 2
    assert drawn.roll("die", 6) == chance.compute_draw(SEED, 0, 1, 6) + 1


def test_a_draw_with_one_result_may_be_rigged_or_not():
    rig = chance.Rig({"tile": ["U", "V"], "die": [4]})
    drawn = chance.Chance(rig)
    assert drawn.pick("tile", ["U"]) == "U"
    assert rig.results_left == {"tile": ["V"], "die": [4]}
    drawn.reveal("die")
    assert drawn.pick("tile", ["W"]) == "W"
    assert drawn.roll("die", 6) == 4
    assert rig.results_left == {"tile": ["V"]}
    assert [draw.size for draw in drawn.draws] == [1, 1, 1, 6]
    chance.Chance(chance.Rig({}, rig)).pick("tile", ["V"])
    assert rig.results_left == {}


def test_draws_from_a_seed_are_uniform():
    rolls = [
        (chance.make_from_seed(seed).roll("die", 6), chance.make_from_seed(seed).roll("die", 6)) for seed in range(10)
    ]
    assert all(one == other for one, other in rolls)
    counts = [0] * 36
    for seed in range(36_000):
        imagined = chance.make_from_seed(Random(seed).getrandbits(64))
        counts[6 * imagined.roll("die", 6) + imagined.roll("die", 6) - 7] += 1
    assert 850 < min(counts) <= max(counts) < 1150
