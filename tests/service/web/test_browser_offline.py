"""Without a line the pages of my tables can be read, and a move is kept until the line is back; in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import select

from service.store.schema import channels
from service.tables.opening import OpenedTable
from tests import apps
from tests.services import RunningService

MAKE_MOVE = """(move) => {
  const form = document.querySelector("form.deed");
  form.elements.move.value = move;
  form.requestSubmit();
}"""
# A headless browser refuses notifications.
PLAYED_BEFORE = """
  localStorage.setItem("moved", "1");
  Object.defineProperty(Notification, "permission", { get: () => "default" });
  Notification.requestPermission = async () => "granted";
"""
IS_READY = "() => navigator.serviceWorker.controller && 'kept' in document.documentElement.dataset"


@pytest.fixture
def new_table(service: RunningService) -> OpenedTable:
    return service.start_table()


@pytest.fixture
def page(chromium: Browser, service: RunningService, new_table: OpenedTable) -> Iterator[Page]:
    """The table of the player to move, in a browser in which that player has moved before."""
    context = chromium.new_context(base_url=service.address)
    one = context.new_page()
    one.add_init_script(PLAYED_BEFORE)
    one.goto(f"/t/{new_table.links[service.find_mover(new_table.table)]}")
    one.wait_for_function(IS_READY)
    yield one
    context.close()


def find_move(service: RunningService, new_table: OpenedTable) -> str:
    place = apps.access.find(service.app, new_table.links[service.find_mover(new_table.table)])
    return apps.list_moves(service.app, place)[0]


def test_a_table_is_read_offline_and_says_so(page: Page) -> None:
    expect(page.get_by_text("You are offline.").first).to_be_hidden()
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_text("This is the page as you saw it last")).to_be_visible()
    expect(page.locator("[data-stage]")).to_be_visible()
    banner, top, bar = (page.locator(part).bounding_box() for part in (".banner:visible", ".top", ".bar"))
    assert banner
    assert banner["y"] + banner["height"] <= top["y"]  # it covers nothing, and pushes nothing out of the window
    assert bar["y"] + bar["height"] <= page.viewport_size["height"]
    page.context.set_offline(False)
    page.reload()
    expect(page.get_by_text("This is the page as you saw it last")).to_be_hidden()


def test_a_move_made_offline_is_sent_when_the_line_is_back(
    service: RunningService, new_table: OpenedTable, page: Page
) -> None:
    length, move = service_length(service, new_table), find_move(service, new_table)
    page.context.set_offline(True)
    page.evaluate(MAKE_MOVE, move)
    expect(page.get_by_text("Your move is kept on this device")).to_be_visible()
    assert service_length(service, new_table) == length
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator(".bar .note.good")).to_be_visible()
    expect(page.get_by_text("Your move is kept on this device")).to_be_hidden()
    assert service_length(service, new_table) == length + 1


@pytest.mark.release
def test_a_kept_move_that_comes_too_late_is_told(service: RunningService, new_table: OpenedTable, page: Page) -> None:
    move = find_move(service, new_table)
    page.context.set_offline(True)
    page.evaluate(MAKE_MOVE, move)
    expect(page.get_by_text("Your move is kept on this device")).to_be_visible()
    service.submit(new_table.links[service.find_mover(new_table.table)], move)
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator(".bar .note.bad")).to_be_visible()


def service_length(service: RunningService, new_table: OpenedTable) -> int:
    return int(apps.load_table(service.app, new_table.table).row.length)


def test_a_device_is_offered_after_the_first_own_move_and_listed(
    service: RunningService, new_table: OpenedTable, page: Page
) -> None:
    button = page.get_by_role("button", name="Notify me on this device")
    expect(button).to_be_visible()
    page.evaluate(
        """() => {
          const p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
          const keys = { p256dh, auth: "BTBZMqHH6r4Tts7J_aSIgg" };
          const made = { toJSON: () => ({ endpoint: "https://push.example.org/browser", keys }) };
          const userAgent = "Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0.0.0";
          Object.defineProperty(navigator, "userAgent", { value: userAgent });
          PushManager.prototype.getSubscription = async () => null;
          PushManager.prototype.subscribe = async () => made;
        }"""
    )
    button.click()
    expect(page.get_by_text("This device tells you when it is your turn")).to_be_visible()
    with service.app.store.reading() as db:
        own = select(channels.c.label).where(channels.c.table == new_table.table)
        assert db.execute(own).scalar_one() == "Edge, Android"


def test_before_an_own_move_nothing_is_asked(
    chromium: Browser, service: RunningService, new_table: OpenedTable
) -> None:
    context = chromium.new_context(base_url=service.address)
    page = context.new_page()
    page.goto(f"/t/{new_table.links[0]}")
    expect(page.locator("[data-stage]")).to_be_visible()
    expect(page.get_by_role("button", name="Notify me on this device")).to_be_hidden()
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)") == 0
    context.close()
