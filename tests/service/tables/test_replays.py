"""Replays: quick to step through, with only what one could see, and taken away as text."""

from __future__ import annotations

import gzip
import json
import re
import statistics
import time
from collections import deque
from random import Random

import pytest

from engine import catalogue, record
from service import create_app
from service.commands.benches import Visitor
from service.memory import LRU
from service.tables import access
from service.tables.history import replays
from service.tables.history.replays import Archive, Viewpoint
from service.tables.snapshots import TurnIndex
from service.text import lessons, templates
from service.text.drawing import Scene, list_players
from service.text.narration import Narrator
from service.web import warm_up
from service.web.lobby_pages import draw_board
from tests import apps


def start_at_end(app, game, seats, chosen=None):
    """The path of the first seat at a finished table, and its entries."""
    sample = lessons.start_sample(catalogue.find(game), seats, b"replay", chosen or {})
    deque(lessons.play_randomly(sample, Random(3)), maxlen=0)
    table = Archive(app.store, app.links).import_(sample.export(game))
    return f"/t/{app.links.make_seat_token(table, 0, 0)}", sample


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        yield app


@pytest.fixture(scope="module")
def visitor(app):
    return create_app(app).test_client()


@pytest.fixture(scope="module")
def finished(app):
    """A finished game with hidden hands."""
    return start_at_end(app, "turfmaster", 2)


# Earlier positions


def test_every_earlier_position_is_what_its_entries_add_up_to(app):
    places = apps.start_table(app)
    for number in range(40):
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, "undo" if number % 11 == 10 else move).accepted
        if number % 11 == 10:
            assert apps.submit(app, apps.find_waiting(app, [place, *places]), "agree").accepted
    snapshot = apps.load_table(app, places[0].table)
    entries = apps.load_entries(app, snapshot)
    order = list(range(2, len(entries)))
    Random(1).shuffle(order)
    for seq in order:
        assert apps.load_past(app, snapshot, seq) == record.fold(snapshot.game, entries, seq + 1), seq


def test_a_position_kept_by_a_transaction_that_never_was_is_not_used(app):
    places = apps.start_table(app)
    for _ in range(20):
        apps.submit(app, *apps.find_move(app, places))
    snapshot = apps.load_table(app, places[0].table)
    right = apps.load_past(app, snapshot, 17)
    app.caches.earlier_positions.put((snapshot.row.id, 16), ("another receipt", record.Table(game="never", length=16)))
    assert apps.load_past(app, snapshot, 17) == right


def test_a_step_late_in_a_long_game_costs_little_more_than_an_early_one(app, visitor):
    path, sample = start_at_end(app, "kaiser", 3, {"rounds": 4})
    last = len(sample.entries) - 1
    assert last > 900
    visitor.get(f"{path}/replay")

    def measure(at):
        app.caches.boards = LRU(200)
        start = time.perf_counter()
        assert visitor.get(f"{path}/replay/frame?at={at}").status_code == 200
        return time.perf_counter() - start

    early, late = ([measure(begin + step) for step in range(25)] for begin in (20, last - 40))
    assert statistics.median(late) < 3 * statistics.median(early)


# Turns and rounds


def make_index(*moves):
    bodies = [json.dumps({"at": 1, "seat": seat, "move": move, "more": 1}) for seat, move in moves]
    return TurnIndex().extend(bodies[:4]).extend(bodies[4:])


GAME = (
    (None, "open kaiser"),
    (None, "sit 0 word"),
    (None, "start"),
    (1, "move A1 A2"),
    (1, "figure x"),
    (0, "move"),
    (None, "expire 1 pass"),
    (0, "undo"),
    (1, "agree"),
    (0, "move"),
    (1, "move"),
)


def test_a_round_begins_with_each_turn_of_a_seat_and_a_turn_may_be_several_moves():
    assert make_index(*GAME).first == 2
    assert make_index(*GAME).list_round_starts(1) == (3, 6, 10)
    assert make_index(*GAME).list_round_starts(0) == (5, 9)
    assert make_index(*GAME).list_round_starts(None) == (3, 6, 10)


def test_since_my_last_move_is_what_comes_after_it_if_anything_does():
    assert make_index(*GAME).find_first_after(0) == 10
    assert make_index(*GAME).find_first_after(1) is None
    assert make_index(*GAME).find_first_after(None) is None
    assert make_index(*GAME).find_first_after(3) is None


def test_what_happened_since_my_last_move_can_be_stepped_through_from_the_table(app):
    places = apps.start_table(app, 3)
    for _ in range(7):
        apps.submit(app, *apps.find_move(app, places))
    place, _ = apps.find_move(app, places)
    client, length = create_app(app).test_client(), apps.count_entries(app, place)
    link = re.search(r'href="([^"]*/replay\?since=(\d+))"', client.get(f"/t/{place.link}").text)
    assert int(link[2]) == length - 2
    page = client.get(link[1]).text
    assert "<h1>Since your last move</h1>" in page
    assert f'data-first="{length - 2}" data-last="{length - 1}" data-at="{length - 2}"' in page
    assert f'href="/t/{place.link}/replay?at={length - 1}&amp;since={length - 2}"' in page
    whole = client.get(f"/t/{place.link}/replay").text
    assert f"/replay?since={length - 2}" in whole
    from_the_beginning = client.get(f"/t/{place.link}/replay?since=0").text
    first = re.search(r'data-first="(\d+)" data-last="\d+" data-at="(\d+)"', from_the_beginning)
    assert first[1] == first[2]


def test_rounds_lead_to_where_they_begin(app, finished):
    _, sample = finished
    snapshot = apps.load_table(app, "turfmaster")
    frame = apps.load(app, replays.load_frame, snapshot, Viewpoint(0, "en"), 60)
    start = frame.rounds
    assert start
    assert all(sample.entries[seq].seat == 0 for seq in start)
    assert frame.before == max(seq for seq in start if seq < 60)
    assert frame.after == min(seq for seq in start if seq > 60)
    assert start[frame.round - 1] <= 60 < start[frame.round]


# Whose eyes


def test_a_frame_is_the_page_without_its_surroundings(visitor, finished):
    path, _ = finished
    page, frame = (visitor.get(f"{path}/{tail}?at=50") for tail in ("replay", "replay/frame"))
    assert frame.text.strip() in page.text
    assert "Set-Cookie" not in frame.headers


def test_after_the_end_the_game_is_seen_through_anybodys_eyes(app, visitor, finished):
    path, sample = finished
    game, then = sample.game, sample.rebuild_before(60)
    names = list_players([f"Seat {seat + 1}" for seat in range(2)])
    for eyes, query in ((0, ""), (1, "&as=1"), (None, "&as=all"), (0, "&as=7"), (0, "&as=x")):
        scene = Scene(game, game.view(then.state, eyes), names, eyes)
        alt = Narrator(game, [one.name for one in names], "en", eyes).describe_board(scene.view)
        page = visitor.get(f"{path}/replay/frame?at=59{query}").text
        assert alt.replace("'", "&#39;") in page
    hands = [sample.game.view(then.state, eyes) for eyes in (0, 1, None)]
    assert hands[0] != hands[1] != hands[2]


def test_before_the_end_a_player_sees_no_other_view(app):
    places = apps.start_table(app)
    client = create_app(app).test_client()
    own = re.findall(r"<svg.*?</svg>", client.get(f"/t/{places[0].link}/replay/frame").text, re.DOTALL)
    for query in ("1", "all", "0"):
        page = client.get(f"/t/{places[0].link}/replay/frame?as={query}").text
        assert "Seen by" not in page
        assert re.findall(r"<svg.*?</svg>", page, re.DOTALL) == own


# Plain text


def test_the_whole_game_in_words(visitor, finished):
    path, sample = finished
    answer = visitor.get(f"{path}/log.txt")
    assert answer.mimetype == "text/plain"
    assert answer.headers["Content-Disposition"] == 'inline; filename="turfmaster-turfmaster.txt"'
    text = answer.text
    assert text.startswith("TurfMaster\n==========\n")
    for entry in sample.entries:
        assert f"{entry.seq:>4}  " in text
        assert entry.move in text
    assert sample.seed.hex() in text
    assert sample.export("turfmaster").head in text
    assert max(len(line) for line in text.splitlines() if line.startswith("      ")) <= 80
    assert visitor.get(f"{path}/log.txt", headers={"Accept-Language": "de"}).text.count("Spieler: ") == 1


def test_a_text_taken_in_the_middle_of_a_game_holds_what_that_seat_may_know(tmp_path):
    with apps.run_app(apps.make_settings(tmp_path), apps.FakeTime()) as app:
        guests = [apps.Invitee(name, f"{name}@example.org") for name in ("Anna", "Berta")]
        opened = apps.open_new(app, "turfmaster", {}, guests, 0)
        places = [access.find(app, link) for link in opened.links]
        for place in places:
            apps.submit(app, place, "sit word")
        snapshot, client = apps.load_table(app, opened.table), create_app(app).test_client()
        texts = [client.get(f"/t/{link}/log.txt").text for link in (*opened.links, opened.watch)]
        assert len(set(texts)) == 3
        assert all(snapshot.row.seed.hex() not in text and "not over" in text for text in texts)


# On its way


def test_tables_frames_and_pictures_travel_compressed_and_other_pages_with_forms_do_not(visitor, finished):
    path, _ = finished
    squeezed = {"Accept-Encoding": "gzip"}
    for address in (
        path,
        "/",
        f"{path}/replay/frame?at=30",
        "/picture/kaiser.svg",
        "/static/verify.mjs",
        f"{path}/log.json",
    ):
        plain = visitor.get(address, buffered=True)
        small = visitor.get(address, headers=squeezed, buffered=True)
        assert small.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(small.data) == plain.data
        assert "Content-Encoding" not in plain.headers
        assert "Accept-Encoding" in plain.vary
    assert "Content-Encoding" not in visitor.get(f"{path}/replay", headers=squeezed).headers


def test_a_style_that_has_not_changed_is_not_sent_again(visitor):
    squeezed = {"Accept-Encoding": "gzip"}
    tag = visitor.get("/static/depesche.css", headers=squeezed, buffered=True).headers["ETag"]
    again = visitor.get("/static/depesche.css", headers={**squeezed, "If-None-Match": tag}, buffered=True)
    assert again.status_code == 304


def test_a_first_visit_is_light(app):
    assert Visitor(app).visit("/") < 100_000


def test_templates_and_pictures_are_ready_before_the_first_visitor():
    warm_up()
    assert draw_board.cache_info().currsize >= len(catalogue.find_all())
    start = time.process_time()
    templates.get_environment.__wrapped__("de", "kaiser").get_template("games/kaiser/board.svg")
    assert time.process_time() - start < 0.1
