"""The public beacon: fetching a round over HTTP, and telling whether it is signed by the beacon's key.

The scheme is drand's `bls-unchained-g1-rfc9380`: what is signed is the SHA-256 of the round's number.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any
from urllib.request import Request, urlopen

import msgspec
import structlog
from msgspec import Struct

from engine import beacon as beacons
from engine.beacon import Beacon
from engine.canonical_json import make_decoder
from engine.refusal import Refused

DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
PATIENCE = 3.0  # seconds for an answer; another look comes soon
LARGEST = 10_000  # bytes; an answer has a few hundred
LATE = 600  # seconds after its time from which a round counts as missing, and players may go on without
log = structlog.get_logger()


class Round(Struct):
    """What a beacon answers, as far as it matters here."""

    round: int
    signature: str


class Source(Struct, frozen=True):
    """A beacon, and the addresses where its rounds can be had, asked in this order."""

    addresses: tuple[str, ...]
    beacon: Beacon


def source(text: str) -> Source:
    """The beacon as the host names it: addresses, public key, genesis and period, with blanks between."""
    words = text.split()
    addresses = tuple(word for word in words if word.startswith(("https://", "http://")))
    rest = words[len(addresses) :]
    try:
        if not addresses or len(rest) != 3 or not all(word in words[: len(addresses)] for word in addresses):
            raise ValueError("other words")
        found = beacons.parse(dict(zip(("key", "genesis", "period"), rest, strict=True)))
        assert found
    except (Refused, ValueError):
        raise Refused(
            "DEPESCHE_BEACON has to name one address or more, the beacon’s public key in 192 small hexadecimal "
            "digits, the moment of its first round and the seconds between two rounds, with blanks between."
        ) from None
    return Source(addresses, found)


def fetched(source: Source, number: int) -> str | None:
    """The signature of that round, checked; None where no address has it now."""
    for address in source.addresses:
        url = f"{address.rstrip('/')}/public/{number}"
        try:
            request = Request(url, headers={"Accept": "application/json"})  # noqa: S310  # the host chose the address
            with urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
                found = make_decoder(Round).decode(answer.read(LARGEST))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            log.info("beacon not reached", url=url, error=str(error))
            continue
        if found.round == number and signed(source.beacon.key, number, found.signature):
            return found.signature
        log.warning("beacon answers with another round, or one that is not signed", url=url)
    return None


@functools.lru_cache(4096)
def signed(key: str, number: int, signature: str) -> bool:
    """Whether this is the beacon's signature of that round."""
    from py_arkworks_bls12381 import GT, G1Point  # only tables with public luck need the curve

    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    try:
        point = G1Point.from_compressed_bytes(bytes.fromhex(signature))
        public, base = _public(key)
    except ValueError:
        return False
    return bool(GT.pairing_check([point, -G1Point.hash_to_curve(message, DOMAIN)], [base, public]))


@functools.lru_cache(16)
def _public(key: str) -> tuple[Any, Any]:
    """The public key as a point, and the generator."""
    from py_arkworks_bls12381 import G2Point

    return G2Point.from_compressed_bytes(bytes.fromhex(key)), G2Point()
