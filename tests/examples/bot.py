"""A bot in a few lines: it plays any game, for the seats whose links it is given, until the game is over.

    python bot.py http://127.0.0.1:8765 LINK [LINK ...]

A link is the last part of a seat's address (…/t/LINK); the bot sits down first if need be, and needs Python alone.
To play better change `choose`: `seen` is all that its seat may know, and /api on the server explains it.
"""

import json
import random
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PATIENCE = 1.0  # seconds between two looks while others are to move


def ask(url, body=None):
    """The server's status and answer; refusals are answers too."""
    sent = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, sent, {"Content-Type": "application/json"}), timeout=30) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        time.sleep(float(refused.headers.get("Retry-After", 0)))  # moved too fast: so long we are to wait
        return refused.code, json.load(refused)


def choose(seen):
    """Any move; one put together from the menu where that is too long to be listed."""
    if seen["moves"]:
        return random.choice(seen["moves"])
    match random.choice(seen["menu"]):
        case {"type": "choice", "verb": verb, "options": options}:
            return " ".join([verb, *random.choice(options)])
        case {"type": "subset", "verb": verb, "items": items, "least": least}:
            return " ".join([verb, *random.sample(items, least)])
        case {"type": "number", "verb": verb, "least": least, "most": most}:
            return f"{verb} {random.randint(least, most)}"


def turn(url):
    """One look at the table and, where it is our turn, one move: "over", "moved" or "waiting"."""
    status, seen = ask(url)
    if status != 200:
        sys.exit(seen["refused"])
    if seen["phase"] == "gathering":
        ask(f"{url}/sit", {"nonce": str(random.getrandbits(40))})
    if not seen["menu"]:
        return "over" if seen["phase"] == "over" else "waiting"
    status, _ = ask(f"{url}/moves", {"move": choose(seen), "seen": seen["length"] - 1})
    return "moved" if status < 300 else "waiting"  # refused with 422 where somebody was quicker


if __name__ == "__main__":
    tables = [f"{sys.argv[1]}/api/v1/t/{link}" for link in sys.argv[2:]]
    while set(turns := [turn(table) for table in tables]) != {"over"}:
        time.sleep(0 if "moved" in turns else PATIENCE)
