"""Each preset sends what its service documents: the fields, their types and their limits, whatever the message says.

Sources: Discord, Webhook Resource and Embed Limits; Slack, Incoming webhooks and Formatting text; Mattermost, Incoming
webhooks and Message attachments; Matrix, Client-Server API v3, m.room.message; ntfy, Publish as JSON; Gotify, Message
extras; Telegram, Bot API, sendMessage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from service.app import App
from service.notify import webhooks
from service.notify.webhooks import HookMessage, HookRequest
from tests.receivers import Receiver
from tests.service.notify.test_webhooks import MESSAGE, TOKENS, make_target

Check = Callable[[HookRequest, Any], None]


def check_fields(content: Mapping[str, Any], required: Mapping[str, type], optional: Mapping[str, type]) -> None:
    """Fail unless a JSON object has these fields with these types, and no others."""
    assert required.keys() <= content.keys() <= required.keys() | optional.keys()
    for name, value in content.items():
        assert isinstance(value, {**required, **optional}[name]), name


def check_url(text: str) -> None:
    assert urlsplit(text).scheme == "https"
    assert not re.search(r"\s", text)


def check_discord(request: HookRequest, content: Any) -> None:
    check_fields(content, {"embeds": list}, {"username": str, "allowed_mentions": dict})
    assert 1 <= len(content["username"]) <= 80
    assert not re.search("discord|clyde", content["username"], re.IGNORECASE)
    assert content["allowed_mentions"] == {"parse": []}
    (embed,) = content["embeds"]
    check_fields(embed, {"title": str, "description": str}, {"url": str, "timestamp": str, "image": dict})
    assert 1 <= len(embed["title"]) <= 256
    assert 1 <= len(embed["description"]) <= 4096
    assert len(embed["title"]) + len(embed["description"]) <= 6000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", embed["timestamp"])
    check_url(embed["url"])
    if "image" in embed:
        check_url(embed["image"]["url"])


def check_slack(request: HookRequest, content: Any) -> None:
    check_fields(content, {"text": str}, {"attachments": list})
    assert len(content["text"]) <= 40_000
    (link,) = re.findall(r"<[^>]*>", content["text"])  # nothing else is markup, such as <!channel>
    url, _, title = link[1:-1].partition("|")
    check_url(url)
    assert title
    assert not re.search(r"&(?!amp;|lt;|gt;)", content["text"])
    for one in content.get("attachments", ()):
        check_fields(one, {"fallback": str, "image_url": str}, {})


def check_mattermost(request: HookRequest, content: Any) -> None:
    check_fields(content, {"text": str}, {"username": str, "attachments": list})
    assert len(content["text"]) <= 16_383
    assert not re.search(r"@(all|here|channel)\b", content["text"])
    for one in content.get("attachments", ()):
        check_fields(one, {"fallback": str, "image_url": str}, {})


def check_matrix(request: HookRequest, content: Any) -> None:
    assert request.method == "PUT"
    path = urlsplit(request.url).path
    match = re.fullmatch(r"/_matrix/client/v3/rooms/([^/]+)/send/m\.room\.message/([^/]+)", path)
    assert match
    assert unquote(match[1]).startswith("!")
    assert request.headers["Authorization"] == f"Bearer {TOKENS['matrix']}"
    check_fields(content, {"msgtype": str, "body": str}, {})
    assert content["msgtype"] == "m.notice"
    assert len(request.body) < 65_536  # of the whole event


def check_ntfy(request: HookRequest, content: Any) -> None:
    assert urlsplit(request.url).path == "/"  # JSON is published to the root
    check_fields(content, {"topic": str}, {"title": str, "message": str, "click": str, "attach": str})
    assert re.fullmatch(r"[-_A-Za-z0-9]{1,64}", content["topic"])
    assert len(content["message"].encode()) <= 4096
    assert request.headers["Authorization"] == f"Bearer {TOKENS['ntfy']}"


def check_gotify(request: HookRequest, content: Any) -> None:
    assert urlsplit(request.url).path == "/message"
    assert request.headers["X-Gotify-Key"] == TOKENS["gotify"]
    check_fields(content, {"message": str}, {"title": str, "priority": int, "extras": dict})
    assert 0 <= content["priority"] <= 10
    (notification,) = content["extras"].values()
    assert set(content["extras"]) == {"client::notification"}
    check_fields(notification, {"click": dict}, {"bigImageUrl": str})
    check_url(notification["click"]["url"])


def check_telegram(request: HookRequest, content: Any) -> None:
    assert request.url == f"https://api.telegram.org/bot{TOKENS['telegram']}/sendMessage"
    check_fields(content, {"chat_id": str, "text": str}, {"link_preview_options": dict})
    assert 1 <= len(content["text"]) <= 4096
    check_fields(content["link_preview_options"], {}, {"is_disabled": bool, "url": str})


CHECKS: dict[str, Check] = {
    "discord": check_discord,
    "slack": check_slack,
    "mattermost": check_mattermost,
    "matrix": check_matrix,
    "ntfy": check_ntfy,
    "gotify": check_gotify,
    "telegram": check_telegram,
}
HOSTILE = "<!channel> @all @everyone *bold* [x](https://evil.example) & | \\ \n```\n" + "長い文" * 30
MESSAGES = {
    "an ordinary message": MESSAGE,
    "without a picture": replace(MESSAGE, picture=""),
    "hostile": replace(MESSAGE, title=HOSTILE[:120], sentence=HOSTILE),
    "as long as possible": replace(MESSAGE, title="名" * 300, sentence="*漢" * 750 + "…"),
}


def test_every_preset_is_checked() -> None:
    assert CHECKS.keys() | {"webhook"} == webhooks.BUILDERS.keys()


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_preset_sends_what_its_service_takes(app: App, receiver: Receiver, kind: str, message: HookMessage) -> None:
    if kind == "telegram":
        target = webhooks.make_target("telegram", "-100123", TOKENS["telegram"])
        request = webhooks.build_request(target, message, app.now())
        CHECKS[kind](request, json.loads(request.body))
        return
    target = make_target(receiver, kind)
    assert webhooks.send(app, target, message).outcome == "sent"
    (arrived,) = receiver.requests
    assert arrived.headers["Content-Type"] == "application/json"
    sent = HookRequest(arrived.method, receiver.url(arrived.path), arrived.headers, arrived.body)
    CHECKS[kind](sent, arrived.json)
