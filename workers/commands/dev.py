"""`depesche dev`: a page for the author of a game, drawn again whenever a file of its package is saved."""

from __future__ import annotations

import json
import sys
import threading
import time
import tomllib
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs

from service.commands.terminal import FINE, Misuse, Parser, Subparsers, add_command, parse_positive
from service.numbers import parse_int

THREADS = 6
PAGE = Path(__file__).parent / "dev_page.html"
POLL_S = 0.1  # between two looks at the files: little beside the half second that an author waits
NEWS_WAIT_S = 20  # until a page that got no news asks again
FIRST_MOVES, MAX_MOVES = 4, 999  # random moves of the table: at first, and at most


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `dev`."""
    parser = add_command(
        subparsers,
        "dev",
        run_dev,
        "Show board, letter and menu of every seat while a game is being written, and what is broken.",
        "depesche dev",
        "depesche dev liars_dice --port 8766",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="an installed game; else that of the package in here")
    parser.add_argument("--port", type=parse_positive, default=8766, help="port to listen on")


def run_dev(args: Namespace) -> int:
    """Serve the page until Ctrl-C; the tables that it shows are in a temporary folder."""
    from engine import catalogue
    from service.app import App
    from service.settings import Settings
    from service.web import server
    from workers.commands import run

    name = args.name or _find_own_game(Path())
    sys.dont_write_bytecode = True  # a file saved twice in a second would be taken for its older self
    if catalogue.find_missing([name]) and name not in catalogue.find_installed():
        raise Misuse(f"No installed package brings the game “{name}”; pip install --editable it first.")
    with (
        run.take_port("127.0.0.1", args.port) as listener,
        TemporaryDirectory(prefix="depesche-dev-") as folder,
    ):
        app = App(Settings(folder=Path(folder), confirm=False, gather=0, opens_per_hour=10**9, verdict_wait=0.0))
        app.store.migrate()
        page = DevPage(app, name)
        threading.Thread(target=page.watch, name="watch", daemon=True).start()
        print(f"{name} is drawn at http://127.0.0.1:{args.port}/ (stop with Ctrl-C)", flush=True)
        server.create_wsgi_server(page, listener, THREADS, page.stop).serve_requests()
        app.close()
    return FINE


def _find_own_game(folder: Path) -> str:
    """Return the name of the game in the package in this folder."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        return str(next(iter(project["entry-points"]["depesche.games"])))
    except (OSError, KeyError, StopIteration, tomllib.TOMLDecodeError) as error:
        raise Misuse("There is no package with a game in this folder; name an installed game.") from error


class DevPage:
    """The page as a WSGI application; watches the files of the game and loads it again after each change."""

    def __init__(self, app: Any, name: str) -> None:
        from engine import catalogue

        self.app = app
        self.name = name
        self._home = catalogue.find_package_folder(name)  # once, because it searches all installed packages
        self.broken: list[str] = []  # the errors of the game and the promises that it breaks
        self.version = 0  # of the page, which is drawn again when this grows
        self._stopped = False
        self._drawing = threading.Lock()
        self._news = threading.Condition()
        self._files: Mapping[Path, int] = {}
        self._load()

    def watch(self) -> None:
        """Load the game again after each change, and check the promises of its contract."""
        while True:
            self._check_promises()
            while self._list_files() == self._files:
                time.sleep(POLL_S)
            self._load()

    def stop(self) -> None:
        """Answer the pages that wait for news, so that the server can stop."""
        with self._news:
            self._stopped = True
            self._news.notify_all()

    def _list_files(self) -> dict[Path, int]:
        """Return when each file of the package was saved; an editor's own files come and go."""
        paths = (path for path in self._home.rglob("*") if path.suffix != ".pyc")
        return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}

    def _load(self) -> None:
        """Load the game again, or record why that is impossible; open pages are drawn again."""
        from engine import catalogue
        from engine.refusal import Refused
        from workers.commands import dev_table

        with self._drawing:
            self._files = self._list_files()
            dev_table.clear_caches()
            try:
                catalogue.reload(self.name)
                self.broken = []
            except Refused as refused:
                self.broken = [dev_table.describe_error(refused.__cause__ or refused)]
        self._announce()

    def _check_promises(self) -> None:
        """Find the promises that the game breaks; open pages are drawn again if these are others than before."""
        from engine import catalogue
        from workers.commands import dev_table

        if self.name in catalogue.find_all():
            broken = dev_table.find_broken_promises(self.name, self._home.parent)
            if broken != self.broken:
                self.broken = broken
                self._announce()

    def _announce(self) -> None:
        """Count a new version, and wake the pages that wait for it."""
        with self._news:
            self.version += 1
            self._news.notify_all()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request for the page, or for the number of its newest version (`/news`)."""
        query = {word: values[0] for word, values in parse_qs(environ.get("QUERY_STRING", "")).items()}
        if environ["PATH_INFO"] == "/news":
            body = self._wait_for_news(parse_int(query.get("seen", "")))
            kind = "application/json"
        else:
            body = self.render_page(query)
            kind = "text/html; charset=utf-8"
        start_response("200 OK", [("Content-Type", kind), ("Cache-Control", "no-store")])
        return [body.encode()]

    def _wait_for_news(self, seen: int | None) -> str:
        """Wait, at most NEWS_WAIT_S, for another version than the page has `seen`; return the newest one, as JSON."""
        with self._news:
            self._news.wait_for(lambda: self._stopped or self.version != seen, NEWS_WAIT_S)
            return json.dumps(self.version)

    def render_page(self, query: Mapping[str, str]) -> str:
        """Return the page: the table after some moves, or the errors that prevent it."""
        from engine import catalogue
        from service.text.languages import LANGUAGES, SOURCE
        from service.text.templates import get_environment
        from workers.commands import dev_table

        moves = parse_int(query.get("moves", str(FIRST_MOVES)), MAX_MOVES) or 0
        language = query["in"] if query.get("in") in LANGUAGES else SOURCE
        chosen_seats = parse_int(query.get("seats", "")) or 0
        seat_counts: tuple[int, ...] = ()
        with self._drawing:
            broken = list(self.broken)
            seats, table = 0, None
            try:
                seat_counts = catalogue.find(self.name).META.seats
                seats = chosen_seats if chosen_seats in seat_counts else min(seat_counts)
                table = dev_table.play(self.app, self.name, seats, moves, language)
            except Exception as fault:  # any error of the author's
                if self.name in catalogue.find_all():  # else it could not be loaded, as `broken` says already
                    broken.append(dev_table.describe_error(fault))
            template = get_environment(SOURCE).from_string(PAGE.read_text("utf-8"))
            return template.render(
                name=self.name,
                languages=LANGUAGES,
                language=language,
                seat_counts=seat_counts,
                max_moves=MAX_MOVES,
                seats=seats,
                moves=moves,
                version=self.version,
                table=table,
                broken=dict.fromkeys(broken),  # each once
            )
