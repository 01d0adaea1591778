"""What the host of a service can set, all of it by environment variables that begin with DEPESCHE_."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parseaddr
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.options import SWITCH
from engine.refusal import Refused

DAY = 86_400
EMBEDDED = "embedded"
SENDER = re.compile(r"[!-;=?A-~]{1,64}@[A-Za-z0-9.-]{1,200}")


class Settings(Struct, frozen=True):
    """Everything that differs from one house to another; the defaults are those of the embedded service."""

    folder: Path = Path("depesche-data")
    database: str = ""
    redis: str = EMBEDDED
    secret: str = ""
    address: str = "http://127.0.0.1:8765"
    host: str = "127.0.0.1"
    port: int = 8765
    proxies: int = 0  # web servers in front, whose word is taken for who visits
    smtp: str = EMBEDDED
    sender: str = "depesche@localhost"
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
    answers_per_hour: int = 30
    require_authentication: bool = False
    trusted_authserv: str = ""
    games: str = ""  # installed packages whose games may be played here; their code runs with our rights

    @property
    def packages(self) -> tuple[str, ...]:
        return package_names(self.games)

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{(self.folder / 'depesche.sqlite').resolve()}"

    @property
    def confirms(self) -> bool:
        """Whether an organiser has to prove his address before letters go to others; not where no letters leave."""
        return self.confirm and self.smtp != EMBEDDED

    @property
    def gathers(self) -> int:
        """So many seconds a turn letter waits, so that two turns make one; one that never leaves does not."""
        return 0 if self.smtp == EMBEDDED else self.gather

    @property
    def mail_host(self) -> str:
        """The right-hand side of the addresses and message ids of this house."""
        return self.sender_address.rpartition("@")[2]

    @property
    def sender_address(self) -> str:
        """The address that letters come from, without the name before it."""
        return parseaddr(self.sender)[1]

    @property
    def sender_name(self) -> str:
        """The name that letters come from: Depesche, unless the host chose another."""
        return parseaddr(self.sender)[0] or "Depesche"


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings this environment asks for."""
    chosen: dict[str, Any] = {}
    for name, default in _defaults().items():
        text = environment.get(f"DEPESCHE_{name.upper()}")
        if text is not None:
            chosen[name] = _value(name, text, default)
    found = Settings(**chosen)
    if not SENDER.fullmatch(found.sender_address):
        raise Refused(
            "DEPESCHE_SENDER has to be an address such as depesche@example.org, not “{text}”.", text=found.sender
        )
    return found if "address" in chosen else replace(found, address=_visited_at(found))


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
    try:
        return type(default)(text) if not isinstance(default, Path) else Path(text)  # type: ignore[call-arg]
    except ValueError:
        raise Refused(
            "DEPESCHE_{name} has to be a number like {default}, not “{text}”.",
            name=name.upper(),
            default=default,
            text=text,
        ) from None


def package_names(text: str) -> tuple[str, ...]:
    """The names of games as the host lists them, with commas or blanks between."""
    return tuple(text.replace(",", " ").split())


def _switch(name: str, text: str) -> bool:
    found = SWITCH.get(text.strip().casefold())
    if found is None:
        raise Refused("DEPESCHE_{name} has to be on or off, not “{text}”.", name=name.upper(), text=text)
    return found


def keep_secret(settings: Settings) -> str:
    """The key that links are made with: as set, or made once and kept in the house's folder."""
    if settings.secret:
        return settings.secret
    path = settings.folder / "secret"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        _put(path, secrets.token_hex(32))
    return path.read_text("ascii").strip()


def _put(path: Path, secret: str) -> None:
    """Make the file whole or not at all, and only where there is none: a half-made key would open every seat."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=".secret-") as made:
        made.write(secret)
        made.flush()
        os.fsync(made.fileno())
        with suppress(FileExistsError):
            os.link(made.name, path)
