"""Capability links: knowing one is enough to act for its seat. They are derived from a secret, and can be replaced."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Protocol

from msgspec import Struct

from service.settings import Settings

TABLE_MARK_CHARS = 6
PROOF_BYTES = 20  # of a token; in base32 they are 32 characters
# How much of a proof of 32 characters there is where space is short; each character has five bits.
ANSWER_PROOF_CHARS, BOUNCE_PROOF_CHARS, VISITOR_CHARS = 26, 16, 16


class LinkedSeat(Protocol):
    """A row of a seat, as far as its links are made from it."""

    @property
    def table(self) -> str: ...

    @property
    def seat(self) -> int: ...

    @property
    def person(self) -> int | None: ...

    @property
    def link_number(self) -> int: ...


class LetterAddresses(Struct, frozen=True):
    """The addresses in a letter to a seat: of its page, for answers, and of the letter settings.

    `mark` is what the subject ends with (see `make_subject_mark`).
    """

    page: str
    reply: str
    settings: str
    mark: str


class Links:
    """Makes the tokens of this server; only their hashes are stored."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def make_seat_token(self, table: str, seat: int, number: int) -> str:
        """Return the token for a seat; a higher number gives a new one."""
        return self._derive_token(f"seat/{table}/{seat}/{number}")

    def make_watch_token(self, table: str) -> str:
        """Return the token of the spectators."""
        return self._derive_token(f"watch/{table}")

    def make_live_token(self, table: str, kind: str) -> str:
        """Return the token with which an open page learns that the table has changed, but not how.

        `kind` is `seat` for the page of a player, `watch` for that of a spectator.
        """
        return f"{table}.{kind}.{self._derive_token(f'live/{table}/{kind}')}"

    def make_answer_token(self, table: str, seat: int, number: int) -> str:
        """Return the token of a seat that an answer by mail needs; a higher number gives a new one."""
        return f"{table}.{seat}.{self._derive_token(f'answer/{table}/{seat}/{number}')[:ANSWER_PROOF_CHARS]}"

    def is_answer_token(self, token: str, table: str, seat: int, number: int) -> bool:
        """Return whether this is the token that an answer from a seat needs."""
        return is_same_secret(self.make_answer_token(table, seat, number), token)

    def make_reply_address(self, settings: Settings, seat: LinkedSeat) -> str:
        """Return the reply address of a seat; it is the server's own where the subject names the seat."""
        token = self.make_answer_token(seat.table, seat.seat, seat.link_number)
        match settings.answer_place:
            case "subject":
                return settings.sender_address
            case "plus":
                return f"{settings.sender_address.partition('@')[0]}+{token}@{settings.mail_host}"
        return f"play+{token}@{settings.mail_host}"

    def make_subject_mark(self, settings: Settings, seat: LinkedSeat) -> str:
        """Return the end of a subject: the beginning of the table's id, or the token that an answer needs there."""
        if settings.answer_place == "subject":
            return self.make_answer_token(seat.table, seat.seat, seat.link_number)
        return seat.table[:TABLE_MARK_CHARS]

    def make_letter_addresses(self, settings: Settings, seat: LinkedSeat, settings_number: int) -> LetterAddresses:
        """Return the addresses in a letter to a seat; `settings_number` is that of the link to the letter settings."""
        person = seat.person or 0  # no letter goes to a seat without a person
        return LetterAddresses(
            page=f"{settings.address}/t/{self.make_seat_token(seat.table, seat.seat, seat.link_number)}",
            reply=self.make_reply_address(settings, seat),
            settings=self.make_settings_address(settings, person, settings_number),
            mark=self.make_subject_mark(settings, seat),
        )

    def make_settings_address(self, settings: Settings, person: int, number: int) -> str:
        """Return the address of the page with a person's letter settings; `number` is that of its link."""
        return f"{settings.address}/wishes/{self.make_preferences_token(person, number)}"

    def make_offer_token(self, table: str, seat: int, number: int) -> str:
        """Return the token to take an offered seat; it works until the seat has a link with a higher number."""
        return f"{table}.{seat}.{self._derive_token(f'offer/{table}/{seat}/{number}')}"

    def make_join_token(self, table: str) -> str:
        """Return the token to take a free seat of an open table."""
        return f"{table}.{self._derive_token(f'join/{table}')}"

    def make_rematch_key(self, table: str) -> str:
        """Return the idempotency key of the rematch after this table; secret, because it leads to the new seats."""
        return self._derive_token(f"again/{table}")

    def make_preferences_token(self, person: int, number: int = 0) -> str:
        """Return the token of the link to a person's letter settings; a higher number gives a new one.

        The number 0 is not part of the token: so links from before there were numbers still work.
        """
        purpose = f"wishes/{person}/{number}" if number else f"wishes/{person}"
        return f"{person}.{self._derive_token(purpose)}"

    def make_feeds_token(self, person: int, number: int) -> str:
        """Return the token of a person's calendar and feed, which can only be read; a higher number gives a new one."""
        return f"{person}.{self._derive_token(f'feeds/{person}/{number}')}"

    def make_confirm_token(self, person: int, address: str) -> str:
        """Return the token that proves that letters reach this address."""
        return f"{person}.{self._derive_token(f'confirm/{person}/{address}')}"

    def make_sign_in_token(self, person: int, sessions: int, at: int) -> str:
        """Return the token to sign in with; it contains the person and the time.

        `sessions` is a number in the person's row. Signing out everywhere raises it: earlier tokens work no more.
        """
        return f"{person}.{at}.{self._derive_token(f'enter/{person}/{sessions}/{at}')}"

    def make_visitor_name(self, network: str) -> str:
        """Return a name for the visitors from this network, from which the network cannot be found."""
        return self._derive_token(f"visitor/{network}")[:VISITOR_CHARS]

    def make_host_token(self, number: int) -> str:
        """Return the token of the host's page; a higher number gives a new one."""
        return self._derive_token(f"host/{number}")

    def make_bounce_address(self, letter: int) -> str:
        """Return the local part of the address that a mail server returns an undeliverable letter to."""
        return f"bounce+{letter}.{self._derive_token(f'bounce/{letter}')[:BOUNCE_PROOF_CHARS]}"

    @property
    def fingerprint(self) -> str:
        """A text that differs for each secret and reveals nothing of it."""
        return self._derive_token("fingerprint")

    def _derive_token(self, purpose: str) -> str:
        """Return a proof of 32 characters, which only this server's secret gives for this purpose."""
        proof = hmac.digest(self._secret, purpose.encode(), "sha256")[:PROOF_BYTES]
        return base64.b32encode(proof).decode().lower()


def parse_token(token: str, count: int) -> tuple[str, ...]:
    """Return the first `count` parts of a token, which say what it is for; missing ones are empty.

    The proof at its end is none of them.
    """
    *parts, _proof = token.split(".")
    missing = [""] * max(0, count - len(parts))
    return (*parts[:count], *missing)


def is_same_secret(one: str, other: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def hash_token(token: str) -> str:
    """Return the hash of a token, which is stored in its place."""
    return hashlib.sha256(token.encode()).hexdigest()
