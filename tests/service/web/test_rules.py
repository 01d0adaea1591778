"""Every paragraph of the rules has an address, and every citation leads to it."""

from __future__ import annotations

import re

import pytest
from markupsafe import Markup

from engine import catalogue
from engine.options import describe
from service import create_app
from service.tables import submitting
from service.text import rulebook, rulebook_checks
from service.text.languages import LANGUAGES
from tests import apps
from tests.sampling import pair_in_turn

every_game = pytest.mark.parametrize("game", catalogue.find_all().values(), ids=catalogue.find_all().keys())


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        yield create_app(app).test_client()


def ids(page: str) -> set[str]:
    return set(re.findall(r'<h[23] id="([\w.]+)"', page))


@every_game
def test_every_paragraph_of_a_game_has_an_address_and_is_in_the_contents(visitor, game):
    page = visitor.get(f"/rules/{game.META.name}").text
    book = rulebook.load_rulebook(game.META.name)
    assert ids(page) == set(book.by_key)
    contents = re.search(r'<nav class="sheet contents".*?</nav>', page, re.DOTALL)
    assert set(re.findall(r'href="#([\w.]+)"', contents[0])) == set(book.by_key)


@every_game
def test_everything_the_rules_link_to_is_there(game):
    book = rulebook.load_rulebook(game.META.name)
    assert set(re.findall(r'href="#([^"]*)"', book.html)) <= set(book.by_key)
    assert not re.search(rf'href="(?!#|https://|/rules/{game.META.name}#)', book.html)


def test_the_list_leads_to_every_game_and_every_page_to_the_list(visitor):
    shelf = visitor.get("/rules").text
    for game in catalogue.find_all().values():
        assert f'href="/rules/{game.META.name}"' in shelf
        assert f'href="/rules/{game.META.name}"' in visitor.get("/").text
    assert 'href="/rules"' in visitor.get("/mailbox").text


@pytest.mark.parametrize(("game", "language"), pair_in_turn(catalogue.find_all(), LANGUAGES, pytest.mark.release))
def test_everybody_reads_the_book_in_the_own_language(visitor, game, language):
    page = visitor.get(f"/rules/{game}", headers={"Accept-Language": language}).text
    assert f'<article class="sheet rules" lang="{language}">' in page
    assert 'class="note"' not in page


def test_a_book_without_translation_is_marked_as_english_with_a_notice(visitor, monkeypatch):
    english = rulebook.load_rulebook("kaiser")
    monkeypatch.setattr(rulebook, "load_rulebook", lambda name, language: english)
    page = visitor.get("/rules/kaiser", headers={"Accept-Language": "nl"}).text
    assert '<article class="sheet rules" lang="en">' in page
    assert 'class="note"' in page


@every_game
def test_every_picture_of_a_book_is_drawn(visitor, game):
    page = visitor.get(f"/rules/{game.META.name}").text
    addresses = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', page)
    assert addresses
    for address, alt in addresses:
        drawn = visitor.get(address)
        assert drawn.content_type.startswith("image/svg+xml")
        assert drawn.text.lstrip().startswith("<svg")
        assert alt


@pytest.mark.parametrize("address", ["kaiser/xx/capture-before.svg", "kaiser/en/none-before.svg", "kaiser/9.9"])
def test_what_a_book_does_not_have_is_said_in_one_sentence(visitor, address):
    answer = visitor.get(f"/rules/{address}")
    assert answer.status_code == 404
    assert "there is no" in answer.text.casefold()


def test_a_paragraph_can_be_read_by_itself_with_its_picture_and_its_rulings(visitor):
    page = visitor.get("/rules/kaiser/5.1", headers={"Accept-Language": "de"}).text
    assert ids(page) == {"5.1"}
    assert "/rules/kaiser/de/fortress-after.svg" in page
    assert "<b>E14</b>" in page
    assert 'href="/rules/kaiser#5.1"' in page


@every_game
def test_every_game_has_its_rules_on_one_page(visitor, game):
    page = visitor.get(f"/rules/{game.META.name}/short")
    assert page.status_code == 200
    assert ids(page.text) == {"short"}
    assert f'href="/rules/{game.META.name}/short"' in visitor.get(f"/rules/{game.META.name}").text


def test_rules_of_an_unknown_game_say_where_to_look(visitor):
    answer = visitor.get("/rules/chess")
    assert answer.status_code == 404
    assert "the list of rules" in answer.text


@every_game
def test_every_option_on_the_form_leads_to_its_paragraph(visitor, game):
    page = visitor.get(f"/new/{game.META.name}").text
    for option in describe(game.META.options):
        assert f'href="/rules/{game.META.name}#{option.rule}"' in page


def test_moves_refusals_and_the_options_of_a_table_lead_to_their_paragraphs(tmp_path):
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        places = apps.start_table(app)
        place, _ = apps.find_move(app, places)
        client = create_app(app).test_client()
        submission = submitting.submit(app, place, "move A1 A99")
        apps.referee.run()
        page = client.get(f"/t/{place.link}?said={submission.number}").text
    alert = re.search(r'role="alert".*?</div>', page, re.DOTALL)
    assert 'href="/rules/kaiser#2.1"' in alert[0]
    offers = re.search(r'<details class="offers".*?</details>', page, re.DOTALL)
    assert 'href="/rules/kaiser#2.1"' in offers[0]
    assert 'href="/rules/kaiser#6.3"' in page


def test_markup_in_a_rulebook_stays_text_and_links_lead_nowhere_odd():
    book = rulebook.parse_rulebook(
        "# T\n\n## 1 One\n\n### 1.1 A <b>\n<script>x</script> [a](javascript:x) [b](http://x.org)\n"
    )
    assert "<script" not in book.html
    assert "<b>" not in book.html
    assert "<a href=" not in book.html.replace('<a href="#1', "")


def test_a_table_is_a_table_and_code_is_code():
    book = rulebook.parse_rulebook("# T\n\n## 1 One\n\n| a | b |\n|---|---|\n| 1 | `c` |\n")
    assert "<td><code>c</code></td>" in book.html


def test_only_paragraphs_that_are_there_become_links():
    book = rulebook.parse_rulebook("# T\n\n## 1 One\n\n### 1.1 A\nSee §1.1, §9 and as in 1.1; in 2.5 seconds.\n")
    assert book.html.count('<a href="#1.1">') == 2
    assert "§9" in book.html
    assert "in 2.5 seconds" in book.html


def test_a_sentence_that_cites_is_escaped_and_linked():
    linked = rulebook.link_citations("Coins <i> (§7, §8.1)", "/rules/x")
    assert linked == Markup(
        'Coins &lt;i&gt; (<a class="rule" href="/rules/x#7">§7</a>, <a class="rule" href="/rules/x#8.1">§8.1</a>)'
    )


@every_game
def test_every_thing_on_a_board_has_a_paragraph(visitor, game):
    things = visitor.get(f"/rules/{game.META.name}/things.json").get_json()
    assert {one["rule"] for one in things} <= rulebook.load_rulebook(game.META.name).numbers
    drawn = "".join(visitor.get(f"/learn/{game.META.name}/{number}").text for number in (1, 2, 3, 4))
    tokens = {token.split()[-1] for token in re.findall(r'data-token="([^"]+)"', drawn)}
    names = tokens | set(re.findall(r'data-piece="([^"]+)"', drawn))
    assert names
    assert {name for name in names if not any(re.fullmatch(one["pattern"], name) for one in things)} == set()


def test_what_is_only_added_to_a_game_prints_from_pages_of_its_own(visitor):
    page = visitor.get("/rules/carcassonne").text
    added = re.findall(r'<div class="addition"><section><h2 id="(\d+)">', page)
    chapters = [one.key for one in rulebook_checks.load_manuscript("carcassonne", "en").sections if one.key.isdecimal()]
    assert added == [chapter for chapter in chapters if int(chapter) >= 6]
    assert 'id="6"' in visitor.get("/rules/carcassonne/6").text
    assert "addition" not in visitor.get("/rules/kaiser").text
