"""Options as data: every kind, as texts and as plain values, and one sentence for a wrong value."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from engine import options
from engine.options import Option
from engine.refusal import Refused


def describe_as(text, **bounds):
    return msgspec.Meta(description=text, **bounds)


class Options(Struct, frozen=True):
    river: Annotated[bool, describe_as("Lay the river first")] = False
    rules: Annotated[Literal["basic", "revised"], describe_as("Which rules")] = "revised"
    rounds: Annotated[int, describe_as("How many", ge=1, le=12)] = 3


RIVER, RULES, ROUNDS = options.describe(Options)


def test_every_option_is_described():
    assert Option("river", "switch", False, ("on", "off"), "Lay the river first") == RIVER
    assert Option("rules", "word", "revised", ("revised", "basic"), "Which rules") == RULES
    assert Option("rounds", "number", 3, tuple(map(str, range(1, 13))), "How many", 1, 12) == ROUNDS


def test_an_option_has_the_paragraph_that_its_description_cites():
    cited = msgspec.defstruct("Cited", [("purse", Annotated[bool, describe_as("Coins in a purse (§8.2, §9)")], True)])
    assert list_options(cited) == {"purse": "8.2"}
    assert set(list_options(Options).values()) == {""}


def list_options(kind):
    return {option.name: option.rule for option in options.describe(kind)}


def test_an_option_that_is_not_chosen_has_its_default():
    assert options.parse(Options, {}) == Options()


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("river", "on", True),
        ("river", " YES ", True),
        ("river", True, True),
        ("river", "0", False),
        ("river", False, False),
        ("rules", "Basic", "basic"),
        ("rounds", "12", 12),
        ("rounds", 1, 1),
    ],
)
def test_a_choice_may_be_a_text_or_a_plain_value(name, value, parsed):
    assert getattr(options.parse(Options, {name: value}), name) == parsed


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("river", "perhaps", "The option “river” can be on or off, not “perhaps”."),
        ("river", 2, "can be on or off, not “2”"),
        ("rules", "new", "The option “rules” can be revised / basic, not “new”."),
        ("rounds", "0", "The option “rounds” can be 1 to 12, not “0”."),
        ("rounds", 13, "can be 1 to 12, not “13”"),
        ("rounds", "3.0", "can be 1 to 12"),
        ("rounds", True, "can be 1 to 12"),
        ("rounds", None, "can be 1 to 12"),
        ("rounds", "٣", "can be 1 to 12"),
        ("moon", "full", "There is no option “moon”; the options are: river, rules, rounds."),
    ],
)
def test_a_wrong_choice_is_refused_in_a_sentence(name, value, sentence):
    with pytest.raises(Refused, match=sentence):
        options.parse(Options, {name: value})


NAMES = st.sampled_from(["river", "rules", "rounds"])
VALUES = st.text() | st.integers() | st.none() | st.sampled_from(["on", "basic", "7"])


@given(st.dictionaries(NAMES, VALUES) | st.dictionaries(NAMES | st.text(), VALUES))
def test_nonsense_is_refused_in_a_sentence(chosen):
    try:
        outcome = options.parse(Options, chosen)
    except Refused as refused:
        outcome = refused
    assert str(outcome).isprintable() if isinstance(outcome, Refused) else 1 <= outcome.rounds <= 12


@given(st.builds(Options, river=st.booleans(), rules=st.sampled_from(RULES.values), rounds=st.integers(1, 12)))
def test_stored_options_can_be_parsed(chosen):
    assert options.parse(Options, msgspec.to_builtins(chosen)) == chosen


@pytest.mark.parametrize("kind", [str, float, int])
def test_an_option_of_another_kind_is_a_fault_of_the_game(kind):
    with pytest.raises(TypeError, match="colour"):
        options.describe(msgspec.defstruct("Odd", [("colour", kind, kind())]))
