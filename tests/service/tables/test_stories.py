"""A finished game has a story: its chances in the replay, its turning points and its draws in the last letter."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import update

from engine import bots, story
from engine import table as tables
from service.memory import LRU
from service.store.schema import stories as rows
from service.tables.access import Place
from service.tables.history import game_story
from service.tables.opening import Invitee, OpenedTable
from service.text import drawing
from tests import apps
from tests.sites import PageChecker, Site, Visitor
from workers import bots as thinkers
from workers.outgoing import game_review, table_letters
from workers.outgoing.letter import LetterRequest
from workers.outgoing.suggestions import MoveWriter

BUTTON = "Ask a bot where it turned"
CHANCES = r"(?s)How the chances went.*?([▁-█]+) Anna\b.*?([▁-█]+) Bert\b"


@pytest.fixture(scope="module", autouse=True)
def few_evaluations() -> Iterator[None]:
    """Search the turning points less deep than in production: where they are is tested with the engine."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(story, "GAIN_EVALUATIONS", 200)
        patched.setattr(story, "MAX_EVALUATIONS", 2_000)
        yield


def finish_game(site: Site) -> OpenedTable:
    """Play a game of Kurier between two persons to its end, with random moves."""
    guests = [Invitee(name, f"{name}@example.org", "word") for name in ("Anna", "Bert")]
    opened, random = apps.open_new(site.app, "kurier", {}, guests, 0), Random(3)
    while (snapshot := site.load(opened)).position.phase == "playing":
        seat = tables.find_seats_to_move(snapshot.game, snapshot.position)[0]
        move = bots.pick_random_move(tables.menu(snapshot.game, snapshot.position, seat), random)
        site.submit(opened, str(move), seat)
    return opened


@pytest.fixture(scope="module")
def finished_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, OpenedTable]:
    """The folder of a site where a game is finished; each test has a copy."""
    folder = tmp_path_factory.mktemp("finished_site")
    site = Site(folder)
    opened = finish_game(site)
    site.app.close()
    return folder, opened


@pytest.fixture
def finished_table(tmp_path: Path, finished_site: tuple[Path, OpenedTable]) -> OpenedTable:
    shutil.copytree(finished_site[0], tmp_path, dirs_exist_ok=True)
    return finished_site[1]


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """The app of a test, with the finished game if the test asks for one."""
    if "finished_table" in request.fixturenames:
        request.getfixturevalue("finished_table")
    site = Site(tmp_path)
    yield site
    site.app.close()


@pytest.fixture(scope="module")
def last_letter(
    tmp_path_factory: pytest.TempPathFactory, finished_site: tuple[Path, OpenedTable]
) -> Iterator[LastLetter]:
    folder, opened = finished_site
    site = Site(shutil.copytree(folder, tmp_path_factory.mktemp("site"), dirs_exist_ok=True))
    yield LastLetter(site, opened)
    site.app.close()


class LastLetter:
    """A finished game whose story is computed once, and its last letter in any language."""

    def __init__(self, site: Site, opened: OpenedTable) -> None:
        self._app = site.app
        self.snapshot = site.load(opened)
        self.write("en")
        self.story = game_story.load_or_compute(site.app, self.snapshot, fail)

    def write(self, language: str) -> EmailMessage:
        seq = self.snapshot.row.length - 1
        request = LetterRequest(self.snapshot.row.id, seq, 0, "over", "anna@example.org", "Anna", language)
        message = table_letters.write(self._app, request)
        assert message
        return message


def read_body(message: EmailMessage, kind: str = "plain") -> str:
    body = message.get_body((kind,))
    assert body
    return str(body.get_content())


def fail(*_: object) -> None:
    pytest.fail("the story is computed once")


def test_a_replay_shows_the_chances_only_when_the_game_is_over(
    site: Site, visitor: Visitor, finished_table: OpenedTable
) -> None:
    page = visitor.get(f"/t/{finished_table.links[0]}/replay")
    assert PageChecker(page).faults == []
    lines = re.findall(r'<polyline [^>]*points="([^"]+)"', page)
    assert len(lines) == 2
    snapshot = site.load(finished_table)
    points = apps.load(site.app, game_story._load_chance_history, snapshot)
    assert {len(line.split()) for line in lines} == {len(points)}
    winner = snapshot.position.places.index(1)
    assert f"{snapshot.names[winner]} <strong>100 %" in page
    page = visitor.get(f"/t/{finished_table.links[0]}/replay?at={snapshot.row.length // 2}")
    assert f"{snapshot.names[winner]} <strong>100 %" not in page
    guests = [Invitee(name, f"{name}@example.org", "word") for name in ("Anna", "Bert")]
    fresh = apps.open_new(site.app, "kurier", {}, guests, 0)
    assert "<polyline" not in visitor.get(f"/t/{fresh.links[0]}/replay")


def test_the_greatest_swings_of_the_chances_lead_to_their_entries(site: Site, finished_table: OpenedTable) -> None:
    snapshot = site.load(finished_table)
    points = apps.load(site.app, game_story._load_chance_history, snapshot)
    shares = {point.seq: point.shares for point in points}
    history = apps.load(site.app, game_story.load_chances, snapshot, 0)
    assert history
    assert 1 <= len(history.swings) <= game_story.MAX_SWINGS
    assert [swing.seq for swing in history.swings] == sorted({swing.seq for swing in history.swings})
    least = min(swing.after - swing.before for swing in history.swings)
    for one, other in pairwise(points):
        gain = max(then - now for now, then in zip(one.shares, other.shares, strict=True))
        assert other.seq in {swing.seq for swing in history.swings} or 100 * gain <= max(least + 1, 10)
    for swing in history.swings:
        assert round(100 * shares[swing.seq][swing.seat]) == swing.after
    page = site.new_visitor().get(f"/t/{finished_table.links[0]}/replay")
    for swing in history.swings:
        assert f'data-at="{swing.seq}" href="/t/{finished_table.links[0]}/replay?at={swing.seq}"' in page


def test_a_replay_shows_the_turning_points_on_request(
    site: Site, visitor: Visitor, finished_table: OpenedTable
) -> None:
    path, snapshot = f"/t/{finished_table.links[0]}/replay", site.load(finished_table)
    assert BUTTON in visitor.get(path)
    for _ in range(2):  # asked twice it is worked out once
        assert visitor.post(f"{path}/story").location == f"{path}#story"
    page = visitor.get(path)
    assert BUTTON not in page
    assert "A bot is going through the game" in page
    assert 'http-equiv="refresh"' in page
    assert game_story.list_requested(site.app) == [finished_table.table]
    thinkers.work_out_stories(site.app)
    assert game_story.list_requested(site.app) == []
    page = visitor.get(f"{path}?at=5")
    assert PageChecker(page).faults == []
    assert 'http-equiv="refresh"' not in page
    turning_points = game_story.load_or_compute(site.app, snapshot, fail).turning_points
    assert turning_points
    for point in turning_points:
        assert f"{snapshot.names[point.seat]}, entry {point.seq}: instead of “" in page
        assert f'data-at="{point.seq}" href="{path}?at={point.seq}"' in page
    assert re.search(r"Anna [+−]\d+\s%, Bert [+−]\d+\s%", page)
    german = site.new_visitor().client.get(path, headers={"Accept-Language": "de"}).text
    assert f"{snapshot.names[turning_points[0].seat]}, Eintrag {turning_points[0].seq}: statt " in german


def test_a_story_is_stored_and_computed_again_only_for_another_game(site: Site, finished_table: OpenedTable) -> None:
    snapshot, app = site.load(finished_table), site.app
    first = game_story.load_or_compute(app, snapshot, lambda work, *words: work(*words))
    app.caches.stories = LRU(200)
    assert game_story.load_or_compute(app, snapshot, fail) == first
    app.caches.stories = LRU(200)
    with app.store.writing() as connection:
        connection.execute(update(rows).values(length=snapshot.row.length - 1))
    assert apps.load(app, game_story.find_request, snapshot) is None
    apps.change(app, lambda db: game_story.request_story(app, db, Place(finished_table.table, 0, "")))
    assert apps.load(app, game_story.find_request, snapshot) == game_story.StoryRequest(None)
    thinkers.work_out_stories(app)
    assert apps.load(app, game_story.find_request, snapshot) == game_story.StoryRequest(first)


def test_a_story_that_cannot_be_worked_out_is_not_tried_for_ever(
    site: Site, visitor: Visitor, finished_table: OpenedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    apps.change(site.app, lambda db: game_story.request_story(site.app, db, Place(finished_table.table, 0, "")))
    with monkeypatch.context() as broken:
        broken.setattr(game_story, "make_story", lambda *_: 1 // 0)
        thinkers.work_out_stories(site.app)
    assert game_story.list_requested(site.app) == []
    assert BUTTON in visitor.get(f"/t/{finished_table.links[0]}/replay")


def test_a_game_that_goes_on_has_no_story(site: Site, visitor: Visitor) -> None:
    path = f"/t/{site.start_table().links[0]}/replay"
    assert BUTTON not in visitor.get(path)
    assert "are shown when it is over" in visitor.post(f"{path}/story").text


def test_the_last_letter_tells_where_the_game_turned_and_whom_luck_favoured(last_letter: LastLetter) -> None:
    text = " ".join(read_body(last_letter.write("en")).split())
    assert last_letter.story.turning_points
    assert "Where it turned" in text
    for point in last_letter.story.turning_points:
        assert f"“{point.better}”" in text
    assert re.search(r"Anna [+−]\d+ %, Bert [+−]\d+ %", text)


def test_the_last_letter_draws_how_the_chances_went(last_letter: LastLetter) -> None:
    message, places = last_letter.write("en"), last_letter.snapshot.position.places
    match = re.search(CHANCES, read_body(message))
    assert match
    rows = match.groups()
    assert {len(row) for row in rows} == {game_review.BARS_PER_ROW}
    assert [row[-1] for row in rows] == ["█" if place == 1 else "▁" for place in places]
    history = last_letter.story.chance_history
    middle = history[(len(history) - 1) // 2].shares
    assert [row[game_review.BARS_PER_ROW // 2 - 1] for row in rows] == [
        game_review.BAR_CHARACTERS[round(7 * share)] for share in middle
    ]
    attached = {
        str(part["Content-ID"]).strip("<>"): part.get_content() for part in message.walk() if part.get_filename()
    }
    shown = re.findall(r'<img src="cid:([^"]+)" alt="([^"]*)"', read_body(message, "html"))
    assert [cid for cid, _ in shown] == list(attached)
    assert all(picture.startswith(drawing.PNG_SIGNATURE) for picture in attached.values())
    ends = ["100 %" if place == 1 else "0 %" for place in places]
    assert re.fullmatch(rf"Anna: .* → {ends[0]}; Bert: .* → {ends[1]}", shown[-1][1])


@pytest.mark.parametrize("language", ["de", "nl", "fr"])
def test_the_turning_points_are_in_the_language_of_the_reader(last_letter: LastLetter, language: str) -> None:
    text = " ".join(read_body(last_letter.write(language)).split())
    writer = MoveWriter(last_letter.snapshot.game, last_letter.snapshot.names, language)
    for point in last_letter.story.turning_points:
        verb = point.better.split()[0]
        assert writer.write_verb(verb) != verb
        assert writer.write_phrase(point.better) in text
        assert re.search(rf"\b{re.escape(point.better)}\b", text) is None
