"""The guide for players says the same in every language, and all of it is true: commands, labels, pictures."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import pytest
from markdown_it.token import Token

from engine import menu as menus
from engine import table as tables
from engine.menu import Move
from service.app import App
from service.store.batch import Batch
from service.tables import submitting
from service.tables.locked_table import LockedTable, lock_table
from service.text import move_words, rulebook, translation_catalogues
from service.text.languages import LANGUAGES, SOURCE, load_translations
from service.text.move_words import Vocabulary
from service.text.rulebook import FOLDER, STATIC, load_guide, make_markdown
from service.text.templates import TEMPLATES
from tests import apps
from workers.incoming import mail_commands, mail_orders
from workers.incoming.mail_commands import RESIGN, list_options, parse_line
from workers.incoming.move_parser import NewRemark

every_language = pytest.mark.parametrize("language", LANGUAGES)
every_translation = pytest.mark.parametrize("language", [one for one in LANGUAGES if one != SOURCE])
TABLE_COMMANDS = ("undo", "agree", "refuse", "pause", "resume", "back")
LABEL = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)


def iter_tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from iter_tokens(token.children or [])


def parse_guide(language: str) -> list[Token]:
    return list(iter_tokens(make_markdown().parse((FOLDER / f"{language}.md").read_text("utf-8"))))


def list_outline(language: str) -> list[str]:
    """List the headings by their level, and in their places the pictures (one for each language), tables and lists."""
    kinds = {"heading_open", "tr_open", "bullet_list_open", "ordered_list_open", "list_item_open", "code_block"}
    outline = [token.tag if token.type in kinds else token.attrs.get("src") for token in parse_guide(language)]
    return [str(one).replace(f"-{language}.webp", ".webp") for one in outline if one]


def list_commands(language: str) -> list[str]:
    """List the commands that the guide shows: all code, except addresses of pages."""
    codes = [token.content.strip() for token in parse_guide(language) if token.type in ("code_inline", "code_block")]
    return [code for code in codes if not code.startswith("/")]


def list_labels(language: str) -> list[str]:
    return [" ".join(label.split()) for label in LABEL.findall((FOLDER / f"{language}.md").read_text("utf-8"))]


@functools.cache
def list_page_texts() -> frozenset[str]:
    """List the texts on all pages, in English."""
    paths = [*(TEMPLATES / "pages").glob("*.html"), TEMPLATES / "table" / "sentences.txt"]
    return frozenset(
        text for path in paths for text in translation_catalogues.iter_messages(path) if isinstance(text, str)
    )


@pytest.fixture
def locked(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LockedTable, ...]]:
    """Tables for all commands of the guide: one gathers players, one is played, one is over.

    At the second one all commands of a table are possible at once.
    """

    def list_all(table: LockedTable, seat: int) -> menus.Menu:
        return (*tables.menu(table.game, table.position, seat), *menus.make_menu(*TABLE_COMMANDS), RESIGN)

    gathering, playing = apps.open_table(app)[0], start_with_first_seat(app)
    over = apps.start_table(app)[0]
    submitting.submit(app, over, "resign")
    apps.referee.run()
    monkeypatch.setattr(mail_commands, list_options.__name__, list_all)
    with app.store.writing() as db:
        batch = Batch(db)
        yield tuple(lock_table(app, batch, place.table) for place in (gathering, playing, over))


def start_with_first_seat(app: App) -> apps.Place:
    """Start tables until the first seat begins at one, as in the example of a move."""
    while True:
        place = apps.start_table(app)[0]
        snapshot = apps.load_table(app, place.table)
        if tables.menu(snapshot.game, snapshot.position, 0):
            return place


def parse(locked: tuple[LockedTable, ...], line: str, language: str) -> tuple[str, ...]:
    """Parse a line at each table, with the words of one language alone; an empty result means no command."""
    vocabulary = move_words.make_vocabulary(locked[0].game, ("Anna", "Berta"), language)
    return tuple(parse_at(table, line, vocabulary) for table in locked)


def parse_at(table: LockedTable, line: str, vocabulary: Vocabulary) -> str:
    if order := mail_orders.parse_order(line, vocabulary):
        return " then ".join((*order.given, order.own))
    match parse_line(table.position, mail_commands.list_options(table, 0), line, lambda: None, vocabulary):
        case Move("order", args):
            return f"order {parse_at(table, ' '.join(args), vocabulary)}"
        case Move() as move:
            return str(move)
        case NewRemark():
            return "say"
    return ""


@every_translation
def test_every_language_has_the_same_headings_pictures_and_tables(language: str) -> None:
    assert list_outline(language) == list_outline(SOURCE)


@every_language
def test_every_heading_has_an_anchor_of_its_own(language: str) -> None:
    keys = [heading.key for heading in load_guide(language).headings]
    assert len(set(keys)) == len(keys)
    assert re.findall(r'<h2 id="([^"]+)">', load_guide(language).html) == keys


def test_every_command_is_understood_and_means_what_the_guide_says(locked: tuple[LockedTable, ...]) -> None:
    english = [parse(locked, command, SOURCE) for command in list_commands(SOURCE)]
    assert all(map(any, english))
    for language in LANGUAGES:
        commands = list_commands(language)
        assert len(commands) == len(english)
        for command, meaning in zip(commands, english, strict=True):
            assert parse(locked, command, language) == meaning, f"{language}: {command}"


def test_words_that_are_no_command_are_noticed(locked: tuple[LockedTable, ...]) -> None:
    assert any(parse(locked, "terugnemen", "nl"))
    assert not any(parse(locked, "terugnemen", "de"))


@every_language
def test_every_label_is_on_a_page(language: str) -> None:
    catalogue = load_translations(language)
    assert set(list_labels(SOURCE)) <= list_page_texts()
    assert sorted(list_labels(language)) == sorted(catalogue.gettext(label) for label in list_labels(SOURCE))


@every_language
def test_every_picture_exists(language: str) -> None:
    pictures = [str(token.attrs["src"]) for token in parse_guide(language) if token.type == "image"]
    assert len(pictures) == 4
    assert all((TEMPLATES / "static" / name.removeprefix(STATIC)).is_file() for name in pictures)


def test_markup_stays_text_and_addresses_of_pages_are_links() -> None:
    page = rulebook.parse_guide("# T\n\n## A <b>?\n\n<script>x</script> `/my` `undo`\n")
    assert "<script" not in page.html
    assert '<a href="/my"><code>/my</code></a> <code>undo</code>' in page.html
    assert '<h2 id="a-b">' in page.html
