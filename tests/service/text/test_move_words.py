"""The words of four languages: every verb of a game has a word in each, and no word has two meanings."""

from __future__ import annotations

import itertools
import tomllib
from collections import defaultdict

import pytest

from engine import catalogue
from engine import menu as menus
from engine import table as tables
from engine.chance import make_sealed
from engine.game import Game, begin
from engine.games.carcassonne import boxes
from engine.menu import Choice
from engine.options import parse as parse_options
from service.text import move_words
from service.text.templates import TEMPLATES

GAMES = sorted(catalogue.find_all())
BEFORE_THE_GAME = {"sit"}


def file(folder: str) -> dict[str, dict[str, dict[str, list[str]]]]:
    return tomllib.loads((TEMPLATES / folder / "words.toml").read_text("utf-8"))


@pytest.mark.parametrize("folder", ["table", *(f"games/{name}" for name in GAMES)])
def test_every_verb_is_known_in_every_language(folder):
    words_of = file(folder)
    verbs = {verb for language in move_words.LANGUAGES for verb in words_of[language].get("verbs", {})}
    in_english = {"bonus", "status", "help", "pause", "stop"}
    for language in ("nl", "fr", "de"):
        assert verbs - words_of[language]["verbs"].keys() <= in_english | {"Z"}, language


@pytest.mark.parametrize("language", ["nl", "fr", "de"])
@pytest.mark.parametrize("box", boxes.BOXES, ids=lambda box: box.option)
def test_the_verbs_of_every_box_can_be_written_in_every_language(box, language):
    assert set(box.verbs) <= move_words.load_dictionary("games/carcassonne", language).verbs.keys() | {"message"}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", ["verbs", "tokens"])
def test_no_word_means_two_things(name, kind):
    meaning: defaultdict[str | None, set[str]] = defaultdict(set)
    dictionaries = [move_words.load_dictionary(f"games/{name}")] + (
        [move_words.load_dictionary("table")] if kind == "verbs" else []
    )
    for dictionary in dictionaries:
        for word, forms in getattr(dictionary, kind).items():
            if word not in BEFORE_THE_GAME:
                for form in (word, *forms):
                    meaning[menus.normalize_name(form) or form.casefold()].add(word)
    assert {form: meanings for form, meanings in meaning.items() if len(meanings) > 1} == {}


def test_the_verbs_of_every_table_are_reserved():
    assert set(file("table")["nl"]["verbs"]) <= tables.RESERVED_VERBS


def first_menus(game: Game) -> itertools.chain[Choice]:
    options = parse_options(game.META.options, {})
    state = begin(game, options, min(game.META.seats), make_sealed(b"words", 0)).state
    seats = range(min(game.META.seats))
    return itertools.chain.from_iterable(game.menu(state, seat) for seat in seats)


@pytest.mark.parametrize("name", GAMES)
def test_every_move_on_a_first_menu_can_be_written_in_every_language(name):
    game = catalogue.find(name)
    vocabulary = move_words.make_vocabulary(game, ("Anna", "Berta"))
    for entry in first_menus(game):
        move = next(entry.iter_moves())
        for verb in vocabulary(entry.verb):
            parsed = menus.parse_move((entry,), " ".join((verb, *move.args)), vocabulary)
            assert parsed == move


@pytest.mark.parametrize(
    ("game", "token", "form"),
    [
        ("kurier", "purse2", "beurs2"),
        ("kurier", "purse2", "Berta"),
        ("carcassonne", "city-N", "Stadt-N"),
        ("carcassonne", "1,0/city-N", "1,0/ville-N"),
        ("turfmaster", "J12", "joker12"),
        ("turfmaster", "horse2", "paard2"),
    ],
)
def test_a_token_with_a_number_is_translated_too(game, token, form):
    assert form in move_words.make_vocabulary(catalogue.find(game), ("Anna", "Berta"))(token)


def test_a_token_without_a_translation_has_no_other_form():
    vocabulary = move_words.make_vocabulary(catalogue.find("kaiser"), ("Anna",))
    assert vocabulary("A15") == ()
    assert vocabulary("purse1") == ()
