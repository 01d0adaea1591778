"""`make pictures`: write the pictures of the documentation, from pages and a letter as they are now.

    python -m tests.pictures [FOLDER]

Games, names, moves and time are fixed, so that the same program writes the same pictures.
"""

from __future__ import annotations

import io
import re
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from msgspec import Struct
from PIL import Image
from playwright.sync_api import Browser, Page

from engine import table as tables
from engine.search.levels import Level, choose_move
from service.hosting import local_mailbox
from service.hosting.local_mailbox import StoredLetter
from service.tables.opening import OpenedTable
from service.text.languages import LANGUAGES, SOURCE
from service.text.templates import TEMPLATES
from service.web.server import create_server
from tests.servers import Unavailable, chromium_browser
from tests.sites import Site
from tests.web_server import serving

FOLDER = TEMPLATES / "static" / "pictures"  # where `/help` can show them, too
MAX_FILE_BYTES = 150_000
WEBP_QUALITY = 70

FIRST_SIGHT = Level(evaluations=0, seconds=1e9)  # a limit of processor time would change the moves
PACE_S, MOVE_S = 3 * 86_400, 7_200
NOW = 1_800_000_000 + 200 * MOVE_S
SETTLE_MS = 250  # until the board is framed and still
LAPTOP, PHONE = (1280, 720), (390, 780)


class Game(Struct, frozen=True):
    """A table: its players, the seed of its draws and moves, and how many moves are made."""

    name: str
    players: tuple[str, ...]
    seed: int
    moves: int


CARCASSONNE = Game("carcassonne", ("Anna", "Marek", "Clara"), 10, 107)
KAISER = Game("kaiser", ("Anna", "Marek"), 36, 20)
KURIER = Game("kurier", ("Anna", "Marek", "Clara"), 43, 34)
TURFMASTER = Game("turfmaster", ("Anna", "Marek", "Clara", "Tom"), 26, 50)
FINISHED_GAME = Game("kaiser", ("Anna", "Marek"), 51, 150)


class Studio:
    """A running service with a browser, and with one table for each game."""

    def __init__(self, site: Site, address: str, browser: Browser, seeds: Random) -> None:
        self._site, self._address, self._browser, self._seeds = site, address, browser, seeds
        self._tables = {game: self._play(game) for game in (CARCASSONNE, KAISER, KURIER, TURFMASTER, FINISHED_GAME)}
        site.time = NOW
        for game in (CARCASSONNE, FINISHED_GAME):
            for language in LANGUAGES:
                site.store_letters(self._tables[game].table, language)

    def _play(self, game: Game) -> OpenedTable:
        """Open a table and make its moves, the last one some hours before now."""
        random = Random(game.seed)
        self._seeds.seed(game.seed)
        self._site.time = NOW - (game.moves + 1) * MOVE_S
        opened = self._site.start_table(*game.players, game=game.name, pace=PACE_S)
        for _ in range(game.moves):
            snapshot = self._site.load(opened)
            movers = tables.find_seats_to_move(snapshot.game, snapshot.position)
            if not movers:
                break
            move = choose_move(FIRST_SIGHT, snapshot.game, snapshot.position.state, movers[0], random.getrandbits(32))
            self._site.time += MOVE_S
            self._site.submit(opened, str(move), movers[0])
        return opened

    def find_link(self, game: Game) -> str:
        """Return the link of the seat that is to move, or of the first one if the game is over."""
        opened = self._tables[game]
        return opened.links[0] if game is FINISHED_GAME else opened.links[self._site.find_mover(opened)]

    def find_letter(self, game: Game, language: str = SOURCE) -> StoredLetter:
        """Return the letter that was written last to the seat of `find_link`, in one language."""
        link, mark = self.find_link(game), f'lang="{language}"'
        newest = local_mailbox.list_newest(self._site.app, 1_000)
        return next(one for one in newest if link in one.text and mark in one.html)

    @contextmanager
    def open_window(self, **options: Any) -> Iterator[Page]:
        """Open a window of a browser in which it is the time of the service."""
        options = {"locale": "en-GB", "timezone_id": "UTC", "reduced_motion": "reduce", **options}
        with closing(self._browser.new_context(base_url=self._address, **options)) as context:
            page = context.new_page()
            page.clock.set_fixed_time(datetime.fromtimestamp(self._site.time, UTC))
            yield page


@contextmanager
def open_studio() -> Iterator[Studio]:
    """Run a service whose seeds, links and times are the same in every run."""
    with ExitStack() as stack:
        seeds = Random()
        stack.enter_context(mock.patch.object(secrets, "token_bytes", seeds.randbytes))
        stack.enter_context(mock.patch.object(secrets, "token_hex", lambda size=32: seeds.randbytes(size).hex()))
        folder = stack.enter_context(TemporaryDirectory())
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        site = Site(Path(folder), secret="the secret of the pictures", address=address)
        stack.enter_context(closing(site.app))
        stack.enter_context(serving(create_server(site.app, listener, threads=8)))
        yield Studio(site, address, stack.enter_context(chromium_browser()), seeds)


class Picture(Struct, frozen=True):
    """A picture: its window, how many pixels each point of it has, and what is shown."""

    window: tuple[int, int]
    show: Callable[[Studio, Page], None]
    scale: int = 1
    dark: bool = False
    language: str = SOURCE

    @property
    def size(self) -> tuple[int, int]:
        width, height = self.window
        return width * self.scale, height * self.scale

    def photograph(self, studio: Studio) -> bytes:
        width, height = self.window
        with studio.open_window(
            viewport={"width": width, "height": height},
            device_scale_factor=self.scale,
            color_scheme="dark" if self.dark else "light",
            locale="en-GB" if self.language == SOURCE else self.language,
            has_touch=self.window == PHONE,
            is_mobile=self.window == PHONE,
        ) as page:
            self.show(studio, page)
            page.wait_for_timeout(SETTLE_MS)
            return compress(page.screenshot())


def show_table(game: Game) -> Callable[[Studio, Page], None]:
    """Return what shows the table of a game to the player who is to move."""

    def show(studio: Studio, page: Page) -> None:
        page.goto(f"/t/{studio.find_link(game)}")
        page.locator("form.deed[data-said]").wait_for(state="attached")

    return show


def show_letter(language: str) -> Callable[[Studio, Page], None]:
    """Return what shows a letter in one language."""
    return lambda studio, page: page.goto(f"/mailbox/{studio.find_letter(CARCASSONNE, language).id}/body") and None


def show_verifier(language: str) -> Callable[[Studio, Page], None]:
    """Return what checks the log of a finished game and the receipt of a letter in one language."""

    def show(studio: Studio, page: Page) -> None:
        page.goto("/verify")
        log = page.request.get(f"/t/{studio.find_link(FINISHED_GAME)}/log.json").body()
        page.set_input_files("#log", {"name": "kaiser.json", "mimeType": "application/json", "buffer": log})
        page.locator(".checks li").first.wait_for()
        letter = studio.find_letter(FINISHED_GAME, language)
        (receipt,) = re.findall(r"^.+ \d+ .+ [0-9a-f]{64}$", letter.text, re.MULTILINE)
        page.fill("#pasted", receipt)
        page.locator(".receipts .good").wait_for()
        page.locator("#pasted").blur()

    return show


PICTURES = {
    **{f"letter-{one}": Picture((640, 1880), show_letter(one), language=one) for one in LANGUAGES},
    **{f"table-laptop-{one}": Picture(LAPTOP, show_table(CARCASSONNE), language=one) for one in LANGUAGES},
    **{f"table-phone-{one}": Picture(PHONE, show_table(CARCASSONNE), scale=2, language=one) for one in LANGUAGES},
    "table-dark": Picture(PHONE, show_table(CARCASSONNE), scale=2, dark=True),
    "kaiser": Picture(LAPTOP, show_table(KAISER)),
    "kurier": Picture(LAPTOP, show_table(KURIER)),
    "turfmaster": Picture(LAPTOP, show_table(TURFMASTER)),
    **{f"verifier-{one}": Picture((900, 880), show_verifier(one), language=one) for one in LANGUAGES},
    **{f"home-letter-{one}": Picture((600, 860), show_letter(one), language=one) for one in LANGUAGES},
    **{f"home-phone-{one}": Picture(PHONE, show_table(CARCASSONNE), language=one) for one in LANGUAGES},
}


def compress(png: bytes) -> bytes:
    """Return the picture in the small form in which pages show it."""
    file = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").save(file, "WEBP", quality=WEBP_QUALITY, method=6)
    return file.getvalue()


def get_path(folder: Path, name: str) -> Path:
    """Return the file of a picture."""
    return folder / f"{name}.webp"


def write_pictures(studio: Studio, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        path = get_path(folder, name)
        path.write_bytes(picture.photograph(studio))
        print(f"{path.name}: {picture.size[0]} × {picture.size[1]}, {path.stat().st_size // 1_000} kB")


def main(folder: Path = FOLDER) -> None:
    try:
        with open_studio() as studio:
            write_pictures(studio, folder)
    except Unavailable as missing:
        raise SystemExit(str(missing)) from missing


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
