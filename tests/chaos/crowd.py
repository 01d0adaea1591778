"""Players who play on by page, API and mail through every fault, and record the verdicts they get."""

import hashlib
import random
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
from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from engine import catalogue
from service.links import hash_token
from service.store import Store
from service.store.schema import mails
from tests.chaos.machines import Relay
from tests.chaos.processes import RECOVERY_S
from workers.incoming.mail_results import MailResult

NAMES = ("Anna", "Berta", "Clara", "Dora", "Emma", "Frieda", "Greta", "Hanna")
MAX_SEATS = 4
RIVAL_RATE = 0.05  # how often a player sends two moves at once, from two places
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
Way = Literal["api", "page", "mail"]
Endpoint = int | tuple[str, int]  # a port of this machine, or host and port


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


class SubmissionRecord(Struct):
    """A player's record of a submission: the verdict, and when it came. `accepted` is false until then."""

    table: str
    seat: int
    source: str
    key: str
    move: str
    accepted: bool = False
    reason: str = ""
    seq: int | None = None
    asked_at: float = field(default_factory=time.monotonic)
    answered_at: float = 0.0
    requests: int = 1


class Mails:
    """The way of answers by mail: where to send them, and the service's report on each."""

    def __init__(self, port: Endpoint, relay: Relay, store: Store, host: str) -> None:
        self.port, self._relay, self._store, self._play_tables = port, relay, store, host
        self._read = 0
        self._reply_to: dict[str, str] = {}
        self._lock = threading.Lock()

    def address(self, table: str, seat: int) -> str:
        """Return the reply address of this seat's invitation; empty while the invitation has not arrived."""
        with self._lock:
            new = self._relay.received[self._read :]
            self._read += len(new)
            self._reply_to.update((letter.id, letter.reply_to) for letter in new if ".table@" in letter.id)
        return self._reply_to.get(f"<{table}.{seat}.table@{self._play_tables}>", "")

    def report(self, key: str) -> MailResult | None:
        """Return the report on a mail; None until the service has processed it."""
        query = select(mails.c.read_at, mails.c.report).where(mails.c.key == key)
        with suppress(OperationalError), self._store.reading() as connection:
            row = connection.execute(query).one_or_none()
            if row is not None and row.read_at is not None:
                return msgspec.json.decode(row.report, type=MailResult)
        return None


class Crowd:
    """Players at several tables who all play at once, and repeat each submission until they get a verdict."""

    def __init__(self, ports: Sequence[Endpoint], games: Sequence[str], mails: Mails | None = None) -> None:
        self._ports = ports
        self._games = games
        self._mails = mails
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self.records: list[SubmissionRecord] = []
        self.mailed: set[str] = set()  # the keys of mails that the service accepted
        self.links: dict[str, str] = {}
        self.errors: list[str] = []

    def play(self, tables: int) -> None:
        """Start to play at so many tables."""
        for number in range(tables):
            thread = threading.Thread(target=self._play_tables, args=(number,), daemon=True, name=f"table {number}")
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Finish the current moves, and stop."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(2 * RECOVERY_S)
            if thread.is_alive():
                self.errors.append(f"{thread.name} still runs")

    def _play_tables(self, number: int) -> None:
        """Open one table after the other and play it to the end, every second one with a bot."""
        try:
            while not self._stopping.is_set():
                self._play_table(open_table(self, self._games[number % len(self._games)], number))
                number += len(self._threads) + 1
        except Exception as error:
            self.errors.append(repr(error))

    def _play_table(self, table: "CrowdTable") -> None:
        last_move_at = time.monotonic()
        while not self._stopping.is_set() and time.monotonic() < last_move_at + RECOVERY_S:
            view = self.ask("GET", f"/api/v1/t/{random.choice(table.people)[1]}").json
            if view["phase"] == "over":
                return
            ready = [(seat, link) for seat, link in table.people if seat in view["to_move"]]
            if not ready:  # it is a bot's turn
                time.sleep(0.05)
                continue
            last_move_at = time.monotonic()
            self._move(table, *random.choice(ready))
        if not self._stopping.is_set():
            raise Unreachable(f"no bot moved at {table.id}")

    def _move(self, table: "CrowdTable", seat: int, link: str) -> None:
        view = self.ask("GET", f"/api/v1/t/{link}").json
        if not view["menu"]:
            return
        if random.random() < RIVAL_RATE:
            rival = threading.Thread(target=self._submit_by_api, args=(table.id, seat, link, view))
            rival.start()
            self._submit_by_api(table.id, seat, link, view)
            rival.join()
            return
        address = self._mails.address(table.id, seat) if self._mails else ""
        match random.choice(["api", "api", "page", "mail" if address else "page"]):
            case "api":
                self._submit_by_api(table.id, seat, link, view)
            case "page":
                self._submit_by_page(table.id, seat, link, view)
            case "mail" if self._mails:
                self._submit_by_mail(table, seat, view, self._mails, address)

    def _submit_by_api(self, table: str, seat: int, link: str, view: Any) -> None:
        key, move = uuid.uuid4().hex, choose_move(view)
        body = {"move": move, "seen": view["length"] - 1, "key": key}
        self.submit(f"/api/v1/t/{link}/moves", body, SubmissionRecord(table, seat, "player", key, move))

    def _submit_by_page(self, table: str, seat: int, link: str, view: Any) -> None:
        key, move = uuid.uuid4().hex[:16], choose_move(view)
        form = {"move": move, "seen": view["length"] - 1, "key": key}
        record = SubmissionRecord(table, seat, "player", f"{key}/{move}", move)
        sent = self.ask("POST", f"/t/{link}", urlencode(form).encode(), {"Content-Type": FORM})
        assert sent.status == 303, sent
        number = parse_qs(urlsplit(sent.headers["Location"]).query)["said"][0]
        end = time.monotonic() + RECOVERY_S
        while time.monotonic() < end:
            verdict = self.ask("GET", f"/api/v1/t/{link}/submissions/{number}").json
            assert "accepted" in verdict, verdict
            if verdict["accepted"] is not None:
                self._add_record(record, verdict["accepted"], verdict["refused"], verdict["seq"], sent.requests)
                return
            time.sleep(0.05)
        raise Unreachable(f"no verdict on {form}")

    def _submit_by_mail(self, table: "CrowdTable", seat: int, view: Any, mails: Mails, address: str) -> None:
        mail, move, own = EmailMessage(), choose_move(view), table.addresses[seat]
        mail["From"], mail["To"], mail["Subject"], mail["Message-ID"] = own, address, "Re: your turn", make_msgid()
        mail.set_content(f"{move}\n")
        digest = hashlib.sha256(str(mail["Message-ID"]).encode()).hexdigest()[:40]
        record = SubmissionRecord(table.id, seat, "mail", f"{table.id}/{seat}/mail/{digest}", move)
        requests = self._deliver(mails.port, own, address, mail)
        with self._lock:
            self.mailed.add(record.key)
        end = time.monotonic() + RECOVERY_S
        while time.monotonic() < end:
            if (report := mails.report(record.key)) is not None:
                (line, *_) = report.lines
                self._add_record(record, line.outcome == "done", str(line.why), line.seq, requests)
                return
            time.sleep(0.1)
        raise Unreachable(f"no report on the mail with “{move}”")

    def _deliver(self, port: Endpoint, own: str, address: str, mail: EmailMessage) -> int:
        """Deliver a mail as a mail server does, again and again until it is accepted; return the number of attempts."""
        for attempts in range(1, 1_000):
            try:
                with smtplib.LMTP(*host_and_port(port), timeout=10) as server:
                    server.send_message(mail, own, [address])
                    if random.random() < RIVAL_RATE:  # like a mail server that missed the answer
                        server.send_message(mail, own, [address])
                return attempts
            except (OSError, smtplib.SMTPException):
                time.sleep(random.uniform(0.1, 0.3))
        raise Unreachable("no mail is accepted")

    def submit(self, path: str, body: Mapping[str, Any], record: SubmissionRecord) -> None:
        """Submit a move, and repeat it with the same key until there is a verdict."""
        requests = 0
        while time.monotonic() < record.asked_at + RECOVERY_S:
            answer = self.ask("POST", path, msgspec.json.encode(body))
            requests += answer.requests
            if answer.status != 202:
                verdict = answer.json
                self._add_record(record, answer.status == 200, verdict.get("refused", ""), verdict.get("seq"), requests)
                return
        raise Unreachable(f"no verdict on {body}")

    def _add_record(
        self, record: SubmissionRecord, accepted: bool, reason: str, seq: int | None, requests: int
    ) -> None:
        done = replace(
            record, accepted=accepted, reason=reason, seq=seq, answered_at=time.monotonic(), requests=requests
        )
        with self._lock:
            self.records.append(done)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {"Content-Type": JSON}
    ) -> Answer:
        """Return the answer of the service; repeat the request until there is one."""
        requests, end = 0, time.monotonic() + RECOVERY_S
        while time.monotonic() < end:
            requests += 1
            try:
                answer = request(random.choice(self._ports), method, path, body, headers)
            except (OSError, HTTPException):
                time.sleep(random.uniform(0.02, 0.1))
                continue
            if answer.status == 503:  # the database is down for a moment
                time.sleep(random.uniform(0.1, 0.3))
                continue
            if answer.status < 500:
                return replace(answer, requests=requests)
            self.errors.append(f"{method} {path}: {answer.status} {answer.body[:200]!r}")
        raise Unreachable(path)


class CrowdTable(Struct, frozen=True):
    """A table whose players all sit: the seats of people with their links, and their addresses."""

    id: str
    people: tuple[tuple[int, str], ...]
    addresses: tuple[str, ...]


def open_table(crowd: Crowd, game: str, number: int) -> CrowdTable:
    """Open a table, at every odd number with a bot, and let all its people sit down."""
    seats = random.choice([seats for seats in catalogue.find(game).META.seats if seats <= MAX_SEATS])
    bots = number % 2
    addresses = tuple(f"{name.lower()}.{number}@example.org" for name in NAMES[: seats - bots])
    players = [{"name": name, "address": address} for name, address in zip(NAMES, addresses, strict=False)]
    players += [{"name": "Bot", "level": "easy"}] * bots
    body = {"game": game, "players": players, "key": uuid.uuid4().hex}
    opened = crowd.ask("POST", "/api/v1/tables", msgspec.json.encode(body)).json
    people = tuple((seat, link) for seat, link in enumerate(opened["links"]) if link)
    crowd.links[opened["table"]] = people[0][1]
    for seat, link in people:
        record = SubmissionRecord(opened["table"], seat, "sit", f"{hash_token(link)}/0", "sit")
        crowd.submit(f"/api/v1/t/{link}/sit", {"nonce": f"word{seat}"}, record)
    return CrowdTable(opened["table"], people, addresses)


def choose_move(view: Any) -> str:
    """Choose any move, from the menu if its moves are too many to be listed."""
    if view["moves"]:
        return str(random.choice(view["moves"]))
    match random.choice(view["menu"]):
        case {"type": "choice", "verb": verb, "options": options}:
            return " ".join([verb, *random.choice(options)])
        case {"type": "subset", "verb": verb, "items": items, "least": least}:
            return " ".join([verb, *random.sample(items, least)])
        case {"verb": verb, "least": least, "most": most}:
            return f"{verb} {random.randint(least, most)}"
        case unknown:
            raise AssertionError(unknown)


def host_and_port(endpoint: Endpoint) -> tuple[str, int]:
    return endpoint if isinstance(endpoint, tuple) else ("127.0.0.1", endpoint)


def request(port: Endpoint, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    connection = HTTPConnection(*host_and_port(port), timeout=10)
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        return Answer(response.status, response.read(), response.headers)
    finally:
        connection.close()


def longest_waits(injected: Sequence[tuple[float, str]], crowd: Crowd) -> dict[str, float]:
    """Return for each kind of fault the longest wait in seconds for a verdict that was pending when it began."""
    waits: dict[str, float] = {}
    for at, name in injected:
        across = [record.answered_at - at for record in crowd.records if record.asked_at <= at <= record.answered_at]
        waits[name] = max([waits.get(name, 0.0), *across])
    return waits
