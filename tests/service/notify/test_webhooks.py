"""Webhooks: the request that each kind of receiver gets, its signature, and what the answers mean."""

import base64
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from engine.refusal import Refused
from service.app import App
from service.notify import webhooks
from service.notify.webhooks import HookMessage, Target
from tests import receivers
from tests.receivers import Receiver

MESSAGE = HookMessage(
    id="abc.5.0.turn",
    type="turn",
    title="Kaiser with Bert",
    sentence="Anna, it is your turn: *bold* <script> @all",
    url="https://games.example.org/my/table/abc",
    at=1_800_000_000,
    table="abc",
    game="kaiser",
    deadline=1_800_086_400,
    picture="https://games.example.org/t/watch/board.png?at=5",
)
TOKENS = {"matrix": "syt_token", "gotify": "AbC", "telegram": "123:AbC-d", "ntfy": "tk_1"}


def make_target(receiver: Receiver, kind: str) -> Target:
    path = {"matrix": "/!room:example.org", "ntfy": "/my-games", "gotify": ""}.get(kind, "/hook")
    return webhooks.make_target(kind, receiver.url(path), TOKENS.get(kind, ""))


def test_a_standard_webhook_is_signed_as_the_reference_implementation_checks_it(app: App, receiver: Receiver) -> None:
    app.now = lambda: int(datetime.now(UTC).timestamp())
    target = make_target(receiver, "webhook")
    assert webhooks.send(app, target, MESSAGE).outcome == "sent"
    (request,) = receiver.requests
    payload = Webhook(target.secret).verify(request.body, dict(request.headers))
    assert (payload["type"], payload["timestamp"]) == ("turn", "2027-01-15T08:00:00Z")
    assert payload["data"]["deadline"] == "2027-01-16T08:00:00Z"
    assert payload["data"]["url"] == MESSAGE.url
    with pytest.raises(WebhookVerificationError):
        Webhook(target.secret).verify(request.body.replace(b"abc", b"abd"), dict(request.headers))
    assert len(base64.b64decode(target.secret.removeprefix("whsec_"))) >= 24


def test_a_message_that_is_sent_again_has_the_same_id_and_a_new_timestamp(app: App, receiver: Receiver) -> None:
    target = make_target(receiver, "webhook")
    for at in (1_800_000_000, 1_800_000_060):
        app.now = lambda at=at: at
        webhooks.send(app, target, MESSAGE)
    first, second = (request.headers for request in receiver.requests)
    assert first["Webhook-Id"] == second["Webhook-Id"] == MESSAGE.id
    assert int(second["Webhook-Timestamp"]) - int(first["Webhook-Timestamp"]) == 60


@pytest.mark.parametrize("kind", [kind for kind in webhooks.BUILDERS if kind != "telegram"])
def test_every_receiver_gets_title_sentence_link_and_picture(app: App, receiver: Receiver, kind: str) -> None:
    assert webhooks.send(app, make_target(receiver, kind), MESSAGE).outcome == "sent"
    (request,) = receiver.requests
    text = json.dumps(request.json, ensure_ascii=False)
    assert MESSAGE.title in text
    assert "it is your turn" in text
    assert MESSAGE.url in text
    assert kind == "matrix" or MESSAGE.picture in text


def test_telegram_gets_the_message_at_its_own_address() -> None:
    target = webhooks.make_target("telegram", "-100123", "123:AbC-d")
    request = webhooks.build_request(target, MESSAGE, 0)
    assert request.url == "https://api.telegram.org/bot123:AbC-d/sendMessage"
    assert json.loads(request.body)["chat_id"] == "-100123"
    assert json.loads(request.body)["text"].startswith("Kaiser with Bert\nAnna, it is your turn")


def test_tokens_go_where_their_receivers_look(app: App, receiver: Receiver) -> None:
    for kind in ("matrix", "ntfy", "gotify"):
        webhooks.send(app, make_target(receiver, kind), MESSAGE)
    matrix, ntfy, gotify = receiver.requests
    assert (matrix.method, matrix.headers["Authorization"]) == ("PUT", "Bearer syt_token")
    assert matrix.path == "/_matrix/client/v3/rooms/%21room%3Aexample.org/send/m.room.message/abc.5.0.turn"
    assert (ntfy.path, ntfy.json["topic"], ntfy.headers["Authorization"]) == ("/", "my-games", "Bearer tk_1")
    assert (gotify.path, gotify.headers["X-Gotify-Key"]) == ("/message", "AbC")


def test_a_name_mentions_no_one_and_formats_nothing() -> None:
    bodies = {
        kind: webhooks.build_request(Target(kind, "https://example.org/hook", ""), MESSAGE, 0).body.decode()
        for kind in ("discord", "slack", "mattermost")
    }
    assert json.loads(bodies["discord"])["allowed_mentions"] == {"parse": []}
    assert r"\*bold\*" in json.loads(bodies["discord"])["embeds"][0]["description"]
    assert "<script>" not in json.loads(bodies["slack"])["text"]
    assert "@all" not in json.loads(bodies["mattermost"])["text"]


@pytest.mark.parametrize(
    ("mood", "kind", "outcome"),
    [
        ("204", "webhook", "sent"),
        ("410", "webhook", "gone"),
        ("404", "webhook", "retry"),
        ("404", "discord", "gone"),
        ("400", "webhook", "retry"),
        ("400", "discord", "refused"),
        ("401", "gotify", "retry"),
        ("429", "discord", "retry"),
        ("500", "slack", "retry"),
        ("503", "webhook", "retry"),
        ("redirect", "webhook", "retry"),
        ("cut", "webhook", "retry"),
        ("slow", "webhook", "retry"),
    ],
)
def test_each_mood_of_a_receiver_has_its_outcome(
    app: App, receiver: Receiver, mood: str, kind: str, outcome: str
) -> None:
    receiver.mood = mood
    assert webhooks.send(app, make_target(receiver, kind), MESSAGE).outcome == outcome
    assert len(receiver.requests) == 1


def test_a_receiver_names_the_time_of_the_next_try(app: App, receiver: Receiver) -> None:
    receiver.mood, receiver.headers = "429", {"Retry-After": "77"}
    assert webhooks.send(app, make_target(receiver, "slack"), MESSAGE).pause_s == 77
    now = datetime.now(UTC)
    assert webhooks.parse_pause(format_datetime(now + timedelta(minutes=2)), int(now.timestamp())) in range(118, 121)
    assert [webhooks.parse_pause(text, 0) for text in ("", "soon", "-5", "000")] == [0, 0, 0, 0]
    assert [webhooks.parse_pause(text, 0) for text in ("0" * 9 + "60", "9" * 30)] == [60, webhooks.MAX_PAUSE_S]


def test_a_private_address_gets_nothing_and_is_not_tried_again(app: App, receiver: Receiver) -> None:
    target = make_target(receiver, "discord")
    app.client = receivers.client(is_allowed=lambda _: False)
    assert webhooks.send(app, target, MESSAGE).outcome == "refused"
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("kind", "address", "token"),
    [
        ("pigeon", "https://example.org", ""),
        ("webhook", "http://example.org", ""),
        ("discord", "https://user:word@example.org", ""),
        ("ntfy", "https://ntfy.sh/", ""),
        ("ntfy", "https://ntfy.sh/topic", "two words"),
        ("gotify", "https://gotify.example.org", ""),
        ("gotify", "https://gotify.example.org", "a\r\nX-Header: b"),
        ("matrix", "https://matrix.org/room", "token"),
        ("telegram", "https://t.me/chat", "123:AbC"),
        ("telegram", "-100123", "../../evil"),
    ],
)
def test_what_cannot_be_a_receiver_is_refused_with_a_sentence(kind: str, address: str, token: str) -> None:
    with pytest.raises(Refused):
        webhooks.make_target(kind, address, token)


def test_without_a_picture_none_is_sent() -> None:
    plain = replace(MESSAGE, picture="")
    for kind in webhooks.BUILDERS:
        target = Target(kind, "https://example.org/!room", "whsec_AAAA")
        assert b"board.png" not in webhooks.build_request(target, plain, 0).body
