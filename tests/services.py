"""A whole service in this process with an address of its own, for tests with a browser."""

import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from playwright.sync_api import Page

from engine import bots
from engine import table as tables
from engine.log import Export
from engine.search import LEVELS, Level
from service.accounts import preferences
from service.app import App, read_clock
from service.hosting import local_mailbox
from service.settings import Settings
from service.tables import access, submitting
from service.tables.opening import Invitee, OpenedTable
from service.web.server import create_server
from tests import apps
from tests.web_server import serving
from workers import process_pool
from workers.processes import run_embedded

# Positions, not seconds, bound how long a strong bot thinks: on a slow machine it makes the same move.
THINKING = {"strong": Level(evaluations=150, seconds=60.0)}
Visit = Callable[..., Page]
ENTRIES_BEFORE_MOVES = 4  # of a table for two: it is opened, both sit down, the game starts
ANNA, BERT = Invitee("Anna", "anna@example.org"), Invitee("Bert", "bert@example.org")


class RunningService:
    """A service that answers at `address`."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.address = app.settings.address

    def open_table(self, *guests: Invitee, game: str = "kaiser", pace: int = 0, **options: str) -> OpenedTable:
        return apps.open_new(self.app, game, options, guests or (ANNA, BERT), pace)

    def start_table(
        self, *guests: Invitee, game: str = "kaiser", pace: int = 0, letters: bool = False, **options: str
    ) -> OpenedTable:
        """Open a table and let everybody sit down; it writes letters only if a test needs them."""
        opened = self.open_table(*guests, game=game, pace=pace, **options)
        if not letters:
            self.disable_letters(opened.table)
        for link in filter(None, opened.links):
            self.submit(link, "sit word", "sit")
        return opened

    def start_like(self, model: Export) -> OpenedTable:
        """Start a table with the options, the seed and the nonces of another game."""
        with fixed_seed(bytes.fromhex(model.seed or "")):
            opened = self.open_table(game=model.game, **model.entries[0].entry["events"][0]["options"])
        self.disable_letters(opened.table)
        for link, sat in zip(opened.links, model.entries[1:], strict=False):
            self.submit(link, f"sit {sat.entry['events'][0]['nonce']}", "sit")
        return opened

    def play_like(self, model: Export) -> OpenedTable:
        """Start a table like another game, and play it to the end with the same moves."""
        opened = self.start_like(model)
        for link in model.entries[ENTRIES_BEFORE_MOVES:]:
            self.submit(opened.links[link.entry["seat"]], link.entry["move"])
        return opened

    def submit(self, link: str, move: str, key: str = "") -> None:
        """Submit a move without the page, and require that it is accepted."""
        app = self.app
        verdict = submitting.wait_for_verdict(app, submitting.submit(app, access.find(app, link), move, key), 10)
        assert verdict
        assert verdict.accepted, verdict.text

    def play_until(self, table: str, condition: Callable[[Any], bool], seed: int = 1) -> None:
        """Submit random moves, without pages because that is quicker, until the state meets a condition."""
        app, random = self.app, Random(seed)
        while not condition((snapshot := apps.load_table(app, table)).position.state):
            seat = tables.find_seats_to_move(snapshot.game, snapshot.position)[0]
            move = bots.pick_random_move(tables.menu(snapshot.game, snapshot.position, seat), random)
            self.submit(access.make_seat_link(app, snapshot.seats[seat]), str(move))

    def disable_letters(self, table: str) -> None:
        """Turn off the letters to all people at a table."""
        app = self.app
        for seat in apps.load_table(app, table).seats:
            if seat.person:
                preferences.set_letters(
                    app, preferences.find_recipient(app, app.links.make_preferences_token(seat.person)), "none", table
                )

    def wait_for_letter(self, address: str) -> None:
        """Wait until a letter to this address is in the local mailbox."""
        end = time.monotonic() + 60
        while all(letter.recipient != address for letter in local_mailbox.list_newest(self.app)):
            assert time.monotonic() < end, f"no letter for {address}"
            time.sleep(0.05)

    def find_table(self, url: str) -> str:
        """Return the table of a page."""
        return access.find(self.app, url.split("/t/")[1].split("?")[0]).table

    def find_mover(self, table: str) -> int:
        """Return a seat that may act now."""
        snapshot = apps.load_table(self.app, table)
        return tables.find_seats_to_move(snapshot.game, snapshot.position)[0]


@contextmanager
def fixed_seed(seed: bytes) -> Iterator[None]:
    """Open all tables of this block with this seed, so that a game can be played again."""
    random_bytes = secrets.token_bytes
    with mock.patch.object(secrets, "token_bytes", lambda size: seed if size == len(seed) else random_bytes(size)):
        yield


ports = [0]  # of the last service of this process


def listen_as_before() -> socket.socket:
    """Listen where the last service of this process did, if that is free: a browser can go on with its windows."""
    try:
        return socket.create_server(("127.0.0.1", ports[0]))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


@contextmanager
def run_service(folder: Path) -> Iterator[RunningService]:
    """Run a service whose letters and bots work in this process: to start another one takes two seconds."""
    with listen_as_before() as listener:
        port = ports[0] = listener.getsockname()[1]
        given: dict[str, Any] = {"confirm": False, "gather": 0, "opens_per_hour": 1_000_000, "thinking": 60.0}
        settings = Settings(folder=folder, port=port, address=f"http://127.0.0.1:{port}", **given)
        app = apps.make_app(settings, read_clock)
        with (
            mock.patch.object(process_pool, "start"),
            mock.patch.dict(LEVELS, THINKING),
            run_embedded(app),
            serving(create_server(app, listener, threads=8)),
        ):
            yield RunningService(app)
        app.close()
