"""Webhooks: the request that carries a message to an address of a player's own, for each kind of receiver.

The kind `webhook` is a program that speaks Standard Webhooks (standardwebhooks.com); the others are chats and servers
of notifications, each with the JSON that it asks for. No message has a link that acts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from engine.refusal import Refused
from service.app import App
from service.internet import safe_http
from service.internet.safe_http import ForbiddenAddress, HttpAnswer, Unreachable
from service.notify import channels
from service.notify.channels import NewChannel, Outcome
from service.people.proof import ProvenPerson
from service.text.languages import Sentence, Translator

SECRET_PREFIX = "whsec_"  # noqa: S105 - how a secret of Standard Webhooks begins
SECRET_BYTES = 24
MAX_TOKEN_CHARS = 400
MAX_PAUSE_S = 86_400
MAX_PAUSE_DIGITS = 9  # that are read: so many are far more than MAX_PAUSE_S already
MAX_NTFY_BYTES = 4_000  # of a text: ntfy makes a file of more than 4,096
MAX_DISCORD_TITLE_CHARS = 256
SENDER = "Depesche"
GOTIFY_PRIORITY = 5  # of 10: apps show it with a sound
TELEGRAM = "https://api.telegram.org/bot"
CHAT = re.compile(r"-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64}")
TELEGRAM_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{1,100}")
MARKDOWN = re.compile(r"([\\*_~`|>\[\]()#])")
GONE_STATUSES = {"discord": (404, 410), "slack": (404, 410), "telegram": (404,)}  # nothing is there any more
OTHER_GONE_STATUSES = (410,)
RETRY_STATUSES = (401, 403, 404, 408, 425, 429)  # from chats, which may answer otherwise later


class HookMessage(Struct, frozen=True):
    """A message to a receiver; `id` is the same each time that it is sent. `picture` is an address, or empty."""

    id: str
    type: str
    title: str
    sentence: str
    url: str
    at: int
    table: str = ""
    game: str = ""
    deadline: int | None = None
    picture: str = ""


class HookRequest(Struct, frozen=True):
    """A request to send."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class HookOutcome(Struct, frozen=True):
    """The outcome of a request: the status of the answer (0 for none), its text, and what to do next."""

    outcome: Outcome
    status: int
    text: str
    pause_s: int = 0
    why: Sentence = Sentence()  # why there was no answer

    @property
    def summary(self) -> str:
        """The status and the text in one line, for the owner of the receiver and the host."""
        return " ".join(f"{self.status or ''} {self.text}".split())


class HookData(Struct, frozen=True):
    """The data of a Standard Webhook from Depesche; `deadline` is in ISO 8601, as all moments are."""

    title: str
    sentence: str
    url: str
    table: str
    game: str
    deadline: str | None = None
    picture: str = ""


class HookPayload(Struct, frozen=True):
    """The body of a Standard Webhook: what happened, when, and its data."""

    type: str
    timestamp: str
    data: HookData


class Target(Struct, frozen=True):
    """A receiver: its kind, its address, and its token or secret."""

    kind: str
    address: str
    secret: str


def make_target(kind: str, address: str, token: str) -> Target:
    """Return the receiver that a person typed; raise Refused with the reason if a request could not be made.

    The typed token is its secret, but a receiver of the kind `webhook` gets a new secret of our own.
    """
    address, token = address.strip(), token.strip()
    if kind not in BUILDERS:
        raise Refused("Please choose a kind of receiver from the list.")
    if len(token) > MAX_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise Refused("A token is one word of letters and digits; please copy it again.")
    if kind in NEEDS_TOKEN and not token:
        raise Refused("This receiver needs a token; please copy it from its settings.")
    if kind == "telegram":
        if not CHAT.fullmatch(address) or not TELEGRAM_TOKEN.fullmatch(token):
            raise Refused("For Telegram, write the number of the chat as the address, and the token of your bot.")
        return Target(kind, address, token)
    parts = safe_http.parse_url(address)
    if kind == "ntfy" and not parts.path.strip("/"):
        raise Refused("The address of ntfy ends in the name of a topic, like https://ntfy.sh/my-games.")
    if kind == "matrix" and not parts.path.startswith("/!"):
        raise Refused("The address for Matrix is a server and a room, like https://matrix.org/!room:matrix.org.")
    if kind == "webhook":
        token = make_secret()
    return Target(kind, address, token)


def make_secret() -> str:
    """Return a new secret in the form of Standard Webhooks."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def renew_secret(secret: str) -> str:
    """Return a new secret, followed by the one before, with which messages are signed too."""
    return f"{make_secret()} {get_newest_secret(secret)}"


def get_newest_secret(secret: str) -> str:
    """Return the secret that a receiver has to know from now on."""
    return secret.partition(" ")[0]


def add(app: App, person: ProvenPerson, label: str, target: Target) -> int:
    """Add a receiver to a person's channels and return its number; raise Refused if it is not on the Internet.

    A receiver without a label is called by its kind.
    """
    if target.kind != "telegram":  # its address is the number of a chat
        app.client.check(target.address)
    new = NewChannel(target.kind, label or NAMES[target.kind], target.address, target.secret)
    with app.store.writing() as db:
        number = channels.add(db, person, new, app.now())
    app.wakeups.wake("post")
    return number


def make_url(app: App, table: str) -> str:
    """Return the address of a table in a message: it asks its player to be signed in.

    Without a table (empty) it is the address of the page “My tables”.
    """
    return f"{app.settings.address}/my/table/{table}" if table else f"{app.settings.address}/my"


def try_out(app: App, target: Target, language: str) -> HookOutcome:
    """Send a message to a receiver that says that it is a test."""
    _ = Translator(language).gettext
    message = HookMessage(
        id=f"test.{secrets.token_hex(8)}",
        type="test",
        title=app.settings.sender_name,
        sentence=_("This is a test. Your games will be announced here."),
        url=make_url(app, table=""),
        at=app.now(),
    )
    return send(app, target, message)


def send(app: App, target: Target, message: HookMessage) -> HookOutcome:
    """Send a message once, to a public address only, and say what to do next."""
    request = build_request(target, message, app.now())
    try:
        answer = app.client.request(request.method, request.url, request.body, request.headers)
    except ForbiddenAddress as error:
        return HookOutcome("refused", status=0, text=str(error), why=Sentence.from_refusal(error))
    except Unreachable as error:
        return HookOutcome("retry", status=0, text=str(error), why=Sentence.from_refusal(error))
    return judge_answer(target.kind, answer, app.now())


def build_request(target: Target, message: HookMessage, now: int) -> HookRequest:
    """Build the request that carries a message to a receiver."""
    return BUILDERS[target.kind](target, message, now)


def judge_answer(kind: str, answer: HttpAnswer, now: int) -> HookOutcome:
    """Decide what an answer means: a redirect is not followed, so it is a failure.

    A chat that refuses a message would refuse it again. A webhook gets it again, as docs/programs.md promises.
    """
    status, text = answer.status, answer.text
    if 200 <= status < 300:
        return HookOutcome("sent", status, text)
    if status in GONE_STATUSES.get(kind, OTHER_GONE_STATUSES):
        return HookOutcome("gone", status, text)
    if 400 <= status < 500 and status not in RETRY_STATUSES and kind != "webhook":
        return HookOutcome("refused", status, text)
    return HookOutcome("retry", status, text, parse_pause(answer.headers.get("retry-after", ""), now))


def parse_pause(text: str, now: int) -> int:
    """Parse a Retry-After header: seconds, or a moment; 0 for anything else."""
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0")[:MAX_PAUSE_DIGITS]
        return min(int(digits or "0"), MAX_PAUSE_S)
    try:
        return max(0, min(int(parsedate_to_datetime(text).timestamp()) - now, MAX_PAUSE_S))
    except (ValueError, OverflowError):  # a number that no clock has
        return 0


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:  # noqa: A002 - its name in the standard
    """Sign a body as Standard Webhooks does: HMAC-SHA256 over the id, the timestamp and the body, with each secret."""
    keys = [base64.b64decode(one.removeprefix(SECRET_PREFIX)) for one in secret.split()]
    made = [hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256) for key in keys]
    return " ".join(f"v1,{base64.b64encode(one).decode()}" for one in made)


def _build_json(url: str, content: Any, headers: Mapping[str, str] | None = None, method: str = "POST") -> HookRequest:
    """Build a request with this content as JSON, or with bytes that are JSON already."""
    body = content if isinstance(content, bytes) else msgspec.json.encode(content)
    return HookRequest(method, url, {"Content-Type": "application/json", "User-Agent": SENDER, **(headers or {})}, body)


def _write_moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def _build_webhook(target: Target, message: HookMessage, now: int) -> HookRequest:
    """Build a signed request as Standard Webhooks describe it."""
    deadline = None if message.deadline is None else _write_moment(message.deadline)
    data = HookData(
        message.title, message.sentence, message.url, message.table, message.game, deadline, message.picture
    )
    body = msgspec.json.encode(HookPayload(message.type, _write_moment(message.at), data))
    signature = sign(target.secret, message.id, now, body)
    headers = {"Webhook-Id": message.id, "Webhook-Timestamp": str(now), "Webhook-Signature": signature}
    return _build_json(target.address, body, headers)


def _build_discord(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message for Discord, in which a name such as @everyone calls no one."""
    embed: dict[str, Any] = {
        "title": message.title[:MAX_DISCORD_TITLE_CHARS],
        "description": MARKDOWN.sub(r"\\\1", message.sentence),
        "url": message.url,
        "timestamp": _write_moment(message.at),
    }
    if message.picture:
        embed["image"] = {"url": message.picture}
    return _build_json(target.address, {"username": SENDER, "embeds": [embed], "allowed_mentions": {"parse": []}})


def _build_slack(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message in the markup of Slack, which has three special characters."""

    def escape(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    title = escape(message.title).replace("|", "¦")
    content: dict[str, Any] = {"text": f"<{message.url}|{title}>\n{escape(message.sentence)}"}
    if message.picture:
        content["attachments"] = [{"fallback": title, "image_url": message.picture}]
    return _build_json(target.address, content)


def _build_mattermost(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message in Markdown for Mattermost, with the title as a link."""

    def escape(text: str) -> str:
        return MARKDOWN.sub(r"\\\1", text).replace("@", "@\u200b")  # so that it mentions no one

    content: dict[str, Any] = {
        "username": SENDER,
        "text": f"[{escape(message.title)}]({message.url})\n{escape(message.sentence)}",
    }
    if message.picture:
        content["attachments"] = [{"fallback": message.title, "image_url": message.picture}]
    return _build_json(target.address, content)


def _build_matrix(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a notice to a Matrix room: the address is the server and the room, the secret an access token."""
    parts = urlsplit(target.address)
    room = quote(parts.path.removeprefix("/"), safe="")
    path = f"/_matrix/client/v3/rooms/{room}/send/m.room.message/{quote(message.id, safe='')}"
    content = {"msgtype": "m.notice", "body": _write_text(message)}
    headers = {"Authorization": f"Bearer {target.secret}"}
    return _build_json(f"https://{parts.netloc}{path}", content, headers, method="PUT")


def _build_ntfy(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message for ntfy: the last part of the address is the topic; a secret is an access token."""
    server, _slash, topic = target.address.rstrip("/").rpartition("/")
    text = message.sentence.encode()[:MAX_NTFY_BYTES].decode(errors="ignore")
    content = {"topic": topic, "title": message.title, "message": text, "click": message.url}
    if message.picture:
        content["attach"] = message.picture
    return _build_json(f"{server}/", content, {"Authorization": f"Bearer {target.secret}"} if target.secret else {})


def _build_gotify(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message for Gotify, which opens the page when it is touched."""
    notification: dict[str, Any] = {"click": {"url": message.url}}
    if message.picture:
        notification["bigImageUrl"] = message.picture
    content = {
        "title": message.title,
        "message": message.sentence,
        "priority": GOTIFY_PRIORITY,
        "extras": {"client::notification": notification},
    }
    return _build_json(f"{target.address.rstrip('/')}/message", content, {"X-Gotify-Key": target.secret})


def _build_telegram(target: Target, message: HookMessage, _: int) -> HookRequest:
    """Build a message of a Telegram bot: the address is the chat, the secret the bot's token."""
    preview = {"url": message.picture, "is_disabled": False} if message.picture else {"is_disabled": True}
    content = {"chat_id": target.address, "text": _write_text(message), "link_preview_options": preview}
    return _build_json(f"{TELEGRAM}{target.secret}/sendMessage", content)


def _write_text(message: HookMessage) -> str:
    return f"{message.title}\n{message.sentence}\n{message.url}"


BUILDERS: dict[str, Callable[[Target, HookMessage, int], HookRequest]] = {
    "webhook": _build_webhook,
    "discord": _build_discord,
    "slack": _build_slack,
    "mattermost": _build_mattermost,
    "matrix": _build_matrix,
    "ntfy": _build_ntfy,
    "gotify": _build_gotify,
    "telegram": _build_telegram,
}
NEEDS_TOKEN = ("matrix", "gotify", "telegram")
NAMES = {
    "webhook": "Standard Webhooks",
    "discord": "Discord",
    "slack": "Slack",
    "mattermost": "Mattermost",
    "matrix": "Matrix",
    "ntfy": "ntfy",
    "gotify": "Gotify",
    "telegram": "Telegram",
}
