"""The example bot as a stranger would start it: a process of its own, against a real server, until the game is over."""

from __future__ import annotations

import runpy
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.error import URLError

import msgspec
import pytest

from engine import catalogue
from engine import menu as menus
from engine.audit import audit
from engine.log import Export
from engine.menu import Choice, Move, Number, Subset
from tests import servers
from tests.chaos import processes as chaos

BOT = Path(__file__).parents[3] / "examples" / "bot.py"
SHORT_OPTIONS = {"rounds": 1, "messages": False, "rules": "basic", "horses": "2"}
MAX_LINES = 60
QUICK = ("kurier",)  # chance ends it in a hundred moves


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that runs in a process of its own; its turns wait until a letter is no longer needed."""
    folder, port = tmp_path_factory.mktemp("service"), servers.free_port()
    with (
        servers.smtp_server() as sink,
        chaos.run_service(
            folder, [["serve", "--port", str(port)]], smtp=f"smtp://{sink.hostname}:{sink.port}", gather=600
        ),
    ):
        address = f"http://127.0.0.1:{port}"
        chaos.wait_until(lambda: answers(f"{address}/healthz"), "the service answers")
        yield address


def answers(address: str) -> bool:
    with suppress(URLError, OSError), urllib.request.urlopen(address, timeout=5):
        return True
    return False


def ask(address: str, body: object = None) -> bytes:
    sent = None if body is None else msgspec.json.encode(body)
    request = urllib.request.Request(address, sent, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def make_opening(name: str) -> dict[str, object]:
    """A short game for two, or for as few as there may be."""
    meta = catalogue.find(name).META
    options = {name: value for name, value in SHORT_OPTIONS.items() if name in meta.options.__struct_fields__}
    players = [{"name": f"Bot {seat}", "address": f"bot{seat}@example.org"} for seat in range(min(meta.seats))]
    return {"game": name, "players": players, "options": options, "pace": 0}


@pytest.mark.parametrize(
    "games", [QUICK, pytest.param(tuple(catalogue.find_all()), marks=pytest.mark.release)], ids=len
)
def test_it_plays_every_game_to_its_end(server, games):
    """All these games at once, each with a bot of its own for all seats; what it leaves is a sound log."""
    api = f"{server}/api/v1"
    links = {name: msgspec.json.decode(ask(f"{api}/tables", make_opening(name)))["links"] for name in games}
    with ExitStack() as stack:
        bots = {
            name: stack.enter_context(subprocess.Popen([sys.executable, str(BOT), server, *own]))
            for name, own in links.items()
        }
        stack.callback(lambda: [bot.kill() for bot in bots.values()])
        assert {name: bot.wait(timeout=100) for name, bot in bots.items()} == dict.fromkeys(links, 0)
    for name, own in links.items():
        log = msgspec.json.decode(ask(f"{api}/t/{own[0]}/log"), type=Export)
        assert log.seed, name
        assert audit(catalogue.find(name), log).finding is None


def test_it_says_why_it_cannot_play(server):
    ended = subprocess.run([sys.executable, str(BOT), server, "nolink"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "leads nowhere" in ended.stderr


@pytest.mark.parametrize(
    "entry",
    [Choice("go", (("a", "b"), ("c",), ())), Subset("keep", ("1", "1", "2", "3"), 2, 3), Number("bid", -2, 5)],
    ids=lambda entry: entry.verb,
)
def test_it_puts_a_move_together_from_a_menu_too_long_to_be_listed(entry):
    choose = runpy.run_path(str(BOT))["choose"]
    seen = {"moves": [], "menu": msgspec.to_builtins((entry,))}
    assert all(menus.allows((entry,), Move.parse(choose(seen))) for _ in range(50))


def test_it_is_short_enough_to_be_read_at_once():
    assert len(BOT.read_text("utf-8").splitlines()) < MAX_LINES
