"""The event loop stores moves and awaits their verdicts without a thread; Flask's views give the same answers."""

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from urllib.parse import urlencode

import pytest
import structlog
from msgspec.structs import replace
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError

from service import create_app
from service.app import App
from service.store.schema import submissions, tables
from service.tables import submitting
from service.tables.access import Place
from service.tables.submitting import LinkedMove, MoveIntake
from tests import apps
from tests.web_server import Answer, ServedApp
from workers import referee

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
NUMBER = re.compile(r"(?<=said=)\d+|(?<=\"submission\":)\d+")
OF_ONE_ANSWER = ("date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset")


class MoveSite(ServedApp):
    """A served app whose referee judges at once, unless `judging` is False."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self.judging = True
        app.wakeups.wake = self._judge  # type: ignore[method-assign]

    def _judge(self, queue: str) -> bool:
        if queue == "referee" and self.judging:
            referee.run()
        return True

    def post(self, path: str, body: bytes, **headers: str) -> Answer:
        return self.send("POST", path, body, **headers)

    def move(self, place: Place, move: str, key: str = "", **headers: str) -> Answer:
        body = json.dumps({"move": move, "key": key}).encode()
        return self.post(f"/api/v1/t/{place.link}/moves", body, **{"Content-Type": JSON, **headers})

    def find_move(self) -> tuple[Place, str]:
        return apps.find_move(self.app, apps.start_table(self.app))

    def count_waiting(self) -> int:
        with self.app.store.reading() as db:
            return db.execute(select(func.count()).where(submissions.c.accepted.is_(None))).scalar_one()


@pytest.fixture
def site(any_app: App) -> Iterator[MoveSite]:
    any_app.settings = replace(any_app.settings, verdict_wait=5.0, moves_per_minute=10)
    site = MoveSite(any_app)
    with site.serving():
        yield site


def ask_flask(site: MoveSite, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    answer = create_app(site.app).test_client(use_cookies=False).post(path, data=body, headers=headers)
    return answer.status_code, {name.lower(): text for name, text in answer.headers.items()}, answer.data


def drop_own(answer: Answer) -> Answer:
    """Leave out of an answer what differs between two submissions of the same move: numbers and times."""
    status, headers, body = answer
    kept = {name: NUMBER.sub("N", text) for name, text in headers.items() if name not in OF_ONE_ANSWER}
    return status, kept, NUMBER.sub("N", body.decode()).encode()


def find_last_number(site: MoveSite) -> int:
    with site.app.store.reading() as db:
        return int(db.execute(select(func.max(submissions.c.id))).scalar_one())


def compare(site: MoveSite, kind: str, path: str, body: bytes, **headers: str) -> Answer:
    """Return the answer of the server, which is that of Flask, without numbers."""
    sent = {"Content-Type": kind, "Host": "localhost", **headers}
    ours = drop_own(site.post(path, body, **sent))
    assert ours == drop_own(ask_flask(site, path, body, sent))
    return ours


def test_a_move_that_is_accepted_is_answered_without_a_thread(site: MoveSite) -> None:
    (first, move), (second, other) = site.find_move(), site.find_move()
    ours = drop_own(site.move(first, move, Host="localhost"))
    assert site.flask_calls == 0
    body = json.dumps({"move": other, "key": ""}).encode()
    headers = {"Content-Type": JSON, "Host": "localhost"}
    assert ours == drop_own(ask_flask(site, f"/api/v1/t/{second.link}/moves", body, headers))
    assert ours[0] == 200
    assert json.loads(ours[2].replace(b"N", b"0"))["accepted"]


@pytest.mark.parametrize("chosen", [{}, {"Accept-Language": "de"}, {"Cookie": "language=fr"}])
def test_a_refusal_is_in_the_language_of_the_reader(site: MoveSite, chosen: dict[str, str]) -> None:
    place, _ = site.find_move()
    answer = compare(site, JSON, f"/api/v1/t/{place.link}/moves", b'{"move":"fly to the moon"}', **chosen)
    assert (answer[0], site.flask_calls) == (422, 0)


def test_a_form_leads_back_to_the_page(site: MoveSite) -> None:
    place, move = site.find_move()
    path = f"/t/{place.link}"
    status, headers, _ = compare(site, FORM, path, urlencode({"verb": "fly", "arg": "high", "seen": 3}).encode())
    assert (status, headers["location"], site.flask_calls) == (303, f"{path}?said=N", 0)
    _, headers, _ = site.post(path, urlencode({"move": move, "key": "one"}).encode(), **{"Content-Type": FORM})
    assert apps.get_verdict(site.app, submitting.StoredSubmission(place.table, find_last_number(site))).accepted
    again = site.post(path, urlencode({"move": move, "key": "one"}).encode(), **{"Content-Type": FORM})
    assert again[1]["location"] == headers["location"]


@pytest.mark.parametrize(
    ("status", "kind", "body", "headers"),
    [
        (400, JSON, b"{", {}),
        (422, JSON, b'{"move":7}', {}),
        (422, JSON, b'{"move":"\\u0000"}', {}),
        (422, JSON, b'{"move":""}', {}),
        (415, "text/plain", b'{"move":"pass"}', {}),
        (422, JSON, b'{"move":"' + b"x" * 2_001 + b'"}', {}),
    ],
)
def test_what_is_no_move_is_left_to_flask(
    site: MoveSite, status: int, kind: str, body: bytes, headers: dict[str, str]
) -> None:
    place, _ = site.find_move()
    assert compare(site, kind, f"/api/v1/t/{place.link}/moves", body, **headers)[0] == status
    assert site.flask_calls == 1


def test_a_link_that_leads_nowhere_is_left_to_flask(site: MoveSite) -> None:
    watch = site.app.links.make_watch_token(site.find_move()[0].table)
    for link, status in (("nowhere", 404), (watch, 422)):
        assert compare(site, JSON, f"/api/v1/t/{link}/moves", b'{"move":"pass"}')[0] == status
        assert compare(site, FORM, f"/t/{link}", b"move=pass")[0] == status


def test_a_table_that_was_transferred_takes_no_moves(site: MoveSite) -> None:
    place, move = site.find_move()
    with site.app.store.writing() as db:
        db.execute(update(tables).values(moved_to="https://other.example"))
    assert site.move(place, move)[0] == 410


def test_a_form_of_another_site_is_refused(site: MoveSite) -> None:
    place, move = site.find_move()
    before = find_last_number(site)
    body, path = urlencode({"move": move}).encode(), f"/t/{place.link}"
    assert compare(site, FORM, path, body, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert compare(site, FORM, path, body, Origin="https://evil.example")[0] == 403
    assert find_last_number(site) == before


def test_all_ways_to_move_have_one_limit(site: MoveSite) -> None:
    place, _ = site.find_move()
    path = f"/api/v1/t/{place.link}/moves"
    answers = [site.post(path, b'{"move":"fly"}', **{"Content-Type": JSON}) for _ in range(5)]
    answers += [site.post(f"/t/{place.link}", b"move=fly", **{"Content-Type": FORM}) for _ in range(5)]
    answers += [site.post(path, b'{"move":', **{"Content-Type": JSON}), site.move(place, "fly")]
    assert [status for status, _, _ in answers] == [422] * 5 + [303] * 5 + [429] * 2
    assert [answer[1]["x-ratelimit-remaining"] for answer in answers] == [*map(str, range(9, -1, -1)), "0", "0"]
    assert int(answers[-1][1]["retry-after"]) <= 60


def test_the_same_key_is_the_same_submission(site: MoveSite) -> None:
    place, move = site.find_move()
    answers = [site.move(place, move, "once") for _ in range(2)]
    assert answers[0][2] == answers[1][2]


def test_without_a_verdict_in_time_a_program_learns_where_to_ask(site: MoveSite) -> None:
    place, move = site.find_move()
    site.app.settings = replace(site.app.settings, verdict_wait=0.05)
    site.judging = False
    status, headers, body = site.move(place, move)
    assert (status, json.loads(body)["accepted"]) == (202, None)
    referee.run()
    answer = create_app(site.app).test_client().get(headers["location"])
    assert answer.json
    assert answer.json["accepted"]


def test_a_verdict_that_got_lost_is_in_the_database(site: MoveSite, monkeypatch: pytest.MonkeyPatch) -> None:
    place, move = site.find_move()
    site.app.settings = replace(site.app.settings, verdict_wait=0.05)
    monkeypatch.setattr(site.app.verdicts, "publish", lambda _: None)
    assert site.move(place, move)[0] == 200


def test_a_database_that_fails_is_an_error_of_the_server(site: MoveSite, monkeypatch: pytest.MonkeyPatch) -> None:
    place, move = site.find_move()

    def fail(*_: object) -> None:
        raise OperationalError("", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(submitting, "store_moves", fail)
        status, headers, body = site.move(place, move)
    assert (status, headers["retry-after"]) == (503, "5")
    assert "refused" in json.loads(body)
    assert site.move(place, move)[0] == 200


def test_moves_that_wait_hold_no_thread(site: MoveSite) -> None:
    """The server has four threads; while more moves than that wait for the referee, pages are served."""
    moves = [site.find_move() for _ in range(8)]
    site.judging = False
    answers = list[int]()
    threads = [threading.Thread(target=lambda one=one: answers.append(site.move(*one)[0])) for one in moves]
    for thread in threads:
        thread.start()
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=3)) as connection:
        connection.request("GET", "/healthz")
        assert connection.getresponse().status == 200
    assert answers == []
    until = time.monotonic() + 4
    while site.count_waiting() < len(moves) and time.monotonic() < until:
        time.sleep(0.02)
    referee.run()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8


def test_requests_are_logged_by_their_route(site: MoveSite) -> None:
    place, _ = site.find_move()
    site.app.settings = replace(site.app.settings, logs="json")
    with structlog.testing.capture_logs() as lines:
        site.move(place, "fly")
    (line,) = [line for line in lines if line["event"] == "request"]
    assert (line["route"], line["status"], line["method"]) == ("/api/v1/t/<link>/moves", 422, "POST")
    assert place.link not in str(line)


# The intake


def make_moves(app: App, number: int) -> list[LinkedMove]:
    found = [apps.find_move(app, apps.start_table(app)) for _ in range(number)]
    return [LinkedMove(place.link, move, f"key {at}", None) for at, (place, move) in enumerate(found)]


def test_moves_of_many_links_are_stored_together(any_app: App) -> None:
    first, second, third = make_moves(any_app, 3)
    unknown = LinkedMove("nowhere", "pass", "key", None)
    stored = submitting.store_moves(any_app, [first, unknown, second, third, third])
    assert [one is not None for one in stored[:4]] == [True, False, True, True]
    assert submitting.store_moves(any_app, [first]) == [None]  # its key is known
    referee.run()
    for one in (stored[0], stored[2], stored[3]):
        assert one
        assert apps.get_verdict(any_app, one).accepted


def test_an_intake_calls_the_referee_once_for_what_it_stored(any_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    moves, woken, outcomes, done = make_moves(any_app, 3), list[str](), list[object](), threading.Semaphore(0)
    monkeypatch.setattr(any_app.wakeups, "wake", woken.append)
    intake, release = MoveIntake(any_app), threading.Event()

    def receive(outcome: object) -> None:
        outcomes.append(outcome)
        release.wait()  # the intake's thread, so that the others gather
        done.release()

    for move in moves:
        intake.add(move, receive)
    release.set()
    for _ in moves:
        assert done.acquire(timeout=10)
    assert all(outcomes)
    assert len(woken) < 3
