"""The public beacon: fetching a round over HTTP, and checking the beacon's signature.

The scheme is drand's `bls-unchained-g1-rfc9380`: the beacon signs the SHA-256 of the round's number.
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

# Which curve and which hash are signed, as the scheme prescribes.
DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
TIMEOUT_S = 3.0  # for an answer; the next try comes soon
MAX_ANSWER_BYTES = 10_000  # an answer has a few hundred
LATE_AFTER_S = 600  # after this a round counts as missing, and players may go on without it
log = structlog.get_logger()


class Round(Struct):
    """The answer of a beacon: a round and its signature."""

    round: int
    signature: str


class Source(Struct, frozen=True):
    """A beacon, and the addresses to fetch its rounds from, in this order."""

    addresses: tuple[str, ...]
    beacon: Beacon


def parse_source(text: str) -> Source:
    """Parse the setting of a beacon: addresses, public key, genesis and period, separated by spaces.

    Raise Refused if one of them is missing or wrong.
    """
    words = text.split()
    addresses, rest = words[:-3], words[-3:]
    try:
        if not addresses or not all(word.startswith(("https://", "http://")) for word in addresses):
            raise ValueError("an address is missing")
        key, genesis, period = rest
        published = beacons.parse({"key": key, "genesis": genesis, "period": period})
        assert published
    except (Refused, ValueError):
        raise Refused(
            "DEPESCHE_BEACON has to name one address or more, the beacon’s public key in 192 small hexadecimal "
            "digits, the moment of its first round and the seconds between two rounds, with blanks between."
        ) from None
    return Source(tuple(addresses), published)


def fetch_round(source: Source, number: int) -> str | None:
    """Return the valid signature of a round; None if no address has it now."""
    for address in source.addresses:
        url = f"{address.rstrip('/')}/public/{number}"
        try:
            request = Request(url, headers={"Accept": "application/json"})  # noqa: S310  # the host chose the address
            with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
                published = make_decoder(Round).decode(answer.read(MAX_ANSWER_BYTES))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            log.info("beacon not reached", url=url, error=str(error))
            continue
        if published.round == number and is_signed(source.beacon.key, number, published.signature):
            return published.signature
        log.warning("beacon answers with another round, or one that is not signed", url=url)
    return None


@functools.lru_cache(4096)
def is_signed(key: str, number: int, signature: str) -> bool:
    """Return whether this is the beacon's signature of the round."""
    from py_arkworks_bls12381 import GT, G1Point  # only tables with public luck need the curve

    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    try:
        point = G1Point.from_compressed_bytes(bytes.fromhex(signature))
        public, generator = _load_points(key)
    except ValueError:
        return False
    # A signature is valid if its pairing with the generator equals the pairing of the hash with the public key.
    return bool(GT.pairing_check([point, -G1Point.hash_to_curve(message, DOMAIN)], [generator, public]))


@functools.lru_cache(16)
def _load_points(key: str) -> tuple[Any, Any]:
    """Return the public key as a point, and the generator."""
    from py_arkworks_bls12381 import G2Point

    return G2Point.from_compressed_bytes(bytes.fromhex(key)), G2Point()
