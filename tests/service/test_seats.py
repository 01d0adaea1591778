"""Seats are counted in one way: from 0 for programs, from 1 where players read or write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine import catalogue, menu
from engine.contract.cases import Case, make_cases, play_case, sample
from service import create_app
from service.app import App
from service.cli import main
from service.text import drawing, move_words
from service.text.drawing import Scene
from service.text.narration import Narrator
from tests import apps

GOLDEN = Path(__file__).parents[1] / "golden"
SEAT = re.compile(r"\bseat (\d+)\b", re.IGNORECASE)


@pytest.mark.parametrize("case", make_cases(list(catalogue.find_all().values())), ids=str)
def test_a_token_for_a_seat_counts_from_1(case: Case) -> None:
    stems = move_words.load_dictionary(f"games/{case.game.META.name}").seats
    for position in sample(play_case(case, b"a lantern"), 40):
        for seat in range(case.seats):
            for entry in case.game.menu(position.state, seat):
                for token in (
                    (token for move in menu.iter_moves((entry,)) for token in move.args) if entry.count() < 500 else ()
                ):
                    stem, number = re.fullmatch(r"(.*?)(\d*)", token).groups()  # type: ignore[union-attr]
                    assert stem not in stems or 1 <= int(number) <= case.seats, token


@pytest.mark.parametrize("game", catalogue.find_all())
def test_what_players_read_names_seats_from_1(game: str) -> None:
    case = next(case for case in make_cases([catalogue.find(game)]))
    names = [f"Seat {seat + 1}" for seat in range(case.seats)]
    narrator, numbers = Narrator(case.game, names), set[int]()
    for position in sample(play_case(case, b"a lantern"), 40):
        public_events = (case.game.hear(event, None) for event in position.events)
        scene = Scene(case.game, case.game.view(position.state, None), drawing.list_players(names))
        texts = [narrator.describe(event) for event in public_events if event is not None]
        texts += [narrator.describe_board(scene.view), drawing.draw_board_text(scene)]
        numbers.update(int(number) for text in texts for number in SEAT.findall(text))
    assert numbers == set(range(1, case.seats + 1))


def test_the_json_interface_counts_from_0_and_says_so(app: App) -> None:
    client: FlaskClient = create_app(app).test_client()
    schemas = json.loads(client.get("/api/v1/openapi.json").text)["components"]["schemas"]
    assert "counted from 0" in schemas["Seen"]["properties"]["seat"]["description"]
    seen = [client.get(f"/api/v1/t/{place.link}").get_json()["seat"] for place in apps.start_table(app)]
    assert seen == [0, 1]


def test_the_command_line_counts_from_0_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("export", "replay"):
        main([command, "--help"])
        assert "counted from 0" in " ".join(capsys.readouterr().out.split())
    log = next((GOLDEN / "kaiser").glob("*.json"))
    assert main(["replay", str(log), "--at", "1", "--seat", "99"]) != 0
    assert "its seats are 0 to" in capsys.readouterr().err
