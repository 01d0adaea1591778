"""Places in prose: links on a page, plain words everywhere else."""

from random import Random

import pytest

from engine import bots, catalogue, chance, game, options
from engine.menu import iter_moves
from service.text import sentences
from service.text.languages import LANGUAGES
from service.text.narration import Narrator

NAMES = ("Anna", "Émile <b>")


def told(name: str, narrator: Narrator) -> list[str]:
    """What a voice says of the events of a random game."""
    found = catalogue.find(name)
    chosen = options.parse(found.META.options, {})
    events = [event for one in bots.playout(found, chosen, 2, b"a word") for event in one[3]]
    return [said for event in events[:400] if (said := narrator.describe(event))]


@pytest.mark.parametrize("name", catalogue.find_all())
@pytest.mark.parametrize("language", LANGUAGES)
def test_marked_prose_says_the_same_and_names_places(name: str, language: str) -> None:
    found = catalogue.find(name)
    plain, marked = (told(name, Narrator(found, NAMES, language, marked=marks)) for marks in (False, True))
    assert [sentences.remove_place_marks(said) for said in marked] == plain
    assert any("data-at=" in sentences.link_places(said) for said in marked)
    assert not any(sentences.FIRST in said for said in plain)


@pytest.mark.parametrize("name", catalogue.find_all())
def test_labels_bear_no_marks(name: str) -> None:
    found, random = catalogue.find(name), Random(1)
    state, _ = game.begin(found, options.parse(found.META.options, {}), 2, chance.make_from_random(random))
    narrator = Narrator(found, NAMES, marked=True)
    said = [narrator.describe_board(found.view(state, 0))]
    for seat in range(2):
        for move in list(iter_moves(found.menu(state, seat)))[:20]:
            said += [narrator.label_verb(move.verb), *(narrator.label_token(move.verb, token) for token in move.args)]
    assert not any(sentences.FIRST in one for one in said)


def test_a_sentence_is_escaped_and_its_places_are_links() -> None:
    said = f"<i> to {sentences.mark_place('B2', 'the <inn>')}"
    link = '<a class="place" href="#stage" data-at="B2">the &lt;inn&gt;</a>'
    assert sentences.link_places(said) == f"&lt;i&gt; to {link}"
