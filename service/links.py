"""Capability links: who holds one may act for its seat. They are derived from a secret, and can be replaced."""

from __future__ import annotations

import base64
import hashlib
import hmac


class Links:
    """Makes the tokens of this house; only their hashes are stored."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def seat(self, table: str, seat: int, number: int) -> str:
        """The token for a seat; a higher number replaces it by a new one."""
        return self._token(f"seat/{table}/{seat}/{number}")

    def watch(self, table: str) -> str:
        """The spectators' token."""
        return self._token(f"watch/{table}")

    def live(self, table: str, kind: str) -> str:
        """The token with which a page of this table is told that something changed, and never what."""
        return f"{table}.{kind}.{self._token(f'live/{table}/{kind}')}"

    def answer(self, table: str, seat: int, number: int) -> str:
        """The local part of the address that answers for a seat go to: who they are for, and a proof of it."""
        return f"{table}.{seat}.{self._token(f'answer/{table}/{seat}/{number}')[:26]}"

    def offer(self, table: str, seat: int, number: int) -> str:
        """The token with which another person may take an offered seat; dead once it is taken."""
        return f"{table}.{seat}.{self._token(f'offer/{table}/{seat}/{number}')}"

    def join(self, table: str) -> str:
        """The token with which a guest may take a free seat of an open table."""
        return f"{table}.{self._token(f'join/{table}')}"

    def again(self, table: str) -> str:
        """The idempotency key of the rematch after this table; secret, because it leads to the new seats."""
        return self._token(f"again/{table}")

    def preferences(self, person: int) -> str:
        """The token in the foot of every letter to a person: it opens the page of his letter settings."""
        return f"{person}.{self._token(f'wishes/{person}')}"

    def confirm(self, person: int, address: str) -> str:
        """The token that proves that letters to this address are read."""
        return f"{person}.{self._token(f'confirm/{person}/{address}')}"

    def enter(self, person: int, sessions: int, at: int) -> str:
        """The token with which a person signs in; it names the person and when it was made."""
        return f"{person}.{at}.{self._token(f'enter/{person}/{sessions}/{at}')}"

    def host(self, number: int) -> str:
        """The token of the host's page; a higher number replaces it."""
        return self._token(f"host/{number}")

    def bounce(self, letter: int) -> str:
        """The local part that a mail server sends a letter back to when it cannot deliver it."""
        return f"bounce+{letter}.{self._token(f'bounce/{letter}')[:16]}"

    @property
    def fingerprint(self) -> str:
        """What tells this house's secret from another, and nothing of it."""
        return self._token("fingerprint")

    def _token(self, purpose: str) -> str:
        made = hmac.digest(self._secret, purpose.encode(), "sha256")[:20]
        return base64.b32encode(made).decode().lower()


def subject(token: str, parts: int) -> tuple[str, ...]:
    """What a token says before its proof, in so many parts; those that are missing are empty."""
    said = token.split(".")[:-1]
    return tuple([*said, *[""] * parts][:parts])


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, compared in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def hashed(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
