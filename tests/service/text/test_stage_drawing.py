"""Boards taken apart for the page: a game without mats of its own is all world."""

import importlib
import re
from xml.etree import ElementTree

import pytest

from engine import catalogue
from engine.contract.cases import play_case
from engine.games import carcassonne, kaiser
from engine.games.carcassonne.state import TilePlaced
from engine.games.carcassonne.tiles import ROWS
from service.text import drawing, narration, templates
from service.text.templates import TEMPLATES
from tests.board_tokens import list_tokens
from tests.engine.cases import make_cases


def scene() -> drawing.Scene:
    case = next(case for case in make_cases() if case.game is kaiser)
    state = next(iter(play_case(case, b"a lantern"))).state
    players = drawing.list_players(["Anna", "Bert", "Clara", "Dora"][: case.seats])
    return drawing.Scene(kaiser, kaiser.view(state, 0), players, 0, kaiser.menu(state, 0))


def test_a_game_that_draws_one_picture_only_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_has_world", lambda *_: False)
    monkeypatch.setattr(
        drawing, "draw_board_svg", lambda _: '<svg viewBox="0 0 9 9"><g data-token="A1" class="spot"/></svg>'
    )
    shown = drawing.draw_stage(scene())
    drawn = ElementTree.fromstring(shown.world)
    assert drawn.get("data-stage") == ""
    assert drawn.get("data-box") == drawn.get("viewBox")
    assert (shown.tray, shown.facts, shown.more) == ("", "", "")
    assert list_tokens(scene()) == ["A1"]


def test_old_pictures_name_what_can_be_touched_by_its_id() -> None:
    picture = '<svg viewBox="0 0 9 9"><g id="A1" class="spot"/></svg>'
    assert 'data-token="A1" class="spot"' in drawing._make_world(picture)


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr"])
def test_a_tile_is_described_without_its_number_and_place(language: str) -> None:
    narrator = narration.Narrator(carcassonne, ["Anna", "Bert"], language)
    sentences = {tile: narrator.describe(TilePlaced(tile, "-3,-2", 0, 0)) for tile in ROWS}
    assert all("-3,-2" not in sentence and sentence.endswith(".") for sentence in sentences.values())
    assert len(set(sentences.values())) > 15


@pytest.mark.parametrize("name", catalogue.find_all())
def test_drawings_use_only_names_that_the_board_module_has(name: str) -> None:
    files = [path for path in (TEMPLATES / "games" / name).rglob("*") if path.is_file()]
    names = {word for path in files for word in re.findall(r"\bboard\.([A-Za-z_]+)", path.read_text("utf-8"))}
    board = importlib.import_module(f"{catalogue.find(name).__name__}.board")
    assert [word for word in names - {"svg", "txt"} if not hasattr(board, word)] == []


@pytest.mark.parametrize(
    ("name", "most", "short"),
    [
        ("Bot (fort)", 10, "Bot (fort)"),
        ("Bot 1 (stark)", 12, "Bot 1"),
        ("Hendrik-Jan", 9, "Hendrik-…"),
        ("Maximiliane (Wien)", 9, "Maximili…"),
    ],
)
def test_a_name_is_shortened_from_its_brackets_on(name: str, most: int, short: str) -> None:
    assert templates.shorten_name(name, most) == short
