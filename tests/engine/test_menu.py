"""Menus and the text form of a move: tolerant of spelling, strict about legal moves."""

from __future__ import annotations

import itertools
import time
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine import menu
from engine.menu import Choice, Move, Number, PartialMove, Subset
from engine.refusal import Refused

TRAVEL = Choice("travel", (("Moskwa",), ("Omsk",), ("Orenburg",), ("Ochotsk",), ("Nishnij-Nowgorod",)))
MOVE = Choice("move", (("A1", "A2"), ("A1", "B1"), ("A17", "A16"), ("B10", "A7")))
KEEP = Subset("keep", ("3", "7", "7", "9", "ace"), 1, 3)
BID = Number("bid", 0, 120)
PLACE = Choice("place", (("-1,0", "90"), ("1,0", "90"), ("1,0", "180"), ("10,0", "0")))
MENU = (TRAVEL, MOVE, KEEP, BID, PLACE, Choice("pass"))

tokens = st.text(st.characters(categories=["L", "N"], codec="utf-8"), min_size=1, max_size=12)
choices = st.builds(
    Choice,
    st.just("go"),
    st.lists(st.lists(tokens, min_size=1, max_size=3).map(tuple), min_size=1, max_size=12, unique=True).map(tuple),
)
subsets = st.lists(tokens, min_size=1, max_size=8).flatmap(
    lambda items: st.integers(0, len(items)).map(lambda least: Subset("keep", tuple(items), least, len(items)))
)
numbers = st.tuples(st.integers(-999, 999), st.integers(0, 99)).map(lambda ends: Number("bid", ends[0], sum(ends)))
menus = st.tuples(choices, subsets, numbers)


def parse(text, choices=MENU):
    return str(menu.parse_move(choices, text))


@given(menus, st.randoms(use_true_random=False))
def test_every_move_can_be_parsed_from_its_text(choices, random):
    move = menu.pick(choices, random.randrange)
    assert menu.allows(choices, move)
    assert Move.parse(str(move)) == move
    assert menu.allows(choices, menu.parse_move(choices, str(move)))
    assert sorted(menu.parse_move(choices, str(move)).args) == sorted(move.args)


@given(menus, st.text() | st.lists(tokens | st.sampled_from(["go", "keep", "bid", "-", "0"])).map(" ".join))
def test_every_text_is_a_move_on_the_menu_or_refused_in_a_sentence(choices, text):
    try:
        outcome = menu.parse_move(choices, text)
    except Refused as refused:
        outcome = refused
    assert str(outcome).isprintable() if isinstance(outcome, Refused) else menu.allows(choices, outcome)


@given(menus)
def test_count_is_the_number_of_different_moves(choices):
    choice, subset, number = choices
    for entry in (choice, number):
        assert len(set(entry.iter_moves())) == entry.count()
    assert len(set(subset.iter_moves())) <= subset.count()
    assert all(menu.allows(choices, move) for move in itertools.islice(menu.iter_moves(choices), 500))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("travel Omsk", "travel Omsk"),
        ("TRAVEL OMSK", "travel Omsk"),
        ("travel om", "travel Omsk"),
        ("tr ore", "travel Orenburg"),
        ("“travel Omsk.”", "travel Omsk"),
        ("  travel:  →Omsk!!  ", "travel Omsk"),
        ("travel nishnijnowgorod", "travel Nishnij-Nowgorod"),
        ("travel NISHNIJNOW", "travel Nishnij-Nowgorod"),
        ("travel nishnij nowgorod", "travel Nishnij-Nowgorod"),
        ("travel Ömsk", "travel Omsk"),
        ("travel O\u0308msk", "travel Omsk"),
        ("move a 1 b 1", "move A1 B1"),
        ("move b10", "move B10 A7"),
        ("b 7", "bid 7"),
        ("bid 0", "bid 0"),
        ("keep 9 7", "keep 7 9"),
        ("keep 7 7", "keep 7 7"),
        ("keep Ace, 3", "keep 3 ace"),
        ("place -1,0", "place -1,0 90"),
        ("place 1,0 180", "place 1,0 180"),
        ("pass.", "pass"),
        ("PA", "pass"),
    ],
)
def test_case_punctuation_beginnings_and_the_obvious_rest(text, move):
    assert parse(text) == move


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Write one of these: travel Moskwa, Omsk"),
        (" .,! ", "Write one of these"),
        ("fly", "“fly” is not one of your moves; write one of these"),
        ("p", "“p” is not one of your moves"),
        ("travel", "“travel” goes on with one of these: Moskwa, Omsk"),
        ("travel o", "After “travel”, “o” does not fit"),
        ("travel Paris", "After “travel”, “Paris” does not fit; write one of these: Moskwa"),
        ("travel Omsk now", "“travel Omsk” is already whole; leave out “now”"),
        ("pass twice", "“pass” is already whole; leave out “twice”"),
        ("move A1", "“move A1” goes on with one of these: A2, B1"),
        ("move A1 A16", "After “move A1”, “A16” does not fit; write one of these: A2, B1"),
        ("keep", "“keep” goes on with one of these: 3, 7, 9, ace"),
        ("keep 7 7 7", "After “keep 7 7”, “7” does not fit"),
        ("keep 3 7 7 9", "Choose at most 3 for “keep”"),
        ("bid", "“bid” goes on with one of these: 0-120"),
        ("bid 121", "“bid” takes one number from 0 to 120"),
        ("bid -1", "“bid” takes one number"),
        ("bid 07", "“bid” takes one number"),
        ("bid 7 8", "“bid” takes one number"),
        ("bid ٧", "“bid” takes one number"),
        ("bid 1e2", "“bid” takes one number"),
    ],
)
def test_a_wrong_text_is_refused_with_the_possible_ones(text, sentence):
    with pytest.raises(Refused, match=sentence):
        parse(text)


WORDS = {"travel": ("aller à", "reis"), "Omsk": ("Omsk am Irtysch",), "pass": ("ik pas",), "Moskwa": ("Moskau",)}


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("reis Moskau", "travel Moskwa"),
        ("ALLER A omsk am irtysch!", "travel Omsk"),
        ("Ik pas.", "pass"),
        ("travel mosk", "travel Moskwa"),
    ],
)
def test_spellings_may_have_several_words(text, move):
    assert str(menu.parse_move(MENU, text, lambda token: WORDS.get(token, ()))) == move


def test_half_a_number_is_no_beginning():
    choices = (Choice("move", (("A17", "A16"),)), Choice("place", (("-1,0", "90"), ("100,0", "0"))), KEEP, BID)
    for text in ("move A1", "place 1,0", "place 1", "place -", "place 10", "keep A1", "bid 1x"):
        with pytest.raises(Refused):
            parse(text, choices)
    with pytest.raises(Refused):
        menu.parse_partial((PLACE,), ("place", "1,"))


def test_signs_and_commas_of_numbers_matter():
    assert parse("place -1,0 90") != parse("place 1,0 90")


def test_an_exact_match_precedes_a_beginning():
    choices = (Choice("go", (("Omsk",), ("Omsk-West",), ("omsk",))),)
    assert parse("go Omsk", choices) == "go Omsk"
    assert parse("go omsk", choices) == "go omsk"
    with pytest.raises(Refused):
        parse("go OMSK", choices)


def test_a_complete_shorter_move_precedes_a_longer_one():
    assert parse("go a", (Choice("go", (("a",), ("a", "b"))),)) == "go a"


@given(st.permutations(KEEP.items), st.integers(1, 3))
def test_the_order_of_a_subset_does_not_matter(order, size):
    chosen = order[:size]
    move = menu.parse_move(MENU, "keep " + " ".join(chosen))
    assert move.args == tuple(sorted(chosen, key=KEEP.items.index))
    assert KEEP.allows(tuple(chosen))


def test_an_item_is_not_chosen_more_often_than_it_is_listed():
    assert KEEP.allows(("7", "7"))
    assert not KEEP.allows(("3", "3"))
    assert not KEEP.allows(())
    assert not KEEP.allows(("3", "7", "7", "9"))
    assert set(KEEP.iter_moves()) == {move for move in KEEP.iter_moves() if KEEP.allows(move.args)}


def test_spellings_in_the_readers_language():
    words = {"pass": ("passen",), "Moskwa": ("Moskau", "Moscow")}
    assert menu.parse_move(MENU, "trav mosc", lambda token: words.get(token, ())) == Move("travel", ("Moskwa",))
    assert menu.parse_move(MENU, "passen", lambda token: words.get(token, ())) == Move("pass")


@given(menus, st.randoms(use_true_random=False))
def test_narrowing_token_by_token_leads_to_the_move(choices, random):
    move = menu.pick(choices, random.randrange)
    words = (move.verb,)
    for token in move.args:
        following = menu.parse_partial(choices, words).following
        assert token in following or move.verb == "bid"
        words = (*words, token)
    narrowed = menu.parse_partial(choices, words)
    assert narrowed.move is not None
    assert sorted(narrowed.move.args) == sorted(move.args)


def test_narrowing_returns_the_tokens_so_far():
    assert menu.parse_partial(MENU, ()).following == ("travel", "move", "keep", "bid", "place", "pass")
    assert menu.parse_partial(MENU, ("move", "a1")) == PartialMove(("move", "A1"), ("A2", "B1"), None)
    assert menu.parse_partial(MENU, ("keep", "9")) == PartialMove(
        ("keep", "9"), ("3", "7", "ace"), Move("keep", ("9",))
    )
    with pytest.raises(Refused, match="nothing for you"):
        menu.parse_partial((), ("move",))


def test_a_large_subset_gives_its_first_moves_at_once():
    half = Subset("keep", tuple(map(str, range(40))), least=20, most=20)
    first = list(itertools.islice(half.iter_moves(), 3))
    assert [move.args[-1] for move in first] == ["19", "20", "21"]


@pytest.mark.parametrize("items", ["aab", "aba", "abcb", "aaaa", ""])
def test_a_subset_gives_each_choice_once_in_the_order_of_its_items(items):
    few = Subset("keep", tuple(items), least=0, most=3)
    expected = dict.fromkeys(args for size in range(4) for args in itertools.combinations(items, size))
    assert [move.args for move in few.iter_moves()] == list(expected)


@pytest.mark.parametrize(
    "garbage",
    [
        "x" * 1_000_000,
        "travel " + "!" * 1_000_000 + "x",
        "keep " + "7 " * 300_000,
        "travel " + "x!" * 4_000,
        "move " + "A" * 9_000,
        "\x00\x07",
        "travel \x1b[2J",
        "travel \ud800",
        "{0} {said} %s",
        "travel {rule}",
        "𒐫" * 5_000,
    ],
)
def test_hostile_text_is_refused_at_once_and_quoted_in_brief(garbage):
    before = time.perf_counter()
    with pytest.raises(Refused) as refused:
        menu.parse_move(MENU, garbage)
    assert time.perf_counter() - before < 1
    assert len(str(refused.value)) < 2_000
    assert str(refused.value).isprintable()


def test_a_move_needs_a_verb():
    with pytest.raises(Refused, match="empty line"):
        Move.parse(" \n ")


@pytest.mark.parametrize(
    ("text", "fits"), [("A17", True), ("-1,0", True), ("", False), ("a b", False), ("x" * 41, False)]
)
def test_a_token_has_no_blanks_and_is_short(text, fits):
    assert menu.is_token(text) is fits


def test_a_menu_as_text_shows_what_can_be_written():
    assert menu.format_menu((MOVE, KEEP, Subset("drop", ("a", "b"), 1, 1), BID, Choice("pass"))) == (
        "move A1 A2, B1; move A17 A16; move B10 A7",
        "keep (1-3 of: 3 7 7 9 ace)",
        "drop (1 of: a b)",
        "bid 0-120",
        "pass",
    )


def test_a_random_pick_reaches_every_move():
    choices, random = (MOVE, Choice("pass"), Number("bid", 1, 3), Subset("keep", ("1", "2"), 0, 2)), Random(1)
    picked = {menu.pick(choices, random.randrange) for _ in range(500)}
    assert picked == set(menu.iter_moves(choices))


@given(st.lists(tokens, min_size=2, max_size=8, unique_by=str.casefold))
def test_different_names_are_normalized_to_different_forms(names):
    choices = (Choice("go", tuple((name,) for name in names)),)
    for name in names:
        assume(sum(other.casefold() == name.casefold() for other in names) == 1)
        assert menu.parse_move(choices, f"go {name}").args == (name,)
