"""Books: four languages that hold together, and pictures of what is checked."""

from __future__ import annotations

import shutil

import pytest

from engine import catalogue, scenario
from service.text import lessons, rulebook, rulebook_checks
from service.text.languages import LANGUAGES

every_game = pytest.mark.parametrize("name", catalogue.find_all())


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A copy of the book of Kaiser that can be spoiled."""
    shutil.copytree(catalogue.get_folder("kaiser") / "book", tmp_path / "book")
    monkeypatch.setattr(catalogue, "get_folder", lambda name: tmp_path)
    return tmp_path / "book"


def change(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@every_game
def test_the_languages_of_a_book_hold_together_and_nothing_is_out_of_date(name):
    assert list(rulebook_checks.find_problems(name)) == []


@every_game
def test_a_book_begins_with_what_a_player_wants_to_know(name):
    keys = [section.key for section in rulebook_checks.load_manuscript(name, "en").sections]
    assert keys[:5] == ["aim", "turn", "round", "mail", "short"]
    assert keys[5] == "1"


@every_game
def test_every_example_file_is_shown_in_the_book(name):
    shown = {one for section in rulebook_checks.load_manuscript(name, "en").sections for one in section.examples}
    assert {path.stem for path in lessons.get_folder(name).glob("*.toml")} == shown


def test_every_box_of_carcassonne_has_a_chapter_with_a_picture_and_the_first_new_ones_a_lesson():
    sections = rulebook_checks.load_manuscript("carcassonne", "en").sections
    chapters = {section.key for section in sections if section.key.isdigit()} - {"1", "2"}
    shown = {section.key.partition(".")[0] for section in sections if section.examples}
    assert len(chapters) > 30
    assert chapters <= shown
    taught = {
        name for lesson in lessons.load_lessons("carcassonne") for name, on in lesson.scenario.options.items() if on
    }
    assert {"bridges_castles", "tower", "princess_dragon", "revolts", "wheel"} <= taught


def test_a_copy_of_a_sound_book_is_sound(book):
    assert list(rulebook_checks.find_problems("kaiser")) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("nl.md", "### 5.4 ", "### 5.5 ", "nl: its sections are others, or in another order: 5.4, 5.5."),
        ("de.md", "](blocked)", "](capture)", "de: 2.3 has examples capture; in English blocked."),
        ("fr.md", "commence. [^E12]", "commence.", "fr: 1.5 has marks none; in English E12."),
        (
            "de.md",
            "gewinnt Anna die Runde (§5.2)",
            "gewinnt Anna die Runde",
            "de: round has citations none; in English 5.2.",
        ),
        ("en.md", "Chance decides who begins.", "The youngest begins.", "nl: 1.5 is out of date"),
        ("en.md", "](blocked)", "](absent)", "en: 2.3 shows absent, which is no file."),
        ("en.md", "(§5.2)", "(§9.9)", "en: round cites §9.9, which is not there."),
        (
            "nl.md",
            "`zet A1 vesting`",
            "`zet A1 fortress`",
            "nl: mail has the move “zet A1 fortress”;",
        ),
        ("fr.md", "* `déplacer A10 B12`", "* `move A10 B12`", "letters write “déplacer A10 B12”."),
        ("de.md", "Sie heißt auch `Z`", "Sie heißt auch Z", "de: mail has 2 words in backticks; in English 3."),
        ("nl.md", "### 1.5 Wie begint", "### Wie begint", "“Wie begint” has neither a number nor a name."),
    ],
)
def test_each_fault_of_a_book_is_reported(book, file, old, new, problem):
    change(book / file, old, new)
    assert any(problem in one for one in rulebook_checks.find_problems("kaiser"))


def test_a_line_left_in_english_is_found(book):
    english = "Without your emperor you are out and can no longer win the round."
    change(book / "nl.md", "Zonder keizer ben je uitgeschakeld en kun je de ronde niet meer winnen.", english)
    assert any("4.3 is untranslated" in one for one in rulebook_checks.find_problems("kaiser"))


def test_a_missing_translation_is_reported(book):
    (book / "fr.md").unlink()
    assert "kaiser, fr: there is no translation." in list(rulebook_checks.find_problems("kaiser"))


def test_a_translation_that_was_checked_again_is_up_to_date(book):
    change(book / "en.md", "Chance decides who begins.", "A die decides who begins.")
    for language in rulebook_checks.TRANSLATIONS:
        rulebook_checks.record_check("kaiser", language)
    assert list(rulebook_checks.find_problems("kaiser")) == []


def test_where_lines_are_broken_does_not_matter(book):
    before = rulebook_checks.compute_digests(rulebook_checks.load_manuscript("kaiser", "en"))
    change(book / "en.md", "Chance decides who begins.", "Chance decides\nwho begins.")
    assert rulebook_checks.compute_digests(rulebook_checks.load_manuscript("kaiser", "en")) == before


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_tells_moves_and_refusals_in_the_words_of_its_reader(language):
    figure = lessons.render_example("kaiser", "opening", language, rulebook.Markup("x"))
    move = {"en": "move A11 A5", "nl": "zet A11 A5", "de": "ziehe A11 A5", "fr": "déplacer A11 A5"}[language]
    assert f"<code>{move}</code>" in figure
    assert 'href="/rules/kaiser#2.1"' in figure
    assert ("move B12" in figure) == (language == "en")


def test_what_a_picture_asks_for_is_lit_and_cropped():
    reach = lessons.draw_picture("kaiser", "reach_king", "en", "before")
    assert reach.count('class="movable"') == 6
    assert 'viewBox="-20' in reach


def test_a_picture_shows_what_the_scenario_came_to():
    *_, last = scenario.play_steps(lessons.load_scenario("kaiser", "capture"))
    assert last.state.stones["A3"].rank == "king"
    assert 'class="trail"' in lessons.draw_picture("kaiser", "capture", "en", "after")
