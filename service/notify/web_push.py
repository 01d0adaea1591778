"""Web push: a notice, encrypted for one browser (RFC 8291), to the push service of its vendor (RFC 8030, RFC 8292)."""

from __future__ import annotations

import functools
import hashlib
import secrets
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from engine.canonical_json import make_decoder
from service.app import App
from service.internet.safe_http import ForbiddenAddress, HttpAnswer, Unreachable
from service.notify.channels import Notice, SenderAnswer
from service.notify.webhooks import HookOutcome, parse_pause
from service.settings import DAY_S
from service.store.channel_queries import ChannelRow
from service.store.push_keys import (
    NUMBER_BYTES,
    decode_base64url,
    dump_public,
    encode_base64url,
    generate_key,
    load_key,
    parse_public,
    restore_key,
)
from service.text.languages import Sentence, Translator

if TYPE_CHECKING:  # loaded with the first message
    from cryptography.hazmat.primitives.asymmetric import ec

RECORD_BYTES = 4096  # of one encrypted message; a push service need not take more
SALT_BYTES, NONCE_BYTES, KEY_BYTES, MATERIAL_BYTES = 16, 12, 16, 32
LAST_RECORD = b"\x02"
TOKEN_PERIOD_S, VALID_PERIODS = 6 * 3_600, 3  # a token is sent in the first of three; RFC 8292 allows a day
MIN_LIFETIME_S = 60
TOPIC_CHARS = 32  # at most, by RFC 8030
GONE_STATUSES = (404, 410)
MAX_REASON_CHARS = 100  # of an answer that is quoted
DECLARATIVE_MARK = 8030  # of a message that a browser shows by itself


class PushGroup(Struct, frozen=True):
    """How messages of one group of notices are sent: how urgent they are, and how long they may wait at most."""

    urgency: Literal["low", "normal", "high"]
    max_lifetime_s: int


PUSH_GROUPS = {
    "turn": PushGroup("normal", 14 * DAY_S),
    "reminder": PushGroup("high", DAY_S),
    "news": PushGroup("low", 2 * DAY_S),
    "invitation": PushGroup("normal", 14 * DAY_S),
    "end": PushGroup("low", 7 * DAY_S),
    "talk": PushGroup("normal", 2 * DAY_S),
    "digest": PushGroup("low", DAY_S),
}


class PushSecret(Struct, frozen=True):
    """The keys of a browser's subscription, in base64 as the browser gives them."""

    p256dh: str
    auth: str


def parse_secret(text: str) -> PushSecret:
    """Parse the stored keys of a subscription."""
    secret: PushSecret = make_decoder(PushSecret).decode(text)
    return secret


def encrypt(content: bytes, browser_key: bytes, auth: bytes, key: ec.EllipticCurvePrivateKey, salt: bytes) -> bytes:
    """Encrypt a message for a browser, with a key pair and a salt that are used once (RFC 8291, RFC 8188).

    `browser_key` and `auth` are the public key and the secret that the browser gave for its subscription.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    own_key = dump_public(key)
    shared = key.exchange(ec.ECDH(), parse_public(browser_key))
    material = _derive(shared, auth, b"WebPush: info\0" + browser_key + own_key, MATERIAL_BYTES)
    content_key = _derive(material, salt, b"Content-Encoding: aes128gcm\0", KEY_BYTES)
    nonce = _derive(material, salt, b"Content-Encoding: nonce\0", NONCE_BYTES)
    header = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(own_key)]) + own_key
    return header + AESGCM(content_key).encrypt(nonce, content + LAST_RECORD, associated_data=None)


def _derive(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """Derive a key of this length by HKDF; `info` says what it is for."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length, salt, info).derive(material)


def sign_token(key: ec.EllipticCurvePrivateKey, audience: str, expires_at: int, contact: str) -> str:
    """Return the signed token by which a push service recognises this server: a JWT with ES256.

    `audience` is the address of the push service without a path, and `contact` a mailto address of this server.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    claims = {"aud": audience, "exp": expires_at, "sub": contact}
    parts = [encode_base64url(msgspec.json.encode(part)) for part in ({"typ": "JWT", "alg": "ES256"}, claims)]
    numbers = decode_dss_signature(key.sign(".".join(parts).encode(), ec.ECDSA(SHA256())))
    signature = b"".join(number.to_bytes(NUMBER_BYTES, "big") for number in numbers)
    return ".".join((*parts, encode_base64url(signature)))


@functools.lru_cache(maxsize=256)
def _make_authorization(private_number: int, audience: str, period: int, contact: str) -> str:
    """Return the header that proves who sends; it is the same for all messages of a period to one push service.

    `period` counts the periods of TOKEN_PERIOD_S seconds since 1970.
    """
    key = restore_key(private_number)
    expires_at = (period + VALID_PERIODS) * TOKEN_PERIOD_S
    token = sign_token(key, audience, expires_at, contact)
    return f"vapid t={token}, k={encode_base64url(dump_public(key))}"


def write_payload(notice: Notice) -> bytes:
    """Return a message that a browser shows by itself (declarative web push), or our service worker."""
    shown = {
        "title": notice.title,
        "body": notice.sentence,
        "navigate": notice.link,
        "tag": notice.subject,
        "lang": notice.language,
        "app_badge": str(notice.waiting),
    }
    # A browser reads the badge here, our service worker inside of the notification.
    return msgspec.json.encode({"web_push": DECLARATIVE_MARK, "notification": shown, "app_badge": str(notice.waiting)})


def make_headers(app: App, address: str, notice: Notice) -> dict[str, str]:
    """Return the headers of a message: how urgent it is, how long it may wait, and which older one it replaces."""
    with app.store.reading() as db:
        private_number = load_key(db).private_numbers().private_value
    parts = urlsplit(address)
    audience, contact = f"{parts.scheme}://{parts.netloc}", f"mailto:{app.settings.sender_address}"
    period = app.now() // TOKEN_PERIOD_S
    return {
        "Authorization": _make_authorization(private_number, audience, period, contact),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/notification+json",
        "TTL": str(compute_lifetime_s(app.now(), notice)),
        "Topic": encode_base64url(hashlib.sha256(notice.subject.encode()).digest())[:TOPIC_CHARS],
        "Urgency": PUSH_GROUPS[notice.group].urgency,
    }


def compute_lifetime_s(now: int, notice: Notice) -> int:
    """Return how long the push service may keep a message: until the deadline, if there is one.

    It is a minute at least, and at most as long as the group of the notice allows.
    """
    most = PUSH_GROUPS[notice.group].max_lifetime_s
    if notice.deadline is None:
        return most
    return max(MIN_LIFETIME_S, min(most, notice.deadline - now))


def send(app: App, channel: ChannelRow, notice: Notice) -> SenderAnswer:
    """Send a notice to a browser."""
    try:
        answer = _post(app, channel, notice)
    except ForbiddenAddress as refusal:  # a wrong answer of a name server passes: the subscription stays
        return SenderAnswer("refused", str(refusal))
    except Unreachable as error:
        return SenderAnswer("retry", str(error))
    return judge_answer(answer, app.now())


def _post(app: App, channel: ChannelRow, notice: Notice) -> HttpAnswer:
    """Encrypt a notice for a browser, and post it to the push service of its vendor."""
    secret = parse_secret(channel.secret)
    key, salt = generate_key(), secrets.token_bytes(SALT_BYTES)
    body = encrypt(write_payload(notice), decode_base64url(secret.p256dh), decode_base64url(secret.auth), key, salt)
    return app.client.post(channel.address, body, make_headers(app, channel.address, notice))


def try_out(app: App, channel: ChannelRow, language: str) -> HookOutcome:
    """Send a browser a notice that says that it is a test."""
    notice = Notice(
        id=f"test.{secrets.token_hex(8)}",
        kind="test",
        group="reminder",  # which leaves at once
        subject="test",
        title=app.settings.sender_name,
        sentence=Translator(language).gettext("This is a test. Your games will be announced here."),
        link=f"{app.settings.address}/my",
        language=language,
        at=app.now(),
        deadline=app.now(),  # a test that does not arrive soon is of no use
    )
    try:
        answer = _post(app, channel, notice)
    except (ForbiddenAddress, Unreachable) as error:
        return HookOutcome("retry", status=0, text=str(error), why=Sentence.from_refusal(error))
    return HookOutcome(judge_answer(answer, app.now()).outcome, answer.status, answer.text)


def judge_answer(answer: HttpAnswer, now: int) -> SenderAnswer:
    """Return what a push service's answer means."""
    why = f"{answer.status} {answer.text[:MAX_REASON_CHARS]}".strip()
    if answer.status in GONE_STATUSES:
        return SenderAnswer("gone", why)
    if 200 <= answer.status < 300:
        return SenderAnswer("sent")
    if answer.status == 429 or answer.status >= 500:
        return SenderAnswer("retry", why, parse_pause(answer.headers.get("retry-after", ""), now))
    return SenderAnswer("refused", why)
