"""Places in prose: links on a page, plain words everywhere else."""

from random import Random

import pytest

from engine import bots, catalogue, chance, game, options
from engine.menu import iter_moves
from service.text import languages
from service.text.languages import LANGUAGES
from service.text.narration import Narrator

NAMES = ("Anna", "Émile <b>")


def narrate(name: str, narrator: Narrator) -> list[str]:
    """Return the sentences of a narrator for the events of a random game."""
    rules = catalogue.find(name)
    chosen = options.parse(rules.META.options, {})
    events = [event for one in bots.play_out(rules, chosen, 2, b"a word") for event in one[3]]
    return [text for event in events[:400] if (text := narrator.describe(event))]


@pytest.mark.parametrize("name", catalogue.find_all())
@pytest.mark.parametrize("language", LANGUAGES)
def test_marked_prose_has_the_same_words_and_names_places(name: str, language: str) -> None:
    rules = catalogue.find(name)
    plain, marked = (narrate(name, Narrator(rules, NAMES, language, marked=marks)) for marks in (False, True))
    assert [languages.remove_place_marks(text) for text in marked] == plain
    assert any("data-at=" in languages.link_places(text) for text in marked)
    assert not any(languages.PLACE_START in text for text in plain)


@pytest.mark.parametrize("name", catalogue.find_all())
def test_labels_have_no_marks(name: str) -> None:
    rules, random = catalogue.find(name), Random(1)
    state, _ = game.begin(rules, options.parse(rules.META.options, {}), 2, chance.make_from_random(random))
    narrator = Narrator(rules, NAMES, marked=True)
    texts = [narrator.describe_board(rules.view(state, 0))]
    for seat in range(2):
        for move in list(iter_moves(rules.menu(state, seat)))[:20]:
            texts += [narrator.label_verb(move.verb), *(narrator.label_token(move.verb, token) for token in move.args)]
    assert not any(languages.PLACE_START in one for one in texts)


def test_a_sentence_is_escaped_and_its_places_are_links() -> None:
    text = f"<i> to {languages.mark_place('B2', 'the <inn>')}"
    link = '<a class="place" href="#stage" data-at="B2" data-name="B2">the &lt;inn&gt;</a>'
    assert languages.link_places(text) == f"&lt;i&gt; to {link}"
