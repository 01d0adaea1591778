"""A bot in a few lines: it plays any game for the seats of some links, until the game is over.

    python bot.py http://127.0.0.1:8765 LINK [LINK ...]

A link is the last part of a seat's address (…/t/LINK). The bot sits down first if necessary, and needs only Python.
To play better, change `choose`: `view` is everything that the seat may know; /api on the server explains it.
"""

import json
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

POLL_S = 1.0


def ask(url, body=None):
    """Send a request; return the status and the answer, also of a refusal."""
    sent = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, sent, {"Content-Type": "application/json"}), timeout=30) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refusal:
        time.sleep(float(refusal.headers.get("Retry-After", 0)))  # too many moves in a short time
        return refusal.code, json.load(refusal)


def choose(view):
    """Choose any move, from the menu if its moves are too many to be listed."""
    if view["moves"]:
        return random.choice(view["moves"])
    match random.choice(view["menu"]):
        case {"type": "choice", "verb": verb, "options": options}:
            return " ".join([verb, *random.choice(options)])
        case {"type": "subset", "verb": verb, "items": items, "least": least}:
            return " ".join([verb, *random.sample(items, least)])
        case {"type": "number", "verb": verb, "least": least, "most": most}:
            return f"{verb} {random.randint(least, most)}"


def take_turn(url):
    """Make a move if it is the seat's turn; return "moved", "waiting" or "over"."""
    status, view = ask(url)
    if status != 200:
        sys.exit(view["refused"])
    if view["phase"] == "gathering":
        ask(f"{url}/sit", {"nonce": str(random.getrandbits(40))})
    if not view["menu"]:
        return "over" if view["phase"] == "over" else "waiting"
    status, _ = ask(f"{url}/moves", {"move": choose(view), "seen": view["length"] - 1})
    return "moved" if status < 300 else "waiting"  # refused with 422 if another move was quicker


if __name__ == "__main__":
    tables = [f"{sys.argv[1]}/api/v1/t/{link}" for link in sys.argv[2:]]
    while set(turns := [take_turn(table) for table in tables]) != {"over"}:
        time.sleep(0 if "moved" in turns else POLL_S)
