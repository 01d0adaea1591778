"""Every route is tried, also those that will be added later."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
import structlog
from flask import Flask
from flask.testing import FlaskClient
from markupsafe import escape
from sqlalchemy import select, update
from sqlalchemy import text as sql
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.routing import Rule

from engine import catalogue
from engine.refusal import Refused
from engine.table import RESERVED_VERBS
from service import create_app
from service.app import App
from service.memory import LRU
from service.store.schema import mailbox, seats
from service.tables import access, seat_commands, submitting
from service.tables.opening import Invitee
from service.text.templates import TEMPLATES
from tests import apps
from tests.busy_app import BusyApp
from tests.sites import Site
from workers import referee
from workers.outgoing import personal_letters
from workers.outgoing.letter import LetterRequest

Word = TypeVar("Word")

HOSTILE = ("\0", "9" * 25, "x" * 3_000, "é\u202e\ud7ff\r\nBcc: x@example.org", "٣")
FOR_DATABASES = HOSTILE[
    :3
]  # PostgreSQL keeps no NUL, and measures numbers and texts; the rest is tried on SQLite alone
FINE = {"name": "Zoe", "address": "zoe@example.org", "move": "resign", "verb": "", "bots": "1", "letters": "none"}
BODIES = (
    '{"game": "kaiser", "players": [{"name": "Zoe", "address": "zoe@example.org"}, {"name": "Bot"}], "key": ODD}',
    '{"game": "kaiser", "players": [{"name": ODD, "address": "zoe@example.org"}, {"name": "Bot"}]}',
    '{"game": "kaiser", "players": [{"name": "Zoe", "address": ODD}], "options": {"rounds": ODD}}',
    '{"game": ODD, "players": ODD, "clock": {"pace": ODD}}',
    '{"move": "resign", "seen": ODD}',
    '{"move": ODD, "key": ODD}',
    '{"nonce": ODD}',
)
ODD = (r'"\u0000"', r'"\ud800"', '["a"]', "9" * 400, '"' + "x" * 1_900 + '"', "{}", "1e400", '"\ud800"')
PUBLIC = {
    "static",
    "static_unversioned",
    "lobby.send_picture",
    "rules.send_picture",
    "previews.send_lesson",
    "devices.show_worker",
}  # the same for everybody
TAGGED_TYPES = ("text/html", "application/json", "image/svg+xml", "text/plain")


@pytest.fixture(autouse=True)
def short() -> Iterator[None]:
    """Log each fault in one line; many tracebacks would make the sweeps slow."""
    with structlog.testing.capture_logs():
        yield


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusyApp]:
    """An app with tables of many kinds, for tests that change nothing."""
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        yield BusyApp(app)


class Sample(NamedTuple):
    """How many odd words are tried in each place, and at every how many-th route of each database."""

    words: int
    routes: int


FEW, SOME, ALL = Sample(1, 4), Sample(1, 2), Sample(99, 1)


@pytest.fixture(
    params=[FEW, pytest.param(SOME, marks=pytest.mark.release), pytest.param(ALL, marks=pytest.mark.soak)],
    ids=["few", "some", "all"],
)
def sample(request: pytest.FixtureRequest) -> Sample:
    return request.param


def pick_words(words: Sequence[Word], number: int, place: str) -> Iterator[Word]:
    """Pick this number of words; the choice depends on the place alone."""
    first = zlib.crc32(place.encode())
    yield from (words[(first + step) % len(words)] for step in range(min(number, len(words))))


def list_routes(busy: BusyApp, method: str, sample: Sample) -> list[Rule]:
    """Return all routes in a soak; otherwise some on SQLite and others on PostgreSQL."""
    first = int(busy.app.store.engine.name == "postgresql") if sample.routes > 1 else 0
    return busy.list_routes(method)[first :: sample.routes]


def spoil_values(rule: Rule, gaps: dict[str, Any], sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield the values of a route, with a hostile word in place of each in turn."""
    for name in gaps:
        yield from (gaps | {name: word} for word in pick_words(HOSTILE, sample.words, f"{rule} {name}"))


def find_faults(visitor: FlaskClient, method: str, path: str, **request: Any) -> list[str]:
    """Open a page; return the request if it causes an error of the server."""
    response = visitor.open(path, method=method, **request)
    response.close()
    return [f"{method} {path[:80]} {request!r:.200}"] if response.status_code >= 500 else []


def test_get_requests_change_nothing_in_the_database(any_app: App) -> None:
    busy = BusyApp(any_app)
    visitor, before, seen = busy.new_visitor(), busy.dump_database(), set()
    for rule in busy.list_routes("GET"):
        for gaps in busy.list_values(rule):
            with visitor.get(busy.fill_route(rule, gaps)) as response:
                seen |= {rule.endpoint} if response.status_code < 400 else set()
    assert busy.dump_database() == before
    assert seen >= {rule.endpoint for rule in busy.list_routes("GET")} - {
        "mailbox.send_picture",
        "api.submission",
        "previews.describe",
    }


def test_odd_addresses_cause_no_server_error(any_app: App, sample: Sample) -> None:
    busy = BusyApp(any_app)
    visitor, faults = busy.new_visitor(), list[str]()
    for method in ("GET", "POST"):
        for rule in list_routes(busy, method, sample):
            for gaps in spoil_values(rule, next(busy.list_values(rule)), sample):
                faults += find_faults(visitor, method, busy.fill_route(rule, gaps))
    assert faults == []


def test_odd_queries_cause_no_server_error(any_app: App, sample: Sample) -> None:
    busy = BusyApp(any_app)
    visitor, faults = busy.new_visitor(), list[str]()
    for rule in list_routes(busy, "GET", sample):
        for gaps, name, word in list_odd_fields(busy, rule, sample):
            faults += find_faults(visitor, "GET", busy.fill_route(rule, gaps), query_string={name: [word, word]})
    assert faults == []


def test_odd_forms_cause_no_server_error(any_app: App, sample: Sample) -> None:
    busy = BusyApp(any_app)
    faults = list[str]()
    for rule in list_routes(busy, "POST", sample):
        for gaps, name, word in list_odd_fields(busy, rule, sample):
            path, form = busy.fill_route(rule, gaps), {**FINE, name: [word, word]}
            faults += find_faults(busy.new_visitor(), "POST", path, data=form, query_string={name: word})
    assert faults == []


def list_odd_fields(busy: BusyApp, rule: Rule, sample: Sample) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield each field of a route with odd words; for other links to the same route, only one field and word."""
    first, *others = busy.list_values(rule)
    words = HOSTILE if busy.app.store.engine.name == "sqlite" else FOR_DATABASES
    for name in busy.list_fields(rule):
        place = f"{rule} {name}"
        yield from ((first, name, word) for word in pick_words(words, sample.words, place))
        yield from ((gaps, name, "\0") for gaps in pick_words(others, sample.words, place))


def test_odd_json_causes_no_server_error(any_app: App) -> None:
    busy = BusyApp(any_app)
    visitor, faults = busy.new_visitor(), list[str]()
    for rule in busy.list_routes("POST"):
        path = busy.fill_route(rule, next(busy.list_values(rule)))
        for body in (body.replace("ODD", word) for body in BODIES for word in ODD):
            sent = {"data": body.encode("utf-8", "surrogatepass"), "content_type": "application/json"}
            faults += find_faults(visitor, "POST", path, **sent) if rule.endpoint.startswith("api.") else []
    assert faults == []


# Private pages


def test_no_page_shows_what_belongs_to_another(busy: BusyApp) -> None:
    visitor, secrets = busy.flask_app.test_client(), busy.list_secrets()
    readers = {link: access.find(busy.app, link) for link in busy.links.values()}
    for rule in busy.list_routes("GET"):
        for gaps in busy.list_values(rule) if "link" in rule.arguments else ():
            place = readers[gaps["link"]]
            text = visitor.get(busy.fill_route(rule, gaps)).data.decode(errors="replace")
            others = [secret for seat, own in secrets.items() if seat != (place.table, place.seat) for secret in own]
            mine = secrets.get((place.table, place.seat or 0), []) if place.seat is not None else []
            shown = [secret for secret in others if secret in text and secret not in mine]
            assert shown == [], f"{rule.rule} of {gaps['link']}"


def test_a_spectator_reads_no_talk_and_gets_no_private_link(busy: BusyApp) -> None:
    visitor = busy.flask_app.test_client()
    for name in ("watch", "gallery"):
        for rule in busy.list_routes("GET"):
            gaps = {"link": busy.links[name], "seq": 1}
            if rule.arguments and rule.arguments <= gaps.keys():
                text = visitor.get(busy.fill_route(rule, gaps)).data.decode(errors="replace")
                leaks = [word for word in ("said by", "/wishes/", "/offer/", "/join/") if word in text]
                assert leaks == [], rule.rule
                assert name == "watch" or busy.app.links.make_watch_token(busy.shown[0].table) not in text


def test_a_game_that_was_taken_down_is_on_no_page(app: App) -> None:
    busy = BusyApp(app)
    visitor, link, table = busy.new_visitor(), busy.links["gallery"], busy.shown[0].table
    ways = [
        busy.fill_route(rule, {"link": link, "table": table, "seq": 1})
        for rule in busy.list_routes("GET")
        if rule.arguments & {"link", "table"} and rule.arguments <= {"link", "table", "seq"}
        if rule.endpoint != "account.go_to_table"  # which leads its player to the own seat
    ]
    before = [visitor.get(way).status_code for way in ways]
    apps.change(app, seat_commands.release, busy.shown[0], False)
    after = [visitor.get(way).status_code for way in ways]
    assert before.count(200) >= 10
    assert set(after) == {404}


def test_private_pages_are_stored_in_no_shared_cache(busy: BusyApp) -> None:
    visitor = busy.new_visitor()
    for method in ("GET", "POST"):
        for rule in busy.list_routes(method):
            gaps = next(busy.list_values(rule)) if method == "GET" else dict.fromkeys(rule.arguments, "x")
            with visitor.open(busy.fill_route(rule, gaps), method=method) as response:
                caching = response.headers["Cache-Control"]
                assert rule.endpoint in PUBLIC or "no-store" in caching or "private" in caching, rule.rule


def test_every_answer_has_its_headers(busy: BusyApp) -> None:
    visitor = busy.new_visitor()
    for rule in busy.list_routes("GET"):
        for gaps in (next(busy.list_values(rule)), dict.fromkeys(rule.arguments, "x")):
            with visitor.get(busy.fill_route(rule, gaps)) as response:
                values = [response.headers[name] for name in ("Referrer-Policy", "X-Content-Type-Options")]
                assert [*values, response.headers["X-Robots-Tag"]] == ["same-origin", "nosniff", "noindex"]
                policy = response.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy or rule.endpoint == "mailbox.send_body"


# Forms


FOREIGN = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),  # a program
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://games.example.org"}, 303),
        ({"Origin": "https://games.example.org"}, 303),  # an old browser
        ({"Origin": "http://127.0.0.1:8765"}, 303),  # the address of the settings, where a proxy changes the host
        ({"Sec-Fetch-Site": "same-site", "Origin": "https://other.example.org"}, 403),
        (FOREIGN, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://["}, 403),  # no address
        ({"Origin": "null"}, 403),  # a page that hides where it is from
    ],
)
def test_only_forms_of_our_own_pages_are_accepted(app: App, headers: dict[str, str], status: int) -> None:
    visitor, form = create_app(app).test_client(), {"name": "Anna", "bots": "1"}
    sent = {"data": form, "headers": headers, "base_url": "https://games.example.org"}
    assert visitor.post("/play/kaiser", **sent).status_code == status


def test_no_form_of_another_site_does_anything_except_what_programs_send(app: App) -> None:
    busy = BusyApp(app)
    visitor, before = busy.new_visitor(), busy.dump_database()
    open_to_all = {
        rule.endpoint
        for rule in busy.list_routes("POST")
        if visitor.post(busy.fill_route(rule, dict.fromkeys(rule.arguments, "1")), headers=FOREIGN).status_code != 403
    }
    assert open_to_all == {"preferences.stop", "api.open_table", "api.sit", "api.submit", "api.hint"}
    assert busy.dump_database() == before


def test_a_fault_is_logged_without_the_link_that_led_to_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, link = BusyApp(app), "a" * 32
    monkeypatch.setattr(access, "find_place", lambda db, link: 1 / 0)
    with structlog.testing.capture_logs() as lines:
        assert busy.flask_app.test_client().get(f"/t/{link}").status_code == 500
    assert lines
    assert link not in "".join(str(line | {"exc_info": ""}) for line in lines)


def test_a_fault_of_the_database_tells_no_values(any_app: App) -> None:
    with pytest.raises(SQLAlchemyError) as fault, any_app.store.writing() as connection:
        connection.execute(sql("INSERT INTO nowhere VALUES (:address)"), {"address": "anna@example.org"})
    assert "anna" not in str(fault.value)


# Visitors


def visit(flask_app: Flask, sender: str) -> int:
    form, headers = {"address": "anna@example.org"}, {"X-Forwarded-For": sender, "X-Forwarded-Proto": "https"}
    return flask_app.test_client().post("/enter", data=form, headers=headers).status_code


@pytest.mark.parametrize(("proxies", "statuses"), [(0, [200, 429, 429]), (1, [200, 429, 200])])
def test_visitors_behind_a_trusted_web_server_are_counted_separately(
    tmp_path: Path, proxies: int, statuses: list[int]
) -> None:
    chosen = apps.make_settings(tmp_path, opens_per_hour=1, proxies=proxies)
    with apps.run_app(chosen, apps.FakeTime()) as app:
        flask_app = create_app(app)
        assert [visit(flask_app, sender) for sender in ("10.0.0.1", "9.9.9.9, 10.0.0.1", "10.0.0.2")] == statuses


# Texts of people

HEADERS = set(
    "From To Reply-To Subject Date Message-ID In-Reply-To References X-Depesche Auto-Submitted "
    "X-Auto-Response-Suppress List-Id Feedback-ID "
    "List-Unsubscribe List-Unsubscribe-Post MIME-Version Content-Type Content-Language".split()
)
OWN_ADDRESS = "own@example.org"


def test_no_page_picture_or_letter_takes_words_from_a_text_that_escapes_nothing() -> None:
    bare = re.compile(r"""{%-?\s*(?:import|from|include|extends)\s+["'][^"']+\.txt["']""")
    files = [path for path in TEMPLATES.rglob("*") if path.suffix in (".html", ".svg")]
    assert [path.name for path in files if bare.search(path.read_text())] == []
    assert len(files) > 20


def letters_of(site: Site) -> Iterator[Any]:
    """All letters as they left."""
    with site.app.store.reading() as connection:
        for raw in connection.execute(select(mailbox.c.raw)).scalars():
            yield message_from_bytes(raw, policy=default)


ENCODED_HEADERS = ("=?utf-8?q?=0ABcc:xy?=", "=?utf-8?q?a=0D=0A=0D=0AHello=21?=", "=?utf-8?b?CkJjYzogeEB5Lm9yZw==?=")


@pytest.mark.parametrize("name", ['<i onx="1">&\'', "Anna <xy>, y", "{{ 7*7 }}%s{x}", 'ü"\\,;:', *ENCODED_HEADERS])
def test_a_name_is_a_name_on_every_page_and_in_every_letter(tmp_path: Path, name: str) -> None:
    site = Site(tmp_path)
    guests = [Invitee(name, OWN_ADDRESS), Invitee("Bert", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    for link in opened.links:
        submitting.submit(site.app, access.find(site.app, link), "sit word", "sit")
    for number in (0, 1):
        apps.say(site.app, access.find(site.app, opened.links[number]), name)
        apps.change(site.app, seat_commands.store_note, access.find(site.app, opened.links[number]), name)
    site.submit(opened, site.list_moves(opened)[0])
    site.submit(opened, "resign", 0)
    visitor = site.new_visitor()
    for page in ("", "/replay", "/whatif", "/replay/frame"):
        shown = visitor.get(f"/t/{opened.links[1]}{page}")
        assert "<i onx" not in shown
        assert page == "/whatif" or str(escape(name)) in shown
    site.store_letters()
    for letter in letters_of(site):
        assert '<i onx="' not in letter.get_body(("html",)).get_content()
        assert [one.addr_spec for one in letter["To"].addresses] in (["bert@example.org"], [OWN_ADDRESS])
        assert letter["To"].addresses[0].display_name in (name.replace("=?", "= ?"), "Bert")
        assert set(letter.keys()) <= HEADERS
        assert not letter.defects
    site.app.close()


@pytest.mark.parametrize("kind", ["enter", "confirm", "replaced"])
def test_letters_to_a_person_escape_names_too(tmp_path: Path, kind: str) -> None:
    site, name = Site(tmp_path), '<i onx="1">&'
    guests = [Invitee(name, OWN_ADDRESS), Invitee("Bert <b>", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    rest = {"enter": str(site.time), "confirm": opened.table, "replaced": f"{opened.table}/1/1"}[kind]
    person = site.load(opened).seats[0].person
    with site.app.store.writing() as connection:
        connection.execute(update(seats).values(proven=False, status="taken"))
    letter = personal_letters.write(
        site.app, LetterRequest("", 0, 0, f"{kind}/{rest}", OWN_ADDRESS, name, person=person)
    )
    assert letter
    page = letter.get_body(("html",))
    assert page
    assert '<i onx="' not in page.get_content()
    assert "Bert <b>" not in page.get_content()
    site.app.close()


def test_odd_commands_cause_no_fault_of_the_referee(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    verbs = [*sorted({*RESERVED_VERBS, *seat_commands.COMMANDS, move.split()[0]} - {"resign"}), "resign"]
    for verb in verbs:
        for words in (*HOSTILE, "", "0", "2027-02-30 x", "9999-12-31 9999-12-31", "0 0 0", "x " * 500):
            with suppress(Refused):
                verdict = apps.submit(app, place, f"{verb} {words}")
                assert verdict.why != referee.FAULT, f"{verb} {words[:30]}"


@pytest.mark.parametrize("name", catalogue.find_all())
def test_half_a_move_however_odd_is_shown_without_a_fault(site: Site, name: str) -> None:
    opened = site.start_table("Anna", "Bert", "Cleo", game=name)
    verbs, link = {move.split()[0] for move in site.list_moves(opened)}, opened.links[site.find_mover(opened)]
    odd = ("zzz", "-1", "1,2 9", "a:b:c", ",", "()", "0", *HOSTILE[:2])
    client, path = site.flask_app.test_client(), f"/t/{link}"
    for say in (f"{verb} {words}" for verb in verbs for words in odd):
        assert client.get(path, query_string={"say": say}).status_code == 200, say


# Cached boards


@pytest.mark.parametrize("name", catalogue.find_all())
def test_a_cached_board_equals_a_new_drawing(site: Site, name: str) -> None:
    opened = site.start_table("Anna", "Bert", "Cleo", game=name)
    for _ in range(6):
        site.submit(opened, site.list_moves(opened)[0])
    readers = [*((link, "en") for link in opened.links), (opened.links[0], "de"), (opened.watch, "en")]
    last = site.load(opened).row.length - 1
    paths = ("", f"/replay/frame?at={last}")
    cached = [read_boards(site, link, tongue, paths) for link, tongue in readers]
    again = [read_boards(site, link, tongue, paths) for link, tongue in reversed(readers)]
    assert again[::-1] == cached
    for (link, tongue), board in zip(readers, cached, strict=True):
        site.app.caches.boards = LRU(200)
        assert read_boards(site, link, tongue, paths) == board


def read_boards(site: Site, link: str, tongue: str, paths: tuple[str, ...]) -> list[str]:
    """Return the boards that this reader sees, as pictures and as text."""
    client, pictures = site.flask_app.test_client(), list[str]()
    for path in paths:
        text = client.get(f"/t/{link}{path}", headers={"Accept-Language": tongue}).text
        pictures += re.findall(r"<svg.*?</svg>|<pre.*?</pre>", text, re.DOTALL)
    return pictures
