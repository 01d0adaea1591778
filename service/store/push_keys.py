"""The server's keys of web push (VAPID, RFC 8292), by which push services recognise it.

They are made at the first start and stored in the database, so that a backup has them. Browsers subscribe with the
public key: after a renewal the old subscriptions are useless, and are removed.
"""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from service.store import channel_queries, queries
from service.store.connection import Store
from service.store.schema import channels, server_facts

if TYPE_CHECKING:  # 7 MB that a server without subscriptions does not need
    from cryptography.hazmat.primitives.asymmetric import ec

KEY_FACT = "push_key"  # the name of the row with the private number of the key
NUMBER_BYTES = 32
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of the points of P-256 (SEC 2, 2.4.2)
PUSH = "push"  # the kind of channel


def encode_base64url(content: bytes) -> str:
    """Encode bytes in the base64 that may be part of a URL, without padding (RFC 7515)."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    """Decode what `encode_base64url` returns; raise ValueError for any other text."""
    padding = "=" * (-len(text) % 4)  # up to the next multiple of four characters
    return base64.b64decode(text + padding, b"-_", validate=True)


def make_key(store: Store) -> None:
    """Make the key of this server and store it, unless it has one already."""
    with store.writing() as db:
        if KEY_FACT not in queries.get_facts(db, [KEY_FACT]):
            queries.insert_new(db, server_facts, {"name": KEY_FACT, "value": _make_private_number()})


def renew_key(db: Connection) -> int:
    """Make a new key and remove the subscriptions that were made with the old one; return how many there were."""
    queries.set_fact(db, KEY_FACT, _make_private_number())
    return channel_queries.delete_channels(db, channels.c.kind == PUSH)


def load_key(db: Connection) -> ec.EllipticCurvePrivateKey:
    """Load the private key of this server."""
    stored = queries.get_facts(db, [KEY_FACT])[KEY_FACT]
    return restore_key(int.from_bytes(decode_base64url(stored), "big"))


def restore_key(number: int) -> ec.EllipticCurvePrivateKey:
    """Return the private key with this number."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(number, ec.SECP256R1())


def generate_key() -> ec.EllipticCurvePrivateKey:
    """Return a new private key, which is stored nowhere."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def parse_public(point: bytes) -> ec.EllipticCurvePublicKey:
    """Return the public key of a browser; raise ValueError if it is none."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def dump_public(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return the public key as browsers and push services read it: an uncompressed point."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _make_private_number() -> str:
    """Return a new private number as it is stored, in base64.

    The package `cryptography` would choose it in the same way, but takes 8 MB of memory.
    """
    number = 1 + secrets.randbelow(ORDER - 1)  # from 1 to ORDER - 1
    return encode_base64url(number.to_bytes(NUMBER_BYTES, "big"))
