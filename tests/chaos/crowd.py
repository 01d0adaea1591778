"""People who play on by page, program and mail, whatever befalls the service, and write down what they were told."""

import hashlib
import random
import re
import smtplib
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.utils import make_msgid
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine import catalogue
from service.links import hashed
from service.store import Store
from service.store.schema import mails
from tests.chaos.machines import Relay
from tests.chaos.processes import PATIENCE
from workers.incoming.mail_reports import MailReport

NAMES = ("Anna", "Berta", "Clara", "Dora", "Emma", "Frieda", "Greta", "Hanna")
MOST = 4  # seats at a table
RIVALS = 0.05  # how often somebody sends two moves at once, from two places
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
Way = Literal["api", "page", "mail"]
Place = int | tuple[str, int]  # a port of this machine, or of another host


class Answer(Struct):
    status: int
    body: bytes
    headers: Mapping[str, str]
    requests: int = 1

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Unreachable(Exception):
    """The service did not answer for a long time."""


class Heard(Struct):
    """What a player was told about a submission; one by mail that no referee saw has no key."""

    table: str
    seat: int
    source: str
    key: str
    move: str
    accepted: bool
    said: str
    seq: int | None
    asked_at: float
    told_at: float
    requests: int = 1


class Mails:
    """How players write: where answers go to, where letters say so, and where it stands what became of them."""

    def __init__(self, port: Place, relay: Relay, store: Store, host: str) -> None:
        self.port, self._relay, self._store, self._host = port, relay, store, host
        self._read = 0
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def address(self, table: str, seat: int) -> str:
        """Where the answer to the invitation of this seat goes to; empty while it has not arrived."""
        with self._lock:
            new = self._relay.taken[self._read :]
            self._read += len(new)
            self._known.update((letter.id, letter.reply_to) for letter in new if ".table@" in letter.id)
        return self._known.get(f"<{table}.{seat}.table@{self._host}>", "")

    def report(self, key: str) -> MailReport | None:
        """What became of a mail; None while nobody has read it."""
        found = select(mails.c.read_at, mails.c.report).where(mails.c.key == key)
        with suppress(OperationalError), self._store.reading() as connection:
            row = connection.execute(found).one_or_none()
            if row is not None and row.read_at is not None:
                return msgspec.json.decode(row.report, type=MailReport)
        return None


class Crowd:
    """People at several tables who all play at once, and repeat what they were not told a verdict on."""

    def __init__(self, ports: Sequence[Place], games: Sequence[str], mails: Mails | None = None) -> None:
        self._ports = ports
        self._games = games
        self._mails = mails
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self.heard: list[Heard] = []
        self.mailed: set[str] = set()  # the keys of mails that were thanked for
        self.links: dict[str, str] = {}
        self.errors: list[str] = []

    def play(self, tables: int) -> None:
        """Begin to play at so many tables."""
        for number in range(tables):
            thread = threading.Thread(target=self._host, args=(number,), daemon=True, name=f"table {number}")
            self._threads.append(thread)
            thread.start()

    def leave(self) -> None:
        """Finish the move in hand, and stop."""
        self._over.set()
        for thread in self._threads:
            thread.join(2 * PATIENCE)
            if thread.is_alive():
                self.errors.append(f"{thread.name} still waits")

    def _host(self, number: int) -> None:
        """Open one table after the other and play it to the end, at every second one with a bot."""
        try:
            while not self._over.is_set():
                self._play(Sitting.opened(self, self._games[number % len(self._games)], number))
                number += len(self._threads) + 1
        except Exception as error:
            self.errors.append(repr(error))

    def _play(self, sitting: "Sitting") -> None:
        began = time.monotonic()
        while not self._over.is_set() and time.monotonic() < began + PATIENCE:
            seen = self.ask("GET", f"/api/v1/t/{random.choice(sitting.people)[1]}").json
            if seen["phase"] == "over":
                return
            ready = [(seat, link) for seat, link in sitting.people if seat in seen["to_move"]]
            if not ready:  # a bot's turn: where it never moves, our patience ends
                time.sleep(0.05)
                continue
            began = time.monotonic()
            self._move(sitting, *random.choice(ready))
        if not self._over.is_set():
            raise Unreachable(f"no bot moved at {sitting.table}")

    def _move(self, sitting: "Sitting", seat: int, link: str) -> None:
        seen = self.ask("GET", f"/api/v1/t/{link}").json
        if not seen["menu"]:
            return
        if random.random() < RIVALS:
            rival = threading.Thread(target=self._by_program, args=(sitting.table, seat, link, seen))
            rival.start()
            self._by_program(sitting.table, seat, link, seen)
            rival.join()
            return
        address = self._mails.address(sitting.table, seat) if self._mails else ""
        ways = [self._by_program, self._by_program, self._by_page]
        if self._mails and address:
            mails = self._mails
            ways.append(lambda *place: self._by_mail(*place, mails, sitting.addresses[seat], address))
        random.choice(ways)(sitting.table, seat, link, seen)

    def _by_program(self, table: str, seat: int, link: str, seen: Any) -> None:
        key, move = uuid.uuid4().hex, chosen(seen)
        body = {"move": move, "seen": seen["length"] - 1, "key": key}
        self.submit(f"/api/v1/t/{link}/moves", body, Heard(table, seat, "player", key, move, *unheard()))

    def _by_page(self, table: str, seat: int, link: str, seen: Any) -> None:
        key, move = uuid.uuid4().hex[:16], chosen(seen)
        page = self.ask("GET", f"/t/{link}")
        token, cookie = CSRF.search(page.body.decode()), page.headers.get("Set-Cookie", "").partition(";")[0]
        if token is None:
            return  # the game ended in the meantime
        form = {"csrf_token": token[1], "move": move, "seen": seen["length"] - 1, "key": key}
        heard = Heard(table, seat, "player", f"{key}/{move}", move, *unheard())
        sent = self.ask("POST", f"/t/{link}", urlencode(form).encode(), {"Content-Type": FORM, "Cookie": cookie})
        assert sent.status == 303, sent
        number = parse_qs(urlsplit(sent.headers["Location"]).query)["said"][0]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            told = self.ask("GET", f"/api/v1/t/{link}/submissions/{number}").json
            if told["accepted"] is not None:
                self._note(heard, told["accepted"], told["refused"], told["seq"], sent.requests)
                return
            time.sleep(0.05)
        raise Unreachable(f"no verdict on {form}")

    def _by_mail(self, table: str, seat: int, link: str, seen: Any, mails: Mails, own: str, address: str) -> None:
        mail, move = EmailMessage(), chosen(seen)
        mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = own, address, "Re: your turn", make_msgid()
        mail.set_content(f"{move}\n")
        digest = hashlib.sha256(str(mail["Message-ID"]).encode()).hexdigest()[:40]
        heard = Heard(table, seat, "mail", f"{table}/{seat}/mail/{digest}", move, *unheard())
        requests = self._handed_over(mails.port, own, address, mail)
        with self._lock:
            self.mailed.add(heard.key)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (report := mails.report(heard.key)) is not None:
                (line, *_) = report.lines
                self._note(heard, line.outcome == "done", str(line.why), line.seq, requests)
                return
            time.sleep(0.1)
        raise Unreachable(f"nobody read “{move}”")

    def _handed_over(self, port: Place, own: str, address: str, mail: EmailMessage) -> int:
        """As a mail server does: again and again until it is thanked; how often it was."""
        for tries in range(1, 1_000):
            try:
                with smtplib.LMTP(*where(port), timeout=10) as server:
                    server.send_message(mail, own, [address])
                    if random.random() < RIVALS:  # a mail server that did not hear the thanks
                        server.send_message(mail, own, [address])
                return tries
            except (OSError, smtplib.SMTPException):
                time.sleep(random.uniform(0.1, 0.3))
        raise Unreachable("no mail is taken")

    def submit(self, path: str, body: Mapping[str, Any], heard: Heard) -> None:
        """Hand this in and repeat it, with the same key, until there is a verdict."""
        requests = 0
        while time.monotonic() < heard.asked_at + PATIENCE:
            answer = self.ask("POST", path, msgspec.json.encode(body))
            requests += answer.requests
            if answer.status != 202:
                told = answer.json
                self._note(heard, answer.status == 200, told.get("refused", ""), told.get("seq"), requests)
                return
        raise Unreachable(f"no verdict on {body}")

    def _note(self, heard: Heard, accepted: bool, said: str, seq: int | None, requests: int) -> None:
        told = replace(heard, accepted=accepted, said=said, seq=seq, told_at=time.monotonic(), requests=requests)
        with self._lock:
            self.heard.append(told)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {"Content-Type": JSON}
    ) -> Answer:
        """The service's answer, asking again until there is one."""
        requests, until = 0, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            requests += 1
            try:
                answer = request(random.choice(self._ports), method, path, body, headers)
            except (OSError, HTTPException):
                time.sleep(random.uniform(0.02, 0.1))
                continue
            if answer.status == 503:  # the database is away for a moment, and the house says so
                time.sleep(random.uniform(0.1, 0.3))
                continue
            if answer.status < 500:
                return replace(answer, requests=requests)
            self.errors.append(f"{method} {path}: {answer.status} {answer.body[:200]!r}")
        raise Unreachable(path)


class Sitting(Struct, frozen=True):
    """A table at which everybody sits: the seats of people with their links and addresses."""

    table: str
    people: tuple[tuple[int, str], ...]
    addresses: tuple[str, ...]

    @classmethod
    def opened(cls, crowd: Crowd, game: str, number: int) -> "Sitting":
        seats = random.choice([seats for seats in catalogue.find(game).META.seats if seats <= MOST])
        bots = number % 2
        addresses = tuple(f"{name.lower()}.{number}@example.org" for name in NAMES[: seats - bots])
        players = [{"name": name, "address": address} for name, address in zip(NAMES, addresses, strict=False)]
        players += [{"name": "Bot", "level": "easy"}] * bots
        body = {"game": game, "players": players, "key": uuid.uuid4().hex}
        made = crowd.ask("POST", "/api/v1/tables", msgspec.json.encode(body)).json
        people = tuple((seat, link) for seat, link in enumerate(made["links"]) if link)
        crowd.links[made["table"]] = people[0][1]
        for seat, link in people:
            sat = Heard(made["table"], seat, "sit", f"{hashed(link)}/0", "sit", *unheard())
            crowd.submit(f"/api/v1/t/{link}/sit", {"nonce": f"word{seat}"}, sat)
        return cls(made["table"], people, addresses)


def unheard() -> tuple[bool, str, None, float, float]:
    """The end of what is written down before there is a verdict."""
    return False, "", None, time.monotonic(), 0.0


def chosen(seen: Any) -> str:
    """Any move; one put together from the menu where that is too long to be listed."""
    if seen["moves"]:
        return str(random.choice(seen["moves"]))
    match random.choice(seen["menu"]):
        case {"type": "choice", "verb": verb, "options": options}:
            return " ".join([verb, *random.choice(options)])
        case {"type": "subset", "verb": verb, "items": items, "least": least}:
            return " ".join([verb, *random.sample(items, least)])
        case {"verb": verb, "least": least, "most": most}:
            return f"{verb} {random.randint(least, most)}"
        case unknown:
            raise AssertionError(unknown)


def where(place: Place) -> tuple[str, int]:
    """Host and port."""
    return place if isinstance(place, tuple) else ("127.0.0.1", place)


def request(port: Place, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    connection = HTTPConnection(*where(port), timeout=10)
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, response.read(), dict(response.headers))
    finally:
        connection.close()


def longest_waits(befell: Sequence[tuple[float, str]], crowd: Crowd) -> dict[str, float]:
    """For each kind of fault the longest wait for a verdict, in seconds, of those who waited as it began."""
    waits: dict[str, float] = {}
    for at, name in befell:
        over = [heard.told_at - at for heard in crowd.heard if heard.asked_at <= at <= heard.told_at]
        waits[name] = max([waits.get(name, 0.0), *over])
    return waits
