"""Bots answer at a server as a host runs it, which lets them think in a second process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any
from urllib.error import HTTPError, URLError

import psutil
import pytest

from engine import catalogue
from tests import servers
from tests.all_switches import switch_all_on
from tests.bench.open_pages import request_json
from tests.browsing import random_move
from tests.chaos import processes
from tests.sampling import one_of

ANSWERS = 3  # that the bot has to give
ANSWER_S = 20.0  # a bot thinks for a twentieth of a second, on a busy machine behind others
POLL_S = 0.1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the JSON interface of `depesche serve`; its processes are those that a host has."""
    folder, port = tmp_path_factory.mktemp("service"), servers.free_port()
    api = f"http://127.0.0.1:{port}/api/v1"
    with processes.run_service(folder, [["serve", "--port", str(port)]], thinking=0.05):
        processes.wait_until(lambda: _is_ready(api), "the service answers")
        yield api


def _is_ready(api: str) -> bool:
    with suppress(URLError, OSError):
        return bool(request_json(f"{api}/games"))
    return False


def list_second_processes() -> list[psutil.Process]:
    """Return the processes below this one that do the work of another over a connection."""
    below = psutil.Process().children(recursive=True)
    return [process for process in below if any("process_pool" in word for word in process.cmdline())]


def start_game(api: str, name: str) -> str:
    """Sit down at a table with all boxes against bots; return its address."""
    game = catalogue.find(name)
    seats = min(game.META.seats)
    bots = [{"name": f"Bot {seat}"} for seat in range(1, seats)]
    players = [{"name": "Anna", "address": "anna@example.org"}, *bots]
    opening = {"game": name, "players": players, "options": switch_all_on(game, seats=seats), "clock": {"pace": 0}}
    address = f"{api}/t/{request_json(f'{api}/tables', opening)['links'][0]}"
    request_json(f"{address}/sit", {"nonce": "a word"})
    return address


def count_answers(address: str) -> int:
    """Return how many moves the bots have made."""
    return sum(bool(entry["seat"]) for entry in request_json(f"{address}/events?limit=500")["entries"])


def move(address: str, seen: dict[str, Any], random: Random) -> None:
    """Make any move for the person; it is refused if a bot that may move too was quicker."""
    chosen = random_move(random.choice(seen["menu"]), random)
    with suppress(HTTPError):
        request_json(f"{address}/moves", {"move": chosen, "seen": seen["length"] - 1})


@pytest.mark.parametrize("name", one_of(catalogue.find_all(), "kaiser"))
def test_a_bot_answers_the_moves_of_a_person_from_the_second_process(server: str, name: str) -> None:
    address, random = start_game(server, name), Random(name)
    answers, until = 0, time.monotonic() + ANSWER_S
    while answers < ANSWERS:
        if (seen := request_json(address))["menu"]:
            move(address, seen, random)
        else:
            time.sleep(POLL_S)
        before, answers = answers, count_answers(address)
        until = time.monotonic() + ANSWER_S if answers > before else until
        assert time.monotonic() < until, f"the bot has moved {answers} times, and does not any more"
    assert list_second_processes()
