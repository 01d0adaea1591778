"""The settings of a server: environment variables that begin with DEPESCHE_, or files that they name.

A file is the better place for a password: `ps e`, `podman inspect` and crash reports show an environment.
"""

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
from msgspec.structs import asdict, replace

from engine.catalogue import NAME
from engine.options import SWITCH_WORDS
from engine.refusal import Refused
from service.internet import beacon as beacons
from service.numbers import parse_int

DAY_S = 86_400
EMBEDDED = "embedded"
NUMBER_PATTERN = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?")
URL_PATTERN = re.compile(r"[!-~]*")  # the characters of a URL
SENDER_PATTERN = re.compile(r"[!-;=?A-~]{1,64}@[A-Za-z0-9.-]{1,200}")
MIN_SECRET_CHARS = 16
LUCK_CHOICES = ("sealed", "public")
CHOICES = {"luck": LUCK_CHOICES, "logs": ("plain", "json"), "answer_to": ("play", "plus", "subject")}
MAX_NUMBER = 10**9
RANGES = {
    "port": (1, 65_535),
    "reminder": (0, 1),
    **dict.fromkeys(("pace", "vacation", "gather", "thinking", "verdict_wait", "proxies"), (0, MAX_NUMBER)),
    **dict.fromkeys(
        ("moves_per_minute", "opens_per_hour", "invitations_per_day", "answers_per_hour", "lease"), (1, MAX_NUMBER)
    ),
}
MAX_PLUS_NAME_CHARS = 64 - 47  # RFC 5321 allows 64 characters before the @; 47 are a plus and a seat's token
THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
PREFIX = "DEPESCHE_"
FILE_SUFFIX = "_FILE"  # DEPESCHE_SECRET_FILE names the file that has DEPESCHE_SECRET
MAX_FILE_BYTES = 64 * 1024
OTHER_VARIABLES = ("DEPESCHE_NO_SKIPS",)  # of the tests
QUICKNET = (  # drand's public beacon, a round every three seconds
    "https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971 "
    "https://drand.cloudflare.com/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971 "
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a "
    "1692803367 3"
)
URL_SETTINGS = {  # each with its schemes and an example
    "smtp": (("smtp", "smtps", "smtp+tls"), "smtp+tls://user:password@mail.example.org:587"),
    "redis": (("redis", "rediss", "unix"), "redis://cache/0"),
    "imap": (("imaps", "imap"), "imaps://user:password@mail.example.org/INBOX"),
    "address": (("http", "https"), "https://games.example.org"),
    "database": (("sqlite", "postgresql", "postgresql+psycopg"), "postgresql+psycopg://depesche@db/depesche"),
    "proxy": (("http",), "http://proxy:3128"),
    "replica": (("postgresql", "postgresql+psycopg"), "postgresql+psycopg://depesche@replica/depesche"),
}


class Settings(Struct, frozen=True, dict=True):  # `dict` for the cached properties
    """Everything that differs between servers; the defaults are those of the embedded service."""

    folder: Path = Path("depesche-data")
    database: str = ""
    replica: str = ""  # a copy of that database, which finished games are read from
    redis: str = EMBEDDED
    secret: str = ""
    address: str = "http://127.0.0.1:8765"
    host: str = "127.0.0.1"
    port: int = 8765
    proxies: int = 0  # web servers in front, whose X-Forwarded-For is trusted
    smtp: str = EMBEDDED
    sender: str = "depesche@localhost"
    dkim: str = ""  # the selector of the relay's key, for `depesche doctor`
    pace: int = 3 * DAY_S  # seconds for a move where the organiser chooses no time
    reminder: float = 0.25  # the part of the time that is left at the reminder
    vacation: int = 30  # days of vacation that a player has in a year
    verdict_wait: float = 2.0  # seconds that a page waits for a verdict
    thinking: float = 2.0  # seconds that a bot may take
    lease: int = 120  # seconds after which another process takes over what was begun
    opens_per_hour: int = 30
    moves_per_minute: int = 120
    invitations_per_day: int = 30
    confirm: bool = True  # the host's choice, which has no effect without a mail server: see `confirms`
    gather: int = 60  # see `turn_letter_delay_s`
    inbound: str = ""  # where answers by mail are taken: an address and a port
    imap: str = ""  # an ordinary mailbox that answers are fetched from
    answer_to: str = ""  # play, plus or subject: the place of the seat's token in an answer
    answers_per_hour: int = 30
    require_authentication: bool = False  # of the senders of answers
    trusted_authserv: str = ""  # the mail server whose Authentication-Results are believed
    logs: str = "plain"  # for people, or json for programs
    metrics: str = ""  # the password of /metrics for other machines
    proxy: str = ""  # the way out for requests to addresses that players choose
    luck: str = "sealed"  # of new tables whose organiser chooses none: sealed or public
    beacon: str = QUICKNET  # of public draws: its addresses, key, first round and period
    games: str = ""  # installed packages with games; their code has all rights of this program

    @property
    def beacon_source(self) -> beacons.Source:
        return beacons.parse_source(self.beacon)

    @property
    def packages(self) -> tuple[str, ...]:
        return parse_package_names(self.games)

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{(self.folder / 'depesche.sqlite').resolve()}"

    @cached_property
    def confirms(self) -> bool:
        """Whether letters to others wait until the organiser's address is proven: `confirm`, with a mail server."""
        return self.confirm and self.smtp != EMBEDDED

    @cached_property
    def turn_letter_delay_s(self) -> int:
        """Seconds that a turn letter waits, so that two turns share one letter; 0 without a mail server."""
        return 0 if self.smtp == EMBEDDED else self.gather

    @cached_property
    def answer_place(self) -> str:
        """The place of the seat's token in an answer: `play+…`, the sender's address with a plus, or the subject."""
        return self.answer_to or ("plus" if self.imap else "play")  # by IMAP only the sender's mailbox is read

    @cached_property
    def mail_host(self) -> str:
        """The domain of this server's addresses and Message-IDs."""
        return self.sender_address.rpartition("@")[2]

    @cached_property
    def sender_address(self) -> str:
        """The address that letters come from, without its name."""
        return parseaddr(self.sender)[1]

    @cached_property
    def sender_name(self) -> str:
        """The name that letters come from, by default Depesche."""
        return parseaddr(self.sender)[0] or "Depesche"


VARIABLES = frozenset(f"{PREFIX}{name.upper()}" for name in Settings.__struct_fields__)


def load_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Load the settings from the environment and from the files that it names; raise Refused if they are wrong."""
    words = read_setting_files(environment, VARIABLES)
    _refuse_unknown(words)
    chosen: dict[str, Any] = {}
    for name, default in asdict(Settings()).items():
        text = words.get(f"{PREFIX}{name.upper()}")
        if text and text.strip():
            chosen[name] = _parse_value(name, text, default)
    settings = Settings(**chosen)
    if "address" not in chosen:
        settings = replace(settings, address=_make_default_address(settings))
    return check_settings(settings)


def read_setting_files(environment: Mapping[str, str], variables: frozenset[str]) -> dict[str, str]:
    """Return the environment with each known NAME_FILE replaced by NAME and the text of that file."""
    files = {f"{name}{FILE_SUFFIX}": name for name in variables}
    texts = {name: text for name, text in environment.items() if name not in files}
    for file, name in files.items():
        if path := environment.get(file, "").strip():
            if environment.get(name, "").strip():
                raise Refused("{name} and {file} are both set; keep one of them.", name=name, file=file)
            texts[name] = _read_file(file, path)
    return texts


def _read_file(name: str, path: str) -> str:
    """Return the text of a file without white space around it; raise Refused if there is none."""
    words = {"name": name, "path": path}
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        text = content.decode().strip() if len(content) <= MAX_FILE_BYTES else ""
    except OSError as error:
        raise Refused(
            "{name} names {path}, which cannot be read ({why}); it has to be a file that this process may read.",
            **words,
            why=error.strerror or error,
        ) from None
    except ValueError:
        raise Refused("{name} names {path}, which is no text.", **words) from None
    if not text:
        raise Refused(
            "{name} names {path}, which is {how}; it has to contain the setting and nothing else.",
            **words,
            how="too long" if len(content) > MAX_FILE_BYTES else "empty",
        )
    return text


def _refuse_unknown(names: Iterable[str]) -> None:
    """Raise Refused for an unknown name: a mistyped setting would be ignored without notice."""
    file_names = [f"{name}{FILE_SUFFIX}" for name in VARIABLES]
    for name in sorted(names):  # none of `file_names`: `read_setting_files` has replaced those
        if name.startswith(PREFIX) and name not in (*VARIABLES, *OTHER_VARIABLES):
            close = difflib.get_close_matches(name, sorted([*VARIABLES, *file_names]), n=1)
            raise Refused(
                "There is no setting {name}. {advice}",
                name=name,
                advice=f"Did you mean {close[0]}?" if close else "docs/hosting.md lists all settings.",
            )


def check_settings(settings: Settings) -> Settings:
    """Return the settings; raise Refused if a server cannot run with them."""
    for name, (least, most) in RANGES.items():  # first, as the default address contains the port
        _refuse_out_of_range(name, getattr(settings, name), least, most)
    if settings.secret:
        _check_secret(settings.secret, "DEPESCHE_SECRET")
    if settings.inbound:
        parse_listening_address("DEPESCHE_INBOUND", settings.inbound)
    for package in settings.packages:
        if not NAME.fullmatch(package):
            raise Refused("DEPESCHE_GAMES lists names of games such as liars_dice, not “{name}”.", name=package)
    for name in URL_SETTINGS:
        if (text := getattr(settings, name)) not in ("", EMBEDDED):
            _refuse_url(name, text)
    for name, words in CHOICES.items():
        _refuse_other_choices(name, getattr(settings, name), words)
    _refuse_mailbox(settings)
    beacons.parse_source(settings.beacon)
    _refuse_sender(settings)
    return settings


def _refuse_sender(settings: Settings) -> None:
    """Raise Refused for a sender that is no address, or whose name leaves no room for a plus and a seat's token."""
    if not SENDER_PATTERN.fullmatch(settings.sender_address) or not settings.sender.isprintable():
        raise Refused(
            "DEPESCHE_SENDER has to be an address such as depesche@example.org, not “{text}”.", text=settings.sender
        )
    name = settings.sender_address.partition("@")[0]
    if settings.answer_place == "plus" and len(name) > MAX_PLUS_NAME_CHARS:
        raise Refused(
            "“{name}” in DEPESCHE_SENDER is too long for plus addresses, which take {most} characters before the @; "
            "use a shorter one, or set DEPESCHE_ANSWER_TO to subject.",
            name=name,
            most=MAX_PLUS_NAME_CHARS,
        )


def refuse_address(text: str) -> None:
    """Raise Refused if this cannot be the address of a server."""
    _refuse_url("address", text)


def _refuse_url(name: str, text: str) -> None:
    """Raise Refused for what cannot be the URL of this setting; another scheme might mean no encryption."""
    if not _is_url_for(name, text):
        _, example = URL_SETTINGS[name]
        raise Refused("DEPESCHE_{name} has to be an address like {example}.", name=name.upper(), example=example)


def _is_url_for(name: str, text: str) -> bool:
    """Return whether a text can be the URL of this setting: one of its schemes, and a host, or the path of a file."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError if the port is no number
    except ValueError:
        return False
    schemes, _ = URL_SETTINGS[name]
    if parts.scheme not in schemes or not (parts.hostname or parts.path) or not text.isprintable():
        return False
    if name == "address" and (not parts.hostname or parts.query or parts.fragment):
        return False
    return name == "database" or bool(URL_PATTERN.fullmatch(text))  # the file of SQLite may have any name


def _refuse_mailbox(settings: Settings) -> None:
    """Raise Refused for a mailbox without user and password, or with an address that sends them unencrypted."""
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


def _refuse_other_choices(name: str, text: str, words: tuple[str, ...]) -> None:
    """Raise Refused if a setting is none of these words; an empty one is its default."""
    if text and text not in words:
        *others, last = words
        choices = f"{', '.join(others)} or {last}"
        raise Refused(
            "DEPESCHE_{name} has to be {choices}, not “{text}”.", name=name.upper(), choices=choices, text=text
        )


def _refuse_out_of_range(name: str, number: float, least: int, most: int) -> None:
    if not least <= number <= most:  # a comparison in this order refuses NaN too
        raise Refused(
            "DEPESCHE_{name} has to be a number from {least} to {most}, not {number}.",
            name=name.upper(),
            least=least,
            most=most,
            number=number,
        )


def _make_default_address(settings: Settings) -> str:
    """Return the address that the service listens on, for settings without an address."""
    host = "127.0.0.1" if settings.host == "0.0.0.0" else settings.host  # noqa: S104 - only compared
    return f"http://{host}:{settings.port}"


def _parse_value(name: str, text: str, default: object) -> object:
    """Parse the text of a setting as a value of the same kind as its default."""
    if isinstance(default, bool):
        return _parse_switch(name, text)
    if isinstance(default, int | float):
        return _parse_number(name, text.strip(), default)
    return Path(text) if isinstance(default, Path) else text


def _parse_number(name: str, text: str, default: float) -> float:
    """Parse a number of the kind of the default, in ASCII digits; Python also accepts other digits and underscores."""
    may_be_fraction = isinstance(default, float)
    if NUMBER_PATTERN.fullmatch(text) and (may_be_fraction or "." not in text):
        return type(default)(text)
    raise Refused(
        "DEPESCHE_{name} has to be a number like {default}, not “{text}”.",
        name=name.upper(),
        default=default,
        text=text,
    )


def parse_listening_address(name: str, text: str) -> tuple[str, int]:
    """Parse an address and a port to listen on; raise Refused, which calls the setting `name`, if it is none."""
    host, _, port = text.rpartition(":")
    number = parse_int(port, 65_535)
    if not host or not number:
        raise Refused("{name} takes an address and a port, like 127.0.0.1:8024, not “{text}”.", name=name, text=text)
    return host, number


def parse_package_names(text: str) -> tuple[str, ...]:
    """Parse names of games, separated by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def _parse_switch(name: str, text: str) -> bool:
    """Parse a switch, written as on or off, yes or no, and the like."""
    value = SWITCH_WORDS.get(text.strip().casefold())
    if value is None:
        raise Refused("DEPESCHE_{name} has to be on or off, not “{text}”.", name=name.upper(), text=text)
    return value


def load_secret(settings: Settings) -> str:
    """Return the secret that links are made with: the setting, or a file in the folder, created if missing."""
    if settings.secret:
        return _check_secret(settings.secret, "DEPESCHE_SECRET")
    path = settings.folder / "secret"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        write_secret(path, secrets.token_hex(32))
    return _check_secret(path.read_bytes().decode("ascii", "ignore").strip(), str(path))


def _check_secret(secret: str, where: str) -> str:
    """Return the secret; raise Refused if it is so short that links could be guessed."""
    if len(secret) < MIN_SECRET_CHARS:
        raise Refused(
            "The secret in {where} needs at least {least} characters, because every link is made with it; "
            "put back the one that the server had, or, on a new server, remove it and start again.",
            where=where,
            least=MIN_SECRET_CHARS,
        )
    return secret


def write_secret(path: Path, secret: str) -> None:
    """Write the file as a whole, if there is none: an incomplete secret would make links that can be guessed."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".secret-") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)  # which replaces no file, unlike a rename
