"""A table keeps the edition of its game."""

from __future__ import annotations

import sys
from random import Random
from typing import Annotated

import msgspec
import pytest
from msgspec.structs import replace

from engine import audit, catalogue, chance, game
from engine.refusal import Refused
from tests.engine import highcard
from tests.engine.ledger import make_variant, play_eventfully, start_table

LOWEST = make_variant(
    highcard,
    META=replace(highcard.META, edition=2, about="Everybody plays a card; the lowest one scores a point."),
    upkeep=lambda state, chance: _lowest(state, highcard.upkeep(state, chance)),
)


def _lowest(state, event):
    if isinstance(event, highcard.TrickWon):
        return highcard.TrickWon((state.leader + state.trick.index(min(state.trick))) % len(state.hands))
    return event


@pytest.fixture
def two_editions(monkeypatch, use_games):
    """Put High Card into the catalogue, with a second edition in which the lowest card wins."""
    use_games(highcard=LOWEST)
    monkeypatch.setitem(sys.modules, "tests.engine.highcard_variant.edition_1", highcard)


@pytest.mark.usefixtures("two_editions")
def test_each_table_is_audited_by_the_edition_it_was_opened_with():
    for edition in (1, 2):
        rules = catalogue.find("highcard", edition)
        assert rules.META.edition == edition
        export = play_eventfully(start_table(rules, 3), Random(4)).export()
        assert export.edition == edition
        assert audit.audit(catalogue.find(export.game, export.edition), export).finding is None
        assert audit.audit(catalogue.find(export.game, 3 - edition), export).finding


@pytest.mark.usefixtures("two_editions")
def test_new_tables_begin_with_the_newest_edition():
    assert catalogue.find("highcard") is LOWEST
    assert catalogue.find_editions("highcard") == (highcard, LOWEST)
    with pytest.raises(Refused, match="no edition 3"):
        catalogue.find("highcard", 3)
    with pytest.raises(Refused, match="no edition 0"):
        catalogue.find("highcard", 0)


class More(msgspec.Struct, frozen=True):
    """The options of High Card with a later one."""

    cards: Annotated[int, msgspec.Meta(ge=1, le=5, description="Cards on each hand")] = 3
    jokers: Annotated[bool, msgspec.Meta(description="Jokers take part")] = False


def test_older_logs_are_sound_without_a_later_option():
    later = make_variant(highcard, Options=More, META=replace(highcard.META, options=More))
    export = play_eventfully(start_table(highcard, 3, {"cards": "2"}.items()), Random(4)).export()
    assert audit.audit(later, export).finding is None
    with_jokers = play_eventfully(start_table(later, 3, {"jokers": "on"}.items()), Random(4)).export()
    assert audit.audit(later, with_jokers).finding is None
    assert audit.audit(highcard, with_jokers).finding


@pytest.mark.parametrize("name", catalogue.find_all())
def test_every_edition_is_a_whole_game_of_the_same_events(name):
    newest = catalogue.find(name)
    for number, older in enumerate(catalogue.find_editions(name), 1):
        assert older.META.edition == number
        assert (older.META.name, older.State, older.Event) == (name, newest.State, newest.Event)
        assert game.begin(older, older.META.options(), older.META.seats[0], chance.make_from_random(Random(1))).events
