"""A whole service in this process that is open at an address, for tests with a browser."""

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
from service import create_app, local_mailbox
from service.accounts import preferences
from service.app import App, wall_clock
from service.commands.run import embedded
from service.settings import Settings
from service.tables import access, opening, snapshots, submitting
from service.tables.opening import Invited, Opened
from tests import apps
from tests.web_server import serving

Visit = Callable[..., Page]
STARTED = 4  # entries of a table for two before the first move: it is opened, both sit down, and the game begins
ANNA, BERT = Invited("Anna", "anna@example.org"), Invited("Bert", "bert@example.org")


class Running:
    """A service that is open at `address`."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.address = app.settings.address

    def open(self, *guests: Invited, game: str = "kaiser", pace: int = 0, **options: str) -> Opened:
        return opening.open_table(self.app, game, options, guests or (ANNA, BERT), pace)

    def begin(
        self, *guests: Invited, game: str = "kaiser", pace: int = 0, letters: bool = False, **options: str
    ) -> Opened:
        """A table at which everybody has sat down; where a test is about pages alone, letters need not be written."""
        opened = self.open(*guests, game=game, pace=pace, **options)
        if not letters:
            self.no_letters(opened.table)
        for link in filter(None, opened.links):
            self.do(link, "sit word", "sit")
        return opened

    def begin_like(self, known: Export) -> Opened:
        """A table with the options, the luck and the words of a game that is known."""
        with foretold(bytes.fromhex(known.seed or "")):
            opened = self.open(game=known.game, **known.entries[0].entry["events"][0]["options"])
        self.no_letters(opened.table)
        for link, sat in zip(opened.links, known.entries[1:], strict=False):
            self.do(link, f"sit {sat.entry['events'][0]['nonce']}", "sit")
        return opened

    def end_like(self, known: Export) -> Opened:
        """The same, played to its end."""
        opened = self.begin_like(known)
        for link in known.entries[STARTED:]:
            self.do(opened.links[link.entry["seat"]], link.entry["move"])
        return opened

    def do(self, link: str, move: str, key: str = "") -> None:
        """A move that arrives by another way than the page."""
        app = self.app
        said = submitting.verdict(app, submitting.submit(app, access.find(app, link), move, key), 10)
        assert said
        assert said.accepted, said.said

    def play_on(self, table: str, until: Callable[[Any], bool], whim: int = 1) -> None:
        """Chance moves at a table until its state is as wanted, handed in past the pages because that is quicker."""
        app, random = self.app, Random(whim)
        while not until((look := snapshots.look(app, table)).table.state):
            seat = tables.waiting_for(look.game, look.table)[0]
            move = bots.pick_random_move(tables.menu(look.game, look.table, seat), random)
            self.do(access.link_of(app, look.seats[seat]), str(move))

    def no_letters(self, table: str) -> None:
        """From now on nobody at this table is written to."""
        app = self.app
        for seat in snapshots.look(app, table).seats:
            if seat.person:
                preferences.set_letters(app, preferences.reader(app, app.links.preferences(seat.person)), "none", table)

    def delivered(self, address: str) -> None:
        """Wait until a letter to this address is in the mailbox."""
        until = time.monotonic() + 60
        while all(letter.recipient != address for letter in local_mailbox.newest(self.app)):
            assert time.monotonic() < until, f"no letter for {address}"
            time.sleep(0.05)

    def table_at(self, url: str) -> str:
        """The table of a page."""
        return access.find(self.app, url.split("/t/")[1].split("?")[0]).table

    def first(self, table: str) -> int:
        look = snapshots.look(self.app, table)
        return tables.waiting_for(look.game, look.table)[0]


@contextmanager
def foretold(seed: bytes) -> Iterator[None]:
    """Tables opened meanwhile draw from this seed, so that a game that is known can be played again."""
    drawn = secrets.token_bytes
    with mock.patch.object(secrets, "token_bytes", lambda size: seed if size == len(seed) else drawn(size)):
        yield


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        words: dict[str, Any] = {"confirm": False, "gather": 0, "opens_per_hour": 1_000_000, "thinking": 0.05}
        settings = Settings(folder=folder, port=port, address=f"http://127.0.0.1:{port}", **words)
        app = apps.founded(settings, wall_clock)
        with embedded(app), serving(create_app(app), listener, threads=8):
            yield Running(app)
        app.close()
