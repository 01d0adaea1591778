"""What the host of a service can set, by environment variables that begin with DEPESCHE_, or by files they name."""

from __future__ import annotations

import difflib
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from email.utils import parseaddr
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from engine.catalogue import NAME
from engine.options import SWITCH_WORDS
from engine.refusal import Refused
from service import beacon as beacons
from service import numbers, setting_files

DAY = 86_400
EMBEDDED = "embedded"
NUMBER = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?")
WIRE = re.compile(r"[!-~]*")  # what an address on the wire is made of
SENDER = re.compile(r"[!-;=?A-~]{1,64}@[A-Za-z0-9.-]{1,200}")
SHORTEST_SECRET = 16
LUCK = ("sealed", "public")
WORDS = (("luck", LUCK), ("logs", ("plain", "json")), ("answer_to", ("play", "plus", "subject")))
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
PREFIX = "DEPESCHE_"
OTHERS = ("DEPESCHE_NO_SKIPS",)  # not ours, but that of our tests
QUICKNET = (  # drand's public beacon, a round every three seconds
    "https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971 "
    "https://drand.cloudflare.com/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971 "
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a "
    "1692803367 3"
)
SCHEMES = (
    ("smtp", ("smtp", "smtps", "smtp+tls"), "smtp+tls://user:password@mail.example.org:587"),
    ("redis", ("redis", "rediss", "unix"), "redis://cache/0"),
    ("imap", ("imaps", "imap"), "imaps://user:password@mail.example.org/INBOX"),
    ("address", ("http", "https"), "https://games.example.org"),
    ("database", ("sqlite", "postgresql", "postgresql+psycopg"), "postgresql+psycopg://depesche@db/depesche"),
    ("replica", ("postgresql", "postgresql+psycopg"), "postgresql+psycopg://depesche@replica/depesche"),
)


class Settings(Struct, frozen=True, dict=True):  # `dict` for the cached properties
    """Everything that differs from one house to another; the defaults are those of the embedded service."""

    folder: Path = Path("depesche-data")
    database: str = ""
    replica: str = ""  # a copy of that database, which finished games are read from
    redis: str = EMBEDDED
    secret: str = ""
    address: str = "http://127.0.0.1:8765"
    host: str = "127.0.0.1"
    port: int = 8765
    proxies: int = 0  # web servers in front, whose word is taken for who visits
    smtp: str = EMBEDDED
    sender: str = "depesche@localhost"
    dkim: str = ""  # the selector of the key that the relay signs with, for the doctor
    pace: int = 3 * DAY
    reminder: float = 0.25
    vacation: int = 30
    patience: float = 2.0
    thinking: float = 2.0  # seconds that a bot may take at most
    lease: int = 120
    opens_per_hour: int = 30
    moves_per_minute: int = 120
    invitations_per_day: int = 30
    confirm: bool = True
    gather: int = 60
    inbound: str = ""
    imap: str = ""  # an ordinary mailbox that answers are fetched from
    answer_to: str = ""  # play, plus or subject: where an answer says which seat it is from
    answers_per_hour: int = 30
    require_authentication: bool = False
    trusted_authserv: str = ""
    logs: str = "plain"  # for people, or json for programs
    metrics: str = ""  # the word with which monitoring elsewhere may read /metrics
    luck: str = "sealed"  # how new tables draw, where their opener does not say: sealed or public
    beacon: str = QUICKNET  # of public draws: where its rounds are, its key, its first round and its period
    games: str = ""  # installed packages whose games may be played here; their code runs with our rights

    @property
    def beacon_source(self) -> beacons.Source:
        return beacons.source(self.beacon)

    @property
    def packages(self) -> tuple[str, ...]:
        return package_names(self.games)

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{(self.folder / 'depesche.sqlite').resolve()}"

    @cached_property
    def confirms(self) -> bool:
        """Whether an organiser has to prove his address before letters go to others; not where no letters leave."""
        return self.confirm and self.smtp != EMBEDDED

    @cached_property
    def gathers(self) -> int:
        """So many seconds a turn letter waits, so that two turns make one; one that never leaves does not."""
        return 0 if self.smtp == EMBEDDED else self.gather

    @cached_property
    def answered_at(self) -> str:
        """How an answer names its seat: in the address `play+…`, in the sender's own with a plus, or in the subject."""
        return self.answer_to or ("plus" if self.imap else "play")

    @cached_property
    def mail_host(self) -> str:
        """The right-hand side of the addresses and message ids of this house."""
        return self.sender_address.rpartition("@")[2]

    @cached_property
    def sender_address(self) -> str:
        """The address that letters come from, without the name before it."""
        return parseaddr(self.sender)[1]

    @cached_property
    def sender_name(self) -> str:
        """The name that letters come from: Depesche, unless the host chose another."""
        return parseaddr(self.sender)[0] or "Depesche"


KNOWN = frozenset(f"{PREFIX}{name.upper()}" for name in Settings.__struct_fields__)


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings this environment asks for, by itself or by the files it names."""
    words = setting_files.laid_out(environment, KNOWN)
    _refuse_unknown(words)
    chosen: dict[str, Any] = {}
    for name, default in _defaults().items():
        text = words.get(f"{PREFIX}{name.upper()}")
        if text and text.strip():
            chosen[name] = _value(name, text, default)
    found = Settings(**chosen)
    return checked(found if "address" in chosen else replace(found, address=_visited_at(found)))


def _refuse_unknown(names: Iterable[str]) -> None:
    """A mistyped name would be no setting at all, and the house another than its host meant."""
    files = [f"{name}{setting_files.ENDING}" for name in KNOWN]
    for name in sorted(names):
        if name.startswith(PREFIX) and name not in (*KNOWN, *OTHERS):
            meant = difflib.get_close_matches(name, sorted([*KNOWN, *files]), 1, 0.6)
            raise Refused(
                "There is no setting {name}. {hint}",
                name=name,
                hint=f"Did you mean {meant[0]}?" if meant else "README.md says which there are.",
            )


def checked(settings: Settings) -> Settings:
    """The same settings, refused in a sentence where no house could be run with them."""
    _refuse_beyond("port", settings.port, 1, 65_535)
    if settings.secret:
        _long_enough(settings.secret, "DEPESCHE_SECRET")
    if settings.inbound:
        listening_address("DEPESCHE_INBOUND", settings.inbound)
    for package in settings.packages:
        if not NAME.fullmatch(package):
            raise Refused("DEPESCHE_GAMES lists names of games such as liars_dice, not “{name}”.", name=package)
    for name, schemes, example in SCHEMES:
        _refuse_scheme(name, getattr(settings, name), schemes, example)
    for name in ("pace", "vacation", "lease", "gather", "thinking", "patience", "proxies"):
        _refuse_beyond(name, getattr(settings, name), 0)
    for name in ("moves_per_minute", "opens_per_hour", "invitations_per_day", "answers_per_hour", "lease"):
        _refuse_beyond(name, getattr(settings, name), 1)
    _refuse_beyond("reminder", settings.reminder, 0, 1)
    for name, words in WORDS:
        _refuse_other_words(name, getattr(settings, name), words)
    _refuse_mailbox(settings)
    beacons.source(settings.beacon)
    if not SENDER.fullmatch(settings.sender_address) or not settings.sender.isprintable():
        raise Refused(
            "DEPESCHE_SENDER has to be an address such as depesche@example.org, not “{text}”.", text=settings.sender
        )
    return settings


def refuse_address(text: str) -> None:
    """Raise Refused where this cannot be the address of a house."""
    _, schemes, example = next(known for known in SCHEMES if known[0] == "address")
    _refuse_scheme("address", text or "nothing", schemes, example)


def _refuse_scheme(name: str, text: str, schemes: tuple[str, ...], example: str) -> None:
    """An address that begins otherwise would be read as something it does not say, in the worst case unencrypted."""
    if text in ("", EMBEDDED):
        return
    try:
        parts = urlsplit(text)
        _ = parts.port  # a port that is no number raises here
        good = parts.scheme in schemes and bool(parts.hostname or parts.path) and text.isprintable()
        if name != "database":  # that of SQLite is a file, which may be called anything
            good = good and bool(WIRE.fullmatch(text))
        if name == "address":
            good = good and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        good = False
    if not good:
        raise Refused("DEPESCHE_{name} has to be an address like {example}.", name=name.upper(), example=example)


def _refuse_mailbox(settings: Settings) -> None:
    """A mailbox needs its user and password, which travel only encrypted."""
    if not settings.imap:
        return
    parts = urlsplit(settings.imap)
    if not parts.username or not parts.password:
        raise Refused("DEPESCHE_IMAP needs a user and a password, like imaps://user:password@mail.example.org/INBOX.")
    if parts.scheme == "imap" and parts.hostname not in THIS_MACHINE:
        raise Refused(
            "DEPESCHE_IMAP would send the password readable to {host}; write imaps:// instead of imap://.",
            host=parts.hostname,
        )


def _refuse_other_words(name: str, text: str, words: tuple[str, ...]) -> None:
    if text and text not in words:
        *others, last = words
        known = f"{', '.join(others)} or {last}"
        raise Refused("DEPESCHE_{name} has to be {known}, not “{text}”.", name=name.upper(), known=known, text=text)


def _refuse_beyond(name: str, number: float, least: int, most: int = 10**9) -> None:
    if not least <= number <= most:  # not a number is no number either
        raise Refused(
            "DEPESCHE_{name} has to be a number from {least} to {most}, not {number}.",
            name=name.upper(),
            least=least,
            most=most,
            number=number,
        )


def _visited_at(settings: Settings) -> str:
    """The address of a service without one of its own: where it listens."""
    host = "127.0.0.1" if settings.host == "0.0.0.0" else settings.host  # noqa: S104 - only compared
    return f"http://{host}:{settings.port}"


def _defaults() -> dict[str, object]:
    settings = Settings()
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


def _value(name: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        return _switch(name, text)
    if isinstance(default, int | float):
        return _number(name, text.strip(), default)
    return Path(text) if isinstance(default, Path) else text


def _number(name: str, text: str, default: float) -> float:
    """A number written in plain digits; Python would also read other scripts' digits and underscores."""
    if NUMBER.fullmatch(text) and not (isinstance(default, int) and "." in text):
        return type(default)(text)
    raise Refused(
        "DEPESCHE_{name} has to be a number like {default}, not “{text}”.",
        name=name.upper(),
        default=default,
        text=text,
    )


def listening_address(name: str, text: str) -> tuple[str, int]:
    """An address and a port to listen on."""
    host, _, port = text.rpartition(":")
    number = numbers.parse_int(port, 65_535)
    if not host or not number:
        raise Refused("{name} takes an address and a port, like 127.0.0.1:8024, not “{text}”.", name=name, text=text)
    return host, number


def package_names(text: str) -> tuple[str, ...]:
    """The names of games as the host lists them, with commas or blanks between."""
    return tuple(text.replace(",", " ").split())


def _switch(name: str, text: str) -> bool:
    found = SWITCH_WORDS.get(text.strip().casefold())
    if found is None:
        raise Refused("DEPESCHE_{name} has to be on or off, not “{text}”.", name=name.upper(), text=text)
    return found


def keep_secret(settings: Settings) -> str:
    """The key that links are made with: as set, or made once and kept in the house's folder."""
    if settings.secret:
        return _long_enough(settings.secret, "DEPESCHE_SECRET")
    path = settings.folder / "secret"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        put_secret(path, secrets.token_hex(32))
    return _long_enough(path.read_bytes().decode("ascii", "ignore").strip(), str(path))


def _long_enough(secret: str, where: str) -> str:
    """A secret that nobody guesses: with an empty one, anybody could work out the link of every seat."""
    if len(secret) < SHORTEST_SECRET:
        raise Refused(
            "The secret in {where} has to have at least {least} characters, for every link is made with it; "
            "put the one back that the house had, or, in a new house, remove it and start again.",
            where=where,
            least=SHORTEST_SECRET,
        )
    return secret


def put_secret(path: Path, secret: str) -> None:
    """Make the file whole or not at all, and only where there is none: a half-made key would open every seat."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".secret-") as made:
        made.write(secret)
        made.flush()
        os.fsync(made.fileno())
        with suppress(FileExistsError):
            os.link(made.name, path)
