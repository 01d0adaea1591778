"""Pages beside the table in a real browser: nothing jumps, nothing is cut off, and times are written as at home."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from engine import catalogue
from service import create_app
from service.hosting import local_mailbox, overview
from service.settings import DAY_S
from service.tables.history.replays import Archive
from service.tables.opening import Invitee
from service.text.languages import LANGUAGES, Translator, write_time_left
from service.web.table_frame import draw_qr_code
from tests import apps
from tests.browsing import SHORT_GAMES
from tests.golden.make import load
from tests.sampling import one_of
from tests.services import ANNA, RunningService, Visit

PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1366, "height": 650}
FIRST_PIECE_MS, FIRST_PIECE_TIMEOUT_S = 300, 10.0
MAX_SHIFT, MAX_PAINT_MS = 0.05, 300  # the paint on a machine without other work

# The sum of all layout shifts since the page was opened.
MEASURE_SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100);
})"""


# When the largest thing on the page was painted, in ms after the page was asked for.
MEASURE_PAINT = """() => new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => done(0), 1000);
})"""


# Endpoints that no reader opens as a page: pictures, data, parts of pages, and what a program fetches.
NO_PAGE = re.compile(
    r"^(static\w*|api|feeds|table_feed|monitoring|devices|previews)\b"
    r"|\.(send_\w+|log|export|foresee|show_frame|show_earlier|show_stock)$"
)
# Pages that are tried elsewhere: they need a signed-in reader, a missed deadline, or players who released their game.
NOT_HERE = {
    "account.show_tables",
    "account.go_to_table",
    "leaving.ask_to_delete",
    "joining.show_offer",
    "gallery.open_replay",
}


def list_pages(service: RunningService) -> list[str]:
    """List a page of each kind."""
    app, free = service.app, Invitee("", who="anybody")
    running, finished = service.start_table(game="carcassonne"), service.play_like(load("kurier", "short"))
    gathering = service.open_table(Invitee("Anna", "anna@example.org", "word"), free)
    person = apps.load_table(app, running.table).seats[0].person
    assert person is not None
    seat, end = f"/t/{running.links[0]}", f"/t/{finished.links[0]}"
    wishes = f"/wishes/{app.links.make_preferences_token(person)}"
    branch = create_app(app).test_client().post(f"{seat}/whatif").location
    sign_in = app.links.make_sign_in_token(person, 0, app.now())
    confirm = app.links.make_confirm_token(person, "anna@example.org")
    apps.owe_confirm_letter(app, person)
    service.wait_for_letter("bert@example.org")
    return [
        *("/", "/help", "/gallery"),
        *(seat, f"/t/{running.watch}", end, f"/t/{gathering.links[0]}", f"/join/{gathering.join}"),
        *("/verify", "/api", "/mailbox", "/mailbox/1", "/rules"),
        *("/rules/kurier", "/rules/carcassonne/short", "/rules/carcassonne/2.1"),
        *("/new/carcassonne", "/new/carcassonne/players", "/play/carcassonne"),
        *("/learn/carcassonne", "/learn/carcassonne/1"),
        *(f"{seat}/whatif", branch, f"{seat}/followers", f"{seat}/replay", f"{end}/replay"),
        *(wishes, f"{wishes}/connections", f"{wishes}/stop", f"{wishes}/language?to=nl"),
        *("/enter", f"/enter/{sign_in}", f"/confirm/{confirm}", f"/host/{overview.get_link(app)}"),
    ]


@pytest.mark.parametrize("everything", one_of([False, True], False))
def test_no_page_jumps_while_it_loads(service: RunningService, visit: Visit, everything: bool) -> None:
    """In `make test` every third page, before a release all."""
    pages, routes = list_pages(service), create_app(service.app).url_map
    endpoints = {rule.endpoint for rule in routes.iter_rules() if rule.methods and "GET" in rule.methods}
    listed = {routes.bind("localhost").match(path.split("?")[0])[0] for path in pages}
    assert {one for one in endpoints if not NO_PAGE.search(one)} - listed == NOT_HERE
    page, shifts = visit("about:blank", viewport=PHONE), dict[str, float]()
    for path in pages if everything else pages[::3]:
        answer = page.goto(path)
        assert answer
        assert answer.ok, path
        shifts[path] = page.evaluate(MEASURE_SHIFT)
    assert {path: shift for path, shift in shifts.items() if shift >= MAX_SHIFT} == {}


@contextmanager
def serve_in_pieces(first: str, second: str, others: str) -> Iterator[tuple[str, threading.Event]]:
    """Serve a page whose second piece comes after the event is set; other files are those of another server."""
    is_seen = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path == "/"
            self.send_response(200 if is_page else 307)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Location", others + self.path)
            self.end_headers()
            if is_page:
                self.wfile.write(first.encode())
                is_seen.wait(FIRST_PIECE_TIMEOUT_S)
                self.wfile.write(second.encode())

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", is_seen
        server.shutdown()
        thread.join()


def test_the_board_does_not_move_up_if_the_bar_under_it_comes_late(service: RunningService, chromium: Browser) -> None:
    finished = service.play_like(load("kurier", "short"))
    html = create_app(service.app).test_client().get(f"/t/{finished.links[0]}").text
    board, bar = html.split('<div class="bar">')
    with (
        serve_in_pieces(board, f'<div class="bar">{bar}', service.address) as (address, is_seen),
        chromium.new_page(viewport=PHONE) as page,
    ):
        page.goto(address, wait_until="commit")
        page.locator("[data-stage]").wait_for()
        page.wait_for_timeout(FIRST_PIECE_MS)  # it would be painted meanwhile
        assert page.locator(".bar").count() == 0
        is_seen.set()
        page.wait_for_load_state()
        assert page.locator(".deeds .main").is_visible()
        assert page.evaluate(MEASURE_SHIFT) == 0


def test_ones_tables_do_not_jump_when_times_become_local(service: RunningService, visit: Visit) -> None:
    for game in ("kaiser", "kurier"):
        opened = service.start_table(game=game, pace=3 * DAY_S)
    person = apps.load_table(service.app, opened.table).seats[0].person
    assert person
    page = visit(f"/enter/{service.app.links.make_sign_in_token(person, 0, service.app.now())}")
    page.get_by_role("button", name="Show my tables").click()
    page.wait_for_url("**/my")
    for window in (PHONE, LAPTOP):
        page.set_viewport_size(window)
        page.goto("/my")
        page.locator(".tables .thing").first.wait_for()
        assert page.evaluate(MEASURE_SHIFT) < MAX_SHIFT


@pytest.mark.release
def test_every_page_is_painted_in_a_blink(service: RunningService, visit: Visit) -> None:
    page, paints = visit("/"), dict[str, float]()
    games = catalogue.find_all()
    lessons, tables = [f"/learn/{game}/1" for game in games], [service.start_table(game=game) for game in games]
    pages = [*list_pages(service), *lessons, *(f"/t/{opened.links[0]}" for opened in tables)]
    for path in pages * 3:  # the first time compiles templates and fills caches
        page.goto(path)
        paints[path] = min(page.evaluate(MEASURE_PAINT), paints.get(path, math.inf))
    print("\n".join(f"{paint:4.0f} ms {path}" for path, paint in paints.items()))
    assert {path: paint for path, paint in paints.items() if not 0 < paint < MAX_PAINT_MS} == {}


@pytest.mark.parametrize(
    ("game", "window"),
    one_of([(game, window) for game in catalogue.find_all() for window in (PHONE, LAPTOP)], ("carcassonne", LAPTOP)),
)
def test_rules_do_not_jump_while_they_load(visit: Visit, game: str, window: dict[str, int]) -> None:
    page = visit(f"/rules/{game}", viewport=window)
    page.wait_for_load_state("networkidle")
    assert page.evaluate(MEASURE_SHIFT) < MAX_SHIFT


@pytest.mark.parametrize("language", one_of(LANGUAGES, "de"))
def test_home_shows_a_letter_and_a_phone_and_cuts_no_sentence(visit: Visit, language: str) -> None:
    page = visit("/", viewport=PHONE, locale=language)
    page.wait_for_load_state("networkidle")
    for window in (PHONE, LAPTOP):
        page.set_viewport_size(window)
        pictures = page.locator(".sight img").evaluate_all("(all) => all.map((one) => [one.src, one.naturalWidth > 0])")
        assert [(src.rsplit("/", 1)[1], seen) for src, seen in pictures] == [
            (f"home-letter-{language}.webp", True),
            (f"home-phone-{language}.webp", True),
        ]
        hides = "one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1"
        texts = page.locator("main :is(p, li, h1, h3, a)")
        assert texts.evaluate_all(f"(all) => all.filter((one) => {hides}).map((one) => one.textContent)") == []


@pytest.mark.parametrize(("window", "shown"), [(PHONE, False), (LAPTOP, True)], ids=["phone", "laptop"])
def test_the_contents_of_rules_are_open_where_there_is_room(visit: Visit, window: dict[str, int], shown: bool) -> None:
    page = visit("/rules/kaiser", viewport=window)
    expect(page.locator(".contents ol").first).to_be_visible(visible=shown)


@pytest.mark.parametrize(
    ("locale", "time"),
    [pytest.param("en-GB", r"\d\d:\d\d$", marks=pytest.mark.release), ("en-US", r"\d+:\d\d.(AM|PM)$")],
)
def test_times_are_written_as_in_the_reader_s_country(
    service: RunningService, visit: Visit, locale: str, time: str
) -> None:
    page = visit(f"/t/{service.start_table().links[0]}", locale=locale)
    page.locator("#tab-log").click()
    expect(page.locator("#log time").first).to_have_text(re.compile(time))


def test_a_running_log_ticks_no_seed_and_its_receipt_has_no_mark(
    service: RunningService, visit: Visit, tmp_path: Path
) -> None:
    opened = service.start_table()
    path = tmp_path / "running.json"
    path.write_bytes(msgspec.json.encode(Archive(service.app.store, service.app.links).export(opened.table, seat=0)))
    page = visit("/verify")
    page.set_input_files("#log", path)
    expect(page.get_by_role("status")).to_contain_text("The game is not over")
    expect(page.locator(".checks li").first).to_be_visible()
    expect(page.locator(".checks")).not_to_contain_text("seed")
    assert page.locator(".receipts .head").evaluate("one => getComputedStyle(one, '::before').content") == "none"


def test_a_letter_of_the_mailbox_is_shown_whole(service: RunningService, visit: Visit) -> None:
    service.open_table()
    service.wait_for_letter("bert@example.org")
    number = next(one.id for one in local_mailbox.list_newest(service.app) if one.recipient == "bert@example.org")
    page = visit(f"/mailbox/{number}", viewport=PHONE)
    page.wait_for_load_state("networkidle")
    frame = page.locator("iframe.mail")
    assert frame.evaluate("one => one.clientHeight - one.contentDocument.documentElement.scrollHeight") >= 0
    assert frame.evaluate("one => one.clientHeight - one.contentDocument.body.scrollHeight") < 100


def test_the_replay_counts_entries_as_the_log_does(service: RunningService, visit: Visit) -> None:
    opened = service.start_table()
    seat = service.find_mover(opened.table)
    service.submit(opened.links[seat], f"move {SHORT_GAMES[seat].split()[0].replace('-', ' ')}")
    page = visit(f"/t/{opened.links[0]}/replay")
    number = (page.locator(".chapter .small").inner_text().split(" · ")[0]).split()[-1]
    expect(page.locator("[data-part=label]")).to_contain_text(f"{number} of {number}")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3 * DAY_S - 60, "3 days left."), (2.2 * DAY_S, "2 days and 5 hours left."), (3500, "58 minutes left.")],
)
def test_a_letter_rounds_the_time_left_to_the_hour(seconds: float, text: str) -> None:
    assert write_time_left(Translator("en"), seconds) == text


def test_a_whole_number_of_days_is_written_without_hours(service: RunningService, visit: Visit) -> None:
    opened = service.start_table(pace=3 * DAY_S)
    page = visit(f"/t/{opened.links[0]}")
    expect(page.locator(".top .left")).to_have_text("3 d left")


def test_back_after_a_move_leads_home_and_not_to_the_form(service: RunningService, visit: Visit) -> None:
    page = visit("/")
    page.goto("/play/kaiser")
    page.get_by_label("Your name").fill("Anna")
    page.get_by_role("button", name="Sit down and play").click()
    page.wait_for_url("**/t/*")
    page.go_back()
    expect(page).to_have_url(f"{service.address}/")
    expect(page.get_by_role("heading", name="Board games by letter")).to_be_visible()


def test_the_link_of_free_seats_is_copied_and_drawn_as_a_code(service: RunningService, visit: Visit) -> None:
    opened = service.open_table(Invitee("Anna", "anna@example.org", "word"), Invitee("", who="anybody"))
    page = visit(f"/t/{opened.links[0]}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied.")).to_be_visible()
    link = page.locator("#join").input_value()
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.evaluate("() => navigator.clipboard.writeText('')")
    refuse_to_share(page)
    page.get_by_text("About this table").click()
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("details.receipt [data-share]")).to_have_text("Copied.")
    watch = page.get_by_role("link", name="for spectators").get_attribute("href")
    assert page.evaluate("navigator.clipboard.readText()") == f"{service.address}{watch}"
    page.get_by_text("QR code").click()
    code = page.locator(".qr svg")
    expect(code).to_be_visible()
    assert code.evaluate("one => one.outerHTML") == visit("about:blank").evaluate(
        "svg => new DOMParser().parseFromString(svg, 'text/html').querySelector('svg').outerHTML", draw_qr_code(link)
    )


# A share sheet that the browser refuses, and a clipboard that only a selection of the reader can fill.
REFUSE = """() => {
  navigator.share = () => Promise.reject(new DOMException("", "NotAllowedError"));
  navigator.clipboard.writeText = () => Promise.reject(new DOMException("", "NotAllowedError"));
}"""


def refuse_to_share(page: Page) -> None:
    page.evaluate(REFUSE)


def test_a_link_goes_to_the_share_sheet_or_is_shown_if_nothing_else_is_allowed(
    service: RunningService, visit: Visit
) -> None:
    page = visit(f"/t/{service.open_table(ANNA, Invitee('', who='anybody')).links[0]}")
    link = page.locator("#join").input_value()
    page.evaluate("() => { navigator.share = async (what) => { window.shared = what.url; }; }")
    page.locator("[data-share]").first.click()
    page.wait_for_function("link => window.shared === link", arg=link)
    shown = list[str]()
    page.once("dialog", lambda one: [shown.append(one.default_value), one.dismiss()])
    refuse_to_share(page)
    page.evaluate("() => { document.execCommand = () => false; }")
    page.locator("[data-share]").first.click()
    assert shown == [link]


def test_a_note_that_the_reader_hides_stays_hidden(service: RunningService, visit: Visit) -> None:
    opened = service.open_table(Invitee("Anna", nonce="word", who="person"), Invitee("Bot"))
    page = visit(f"/t/{opened.links[0]}")
    note = page.get_by_text("Get letters when it is your turn")
    expect(note).to_be_visible()
    page.get_by_role("button", name="Hide this note").click()
    expect(note).to_be_hidden()
    page.reload()
    expect(note).to_be_hidden()
