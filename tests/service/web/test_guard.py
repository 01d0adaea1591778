"""Every route is tried, also those that will be added later."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any, TypeVar

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
from service.lru import LRU
from service.store.schema import mailbox, seats
from service.tables import access, seat_commands, submitting, talk
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
PUBLIC = {"static", "lobby.picture", "rules.picture"}  # the same for everybody
TAGGED = ("text/html", "application/json", "image/svg+xml", "text/plain")


@pytest.fixture(autouse=True)
def short() -> Iterator[None]:
    """Faults are told in a line; the sweeps would else be slow in finding many."""
    with structlog.testing.capture_logs():
        yield


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BusyApp]:
    """A house that tests only look at."""
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        yield BusyApp(app)


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["some", "all"])
def sample(request: pytest.FixtureRequest) -> int:
    """How much is tried in each place: these many, which differ from place to place, and only in a soak all."""
    return 99 if request.param else 1


def some(words: Sequence[Word], number: int, place: str) -> Iterator[Word]:
    """So many of these, which it is hangs on the place and never changes."""
    first = zlib.crc32(place.encode())
    yield from (words[(first + step) % len(words)] for step in range(min(number, len(words))))


def routes(busy: BusyApp, method: str, sample: int) -> list[Rule]:
    """All routes; where not everything is tried, each on SQLite or on PostgreSQL."""
    rules = busy.list_routes(method)
    return rules if sample > 1 else rules[int(busy.app.store.engine.name == "postgresql") :: 2]


def spoilt(rule: Rule, gaps: dict[str, Any], sample: int) -> Iterator[dict[str, Any]]:
    """The gaps of a route with something hostile in each of them in turn."""
    for name in gaps:
        yield from (gaps | {name: word} for word in some(HOSTILE, sample, f"{rule} {name}"))


def faults(visitor: FlaskClient, method: str, path: str, **what: Any) -> list[str]:
    """What went wrong on our side."""
    response = visitor.open(path, method=method, **what)
    response.close()
    return [f"{method} {path[:80]} {what!r:.200}"] if response.status_code >= 500 else []


def test_looking_changes_nothing_anywhere(any_app: App) -> None:
    busy = BusyApp(any_app)
    visitor, before, seen = busy.new_visitor(), busy.dump_database(), set()
    for rule in busy.list_routes("GET"):
        for gaps in busy.list_values(rule):
            with visitor.get(busy.fill_route(rule, gaps)) as response:
                seen |= {rule.endpoint} if response.status_code < 400 else set()
    assert busy.dump_database() == before
    assert seen >= {rule.endpoint for rule in busy.list_routes("GET")} - {"mailbox.picture", "api.submission"}


def test_no_address_however_odd_is_too_much_for_us(any_app: App, sample: int) -> None:
    busy = BusyApp(any_app)
    visitor, found = busy.new_visitor(), list[str]()
    for method in ("GET", "POST"):
        for rule in routes(busy, method, sample):
            for gaps in spoilt(rule, next(busy.list_values(rule)), sample):
                found += faults(visitor, method, busy.fill_route(rule, gaps))
    assert found == []


def test_no_question_however_odd_is_too_much_for_us(any_app: App, sample: int) -> None:
    busy = BusyApp(any_app)
    visitor, found = busy.new_visitor(), list[str]()
    for rule in routes(busy, "GET", sample):
        for gaps, name, word in odd(busy, rule, sample):
            found += faults(visitor, "GET", busy.fill_route(rule, gaps), query_string={name: [word, word]})
    assert found == []


def test_no_form_however_odd_is_too_much_for_us(any_app: App, sample: int) -> None:
    busy = BusyApp(any_app)
    found = list[str]()
    for rule in routes(busy, "POST", sample):
        for gaps, name, word in odd(busy, rule, sample):
            path, form = busy.fill_route(rule, gaps), {**FINE, name: [word, word]}
            found += faults(busy.new_visitor(), "POST", path, data=form, query_string={name: word})
    assert found == []


def odd(busy: BusyApp, rule: Rule, sample: int) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Everything that a route may be asked, spoilt in turn; by the other ways that lead there no more than once."""
    first, *others = busy.list_values(rule)
    words = HOSTILE if busy.app.store.engine.name == "sqlite" else FOR_DATABASES
    for name in busy.list_fields(rule):
        place = f"{rule} {name}"
        yield from ((first, name, word) for word in some(words, sample, place))
        yield from ((gaps, name, "\0") for gaps in some(others, sample, place))


def test_no_json_however_odd_is_too_much_for_us(any_app: App) -> None:
    busy = BusyApp(any_app)
    visitor, found = busy.new_visitor(), list[str]()
    for rule in busy.list_routes("POST"):
        path = busy.fill_route(rule, next(busy.list_values(rule)))
        for body in (body.replace("ODD", word) for body in BODIES for word in ODD):
            sent = {"data": body.encode("utf-8", "surrogatepass"), "content_type": "application/json"}
            found += faults(visitor, "POST", path, **sent) if rule.endpoint.startswith("api.") else []
    assert found == []


# Who may see what


def test_no_page_shows_what_belongs_to_another(busy: BusyApp) -> None:
    visitor, secrets = busy.flask_app.test_client(), busy.list_secrets()
    readers = {link: access.find(busy.app, link) for link in busy.links.values()}
    for rule in busy.list_routes("GET"):
        for gaps in busy.list_values(rule) if "link" in rule.arguments else ():
            place = readers[gaps["link"]]
            text = visitor.get(busy.fill_route(rule, gaps)).text
            others = [secret for seat, own in secrets.items() if seat != (place.table, place.seat) for secret in own]
            mine = secrets.get((place.table, place.seat or 0), []) if place.seat is not None else []
            shown = [secret for secret in others if secret in text and secret not in mine]
            assert shown == [], f"{rule.rule} of {gaps['link']}"


def test_who_looks_on_hears_no_talk_and_finds_no_way_in(busy: BusyApp) -> None:
    visitor = busy.flask_app.test_client()
    for name in ("watch", "gallery"):
        for rule in busy.list_routes("GET"):
            gaps = {"link": busy.links[name], "seq": 1}
            if rule.arguments and rule.arguments <= gaps.keys():
                text = visitor.get(busy.fill_route(rule, gaps)).text
                found = [word for word in ("said by", "/wishes/", "/offer/", "/join/") if word in text]
                assert found == [], rule.rule
                assert name == "watch" or busy.app.links.watch(busy.shown[0].table) not in text


def test_what_was_taken_down_is_nowhere_to_be_seen(app: App) -> None:
    busy = BusyApp(app)
    visitor, link, table = busy.new_visitor(), busy.links["gallery"], busy.shown[0].table
    ways = [
        busy.fill_route(rule, {"link": link, "table": table, "seq": 1})
        for rule in busy.list_routes("GET")
        if rule.arguments & {"link", "table"} and rule.arguments <= {"link", "table", "seq"}
    ]
    before = [visitor.get(way).status_code for way in ways]
    seat_commands.release(app, busy.shown[0], False)
    after = [visitor.get(way).status_code for way in ways]
    assert before.count(200) >= 10
    assert set(after) == {404}


def test_what_is_private_is_kept_by_nobody_on_its_way(busy: BusyApp) -> None:
    visitor = busy.new_visitor()
    for method in ("GET", "POST"):
        for rule in busy.list_routes(method):
            gaps = next(busy.list_values(rule)) if method == "GET" else dict.fromkeys(rule.arguments, "x")
            with visitor.open(busy.fill_route(rule, gaps), method=method) as response:
                kept = response.headers["Cache-Control"]
                assert rule.endpoint in PUBLIC or "no-store" in kept or "private" in kept, rule.rule


def test_every_answer_has_its_headers(busy: BusyApp) -> None:
    visitor = busy.new_visitor()
    for rule in busy.list_routes("GET"):
        for gaps in (next(busy.list_values(rule)), dict.fromkeys(rule.arguments, "x")):
            with visitor.get(busy.fill_route(rule, gaps)) as response:
                told = [response.headers[name] for name in ("Referrer-Policy", "X-Content-Type-Options")]
                assert [*told, response.headers["X-Robots-Tag"]] == ["no-referrer", "nosniff", "noindex"]
                policy = response.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy or rule.endpoint == "mailbox.body"


# Forms


def test_forms_come_through_https_though_no_browser_says_where_from(app: App) -> None:
    visitor = create_app(app).test_client()
    page = visitor.get("/play/kaiser", base_url="https://games.example.org").text
    form = {"name": "Anna", "bots": "1", "csrf_token": page.partition('name="csrf_token" value="')[2].partition('"')[0]}
    assert visitor.post("/play/kaiser", data=form, base_url="https://games.example.org").status_code == 303


def test_every_form_needs_its_word_except_what_programs_send(app: App) -> None:
    busy = BusyApp(app)
    busy.flask_app.config["WTF_CSRF_ENABLED"] = True
    visitor, before = busy.new_visitor(), busy.dump_database()
    open_to_all = {
        rule.endpoint
        for rule in busy.list_routes("POST")
        if b"grown old" not in visitor.post(busy.fill_route(rule, dict.fromkeys(rule.arguments, "1"))).data
    }
    assert open_to_all == {"preferences.stop", "api.open_table", "api.sit", "api.submit", "api.hint"}
    assert busy.dump_database() == before


def test_a_fault_is_logged_without_the_link_that_led_to_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, link = BusyApp(app), "a" * 32
    monkeypatch.setattr(access, "find_place", lambda db, link: 1 / 0)
    with structlog.testing.capture_logs() as told:
        assert busy.flask_app.test_client().get(f"/t/{link}").status_code == 500
    assert told
    assert link not in "".join(str(one | {"exc_info": ""}) for one in told)


def test_a_fault_of_the_database_tells_no_values(any_app: App) -> None:
    with pytest.raises(SQLAlchemyError) as fault, any_app.store.writing() as connection:
        connection.execute(sql("INSERT INTO nowhere VALUES (:address)"), {"address": "anna@example.org"})
    assert "anna" not in str(fault.value)


# Who visits


def visit(flask_app: Flask, sender: str) -> int:
    form, headers = {"address": "anna@example.org"}, {"X-Forwarded-For": sender, "X-Forwarded-Proto": "https"}
    return flask_app.test_client().post("/enter", data=form, headers=headers).status_code


@pytest.mark.parametrize(("proxies", "said"), [(0, [200, 429, 429]), (1, [200, 429, 200])])
def test_visitors_behind_one_web_server_are_told_apart_where_its_word_is_taken(
    tmp_path: Path, proxies: int, said: list[int]
) -> None:
    chosen = apps.make_settings(tmp_path, opens_per_hour=1, proxies=proxies)
    with apps.run_app(chosen, apps.FakeTime()) as app:
        flask_app = create_app(app)
        flask_app.config["WTF_CSRF_ENABLED"] = False
        assert [visit(flask_app, sender) for sender in ("10.0.0.1", "9.9.9.9, 10.0.0.1", "10.0.0.2")] == said


# What people write

HEADERS = set(
    "From To Reply-To Subject Date Message-ID In-Reply-To References X-Depesche Auto-Submitted "
    "X-Auto-Response-Suppress List-Id Feedback-ID "
    "List-Unsubscribe List-Unsubscribe-Post MIME-Version Content-Type Content-Language".split()
)
OWN = "own@example.org"


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


CODED = ("=?utf-8?q?=0ABcc:xy?=", "=?utf-8?q?a=0D=0A=0D=0AHello=21?=", "=?utf-8?b?CkJjYzogeEB5Lm9yZw==?=")


@pytest.mark.parametrize("name", ['<i onx="1">&\'', "Anna <xy>, y", "{{ 7*7 }}%s{x}", 'ü"\\,;:', *CODED])
def test_a_name_is_a_name_on_every_page_and_in_every_letter(tmp_path: Path, name: str) -> None:
    site = Site(tmp_path)
    guests = [Invitee(name, OWN), Invitee("Bert", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    for link in opened.links:
        submitting.submit(site.app, access.find(site.app, link), "sit word", "sit")
    for number in (0, 1):
        talk.say(site.app, access.find(site.app, opened.links[number]), name)
        seat_commands.write(site.app, access.find(site.app, opened.links[number]), name)
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
        assert [one.addr_spec for one in letter["To"].addresses] in (["bert@example.org"], [OWN])
        assert letter["To"].addresses[0].display_name in (name.replace("=?", "= ?"), "Bert")
        assert set(letter.keys()) <= HEADERS
        assert not letter.defects
    site.app.close()


@pytest.mark.parametrize("kind", ["enter", "confirm", "replaced"])
def test_letters_to_a_person_escape_names_too(tmp_path: Path, kind: str) -> None:
    site, name = Site(tmp_path), '<i onx="1">&'
    guests = [Invitee(name, OWN), Invitee("Bert <b>", "bert@example.org")]
    opened = apps.open_new(site.app, "kaiser", {}, guests, 0)
    rest = {"enter": str(site.time), "confirm": opened.table, "replaced": f"{opened.table}/1/1"}[kind]
    person = site.load(opened).seats[0].person
    with site.app.store.writing() as connection:
        connection.execute(update(seats).values(proven=False, status="taken"))
    letter = personal_letters.write(site.app, LetterRequest("", 0, 0, f"{kind}/{rest}", OWN, name, person=person))
    assert letter
    page = letter.get_body(("html",))
    assert page
    assert '<i onx="' not in page.get_content()
    assert "Bert <b>" not in page.get_content()
    site.app.close()


def test_no_command_however_odd_is_too_much_for_the_referee(app: App) -> None:
    places = apps.start_table(app)
    place, move = apps.find_move(app, places)
    verbs = [*sorted({*RESERVED_VERBS, *seat_commands.COMMANDS, move.split()[0]} - {"resign"}), "resign"]
    for verb in verbs:
        for words in (*HOSTILE, "", "0", "2027-02-30 x", "9999-12-31 9999-12-31", "0 0 0", "x " * 500):
            with suppress(Refused):
                said = apps.submit(app, place, f"{verb} {words}")
                assert said.why != referee.FAULT, f"{verb} {words[:30]}"


@pytest.mark.parametrize("name", catalogue.find_all())
def test_half_a_move_however_odd_is_shown_without_a_fault(site: Site, name: str) -> None:
    opened = site.start_table("Anna", "Bert", "Cleo", game=name)
    verbs, link = {move.split()[0] for move in site.list_moves(opened)}, opened.links[site.find_mover(opened)]
    odd = ("zzz", "-1", "1,2 9", "a:b:c", ",", "()", "0", *HOSTILE[:2])
    client, path = site.flask_app.test_client(), f"/t/{link}"
    for say in (f"{verb} {words}" for verb in verbs for words in odd):
        assert client.get(path, query_string={"say": say}).status_code == 200, say


# Boards that are kept


@pytest.mark.parametrize("name", catalogue.find_all())
def test_a_kept_board_is_the_one_that_would_be_drawn_anew(site: Site, name: str) -> None:
    opened = site.start_table("Anna", "Bert", "Cleo", game=name)
    for _ in range(6):
        site.submit(opened, site.list_moves(opened)[0])
    readers = [*((link, "en") for link in opened.links), (opened.links[0], "de"), (opened.watch, "en")]
    last = site.load(opened).row.length - 1
    paths = ("", f"/replay/frame?at={last}")
    kept = [boards(site, link, tongue, paths) for link, tongue in readers]
    again = [boards(site, link, tongue, paths) for link, tongue in reversed(readers)]
    assert again[::-1] == kept
    for (link, tongue), found in zip(readers, kept, strict=True):
        site.app.caches.boards = LRU(200)
        assert boards(site, link, tongue, paths) == found


def boards(site: Site, link: str, tongue: str, paths: tuple[str, ...]) -> list[str]:
    """What this reader is shown of the board, in pictures and in words."""
    client, found = site.flask_app.test_client(), list[str]()
    for path in paths:
        text = client.get(f"/t/{link}{path}", headers={"Accept-Language": tongue}).text
        found += re.findall(r"<svg.*?</svg>|<pre.*?</pre>", text, re.DOTALL)
    return found
