"""Web push: encrypted as RFC 8291 says, signed as RFC 8292 says, and told from the answers of push services."""

import json
from email.utils import formatdate
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import update

from service import timing
from service.app import App
from service.internet.safe_http import HttpAnswer
from service.notify import channels, web_push
from service.notify.channels import NewChannel, Notice
from service.settings import DAY_S
from service.store import push_keys
from service.store.push_keys import decode_base64url, dump_public, encode_base64url
from service.store.schema import letters
from service.tables import talk
from tests import apps, receivers
from tests.apps import FakeTime
from tests.receivers import Receiver
from tests.workers.outgoing.test_deliveries import find_channel, find_person, give_turn, list_outcomes
from workers.outgoing import channel_deliveries

AUTH = b"authentication-k"


def make_key(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decode_base64url(text), "big"), ec.SECP256R1())


def test_the_example_of_rfc_8291_byte_for_byte() -> None:
    """Section 5 and appendix A of the RFC."""
    content = b"When I grow up, I want to be a watermelon"
    sent = web_push.encrypt(
        content,
        browser_key=decode_base64url(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ),
        auth=decode_base64url("BTBZMqHH6r4Tts7J_aSIgg"),
        key=make_key("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        salt=decode_base64url("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert encode_base64url(sent) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
        "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


class Browser:
    """A browser's side of a subscription: it decrypts by the RFC, independently of the code that encrypts."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = dump_public(self.key)
        self.secret = json.dumps({"p256dh": encode_base64url(self.public), "auth": encode_base64url(AUTH)})

    def decrypt(self, body: bytes) -> bytes:
        salt, length, size = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        assert len(body) <= length
        sender = body[21 : 21 + size]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        material = HKDF(SHA256(), 32, AUTH, b"WebPush: info\0" + self.public + sender).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(material)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(material)
        padded = AESGCM(key).decrypt(nonce, body[21 + size :], None)
        content, _, padding = padded.rpartition(b"\x02")
        assert not padding.strip(b"\0")
        return content


@pytest.fixture
def service(receiver: Receiver, app: App) -> Receiver:
    """A push service, which the app reaches."""
    receiver.mood = "201"
    app.client = receivers.client()
    app.open()
    return receiver


def subscribe(app: App, service: Receiver, browser: Browser) -> tuple[apps.Place, apps.Place]:
    """Start a game whose waiting player has a browser that takes pushes; return both places, the mover first."""
    places = apps.start_table(app, pace=3 * 86_400)
    mover, _ = apps.find_move(app, places)
    waiting = apps.find_waiting(app, places)
    with app.store.writing() as db:
        new = NewChannel("push", "Firefox", service.url("/push/abc"), browser.secret)
        channels.add(db, find_person(app, waiting), new, app.now())
        db.execute(update(letters).values(sent_at=app.now()))
    return mover, waiting


def test_a_push_service_gets_what_only_the_browser_can_read(app: App, service: Receiver) -> None:
    browser = Browser()
    mover, waiting = subscribe(app, service, browser)
    give_turn(app, mover, waiting)
    channel_deliveries.run()
    (request,) = service.requests
    shown = json.loads(browser.decrypt(request.body))
    assert shown["web_push"] == 8030
    assert shown["notification"]["navigate"] == f"{app.settings.address}/t/{waiting.link}"
    assert shown["notification"]["app_badge"] == "1"
    assert waiting.link.encode() not in request.body
    assert not any(waiting.link in value for value in request.headers.values())
    assert request.headers["Content-Encoding"] == "aes128gcm"
    assert request.headers["Urgency"] == "normal"
    assert len(request.headers["Topic"]) == 32
    assert 86_400 < int(request.headers["TTL"]) <= 3 * 86_400
    check_token(app, request.headers["Authorization"], service.url("/"))


@pytest.mark.parametrize("group", channels.GROUPS)
def test_a_browser_takes_notices_of_each_group_that_its_player_can_choose(app: App, group: str) -> None:
    app.open()
    notice = Notice("1", "kind", group, "subject", "title", "sentence", "https://a.example", "en", app.now())
    headers = web_push.make_headers(app, "https://push.example/abc", notice)
    assert headers["Urgency"] in ("low", "normal", "high")
    assert DAY_S <= int(headers["TTL"]) <= 14 * DAY_S


def test_a_browser_gets_what_others_say_if_its_player_wants_that(app: App, clock: FakeTime, service: Receiver) -> None:
    browser = Browser()
    mover, waiting = subscribe(app, service, browser)
    with app.store.writing() as db:
        (channel,) = channels.list_own(db, find_person(app, waiting))
        channels.choose_groups(db, channel, {"talk"})
    apps.say(app, mover, "Are you there?")
    clock.advance(talk.TALK_DELAY_S)
    channel_deliveries.run()
    (request,) = service.requests
    assert "Are you there?" in json.loads(browser.decrypt(request.body))["notification"]["body"]


def check_token(app: App, header: str, address: str) -> None:
    """Check the signature and the claims of a VAPID token, as a push service does."""
    token, key = (part.partition("=")[2] for part in header.removeprefix("vapid ").split(", "))
    head, claims, signature = token.split(".")
    number = decode_base64url(signature)
    signed = encode_dss_signature(int.from_bytes(number[:32], "big"), int.from_bytes(number[32:], "big"))
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_base64url(key))
    public.verify(signed, f"{head}.{claims}".encode(), ec.ECDSA(SHA256()))
    with app.store.reading() as db:
        assert decode_base64url(key) == dump_public(push_keys.load_key(db))
    parts, claimed = urlsplit(address), json.loads(decode_base64url(claims))
    assert claimed["aud"] == f"{parts.scheme}://{parts.netloc}"
    assert app.now() < claimed["exp"] <= app.now() + 86_400
    assert claimed["sub"] == f"mailto:{app.settings.sender_address}"


@pytest.mark.parametrize("mood", ["404", "410"])
def test_a_subscription_that_is_gone_is_deleted(app: App, service: Receiver, mood: str) -> None:
    mover, waiting = subscribe(app, service, Browser())
    service.mood = mood
    give_turn(app, mover, waiting)
    channel_deliveries.run()
    assert apps.run_query(app, channels.list_own, find_person(app, waiting)) == []


def test_a_name_that_leads_into_the_own_network_once_ends_no_subscription(app: App, service: Receiver) -> None:
    mover, waiting = subscribe(app, service, Browser())
    public_client = app.client
    app.client = receivers.client(resolve=lambda _: ["10.0.0.1"], is_allowed=lambda _: False)
    give_turn(app, mover, waiting)
    channel_deliveries.run()
    app.client = public_client
    assert list_outcomes(app)[0].startswith("refused: localhost is not on the public Internet")
    assert find_channel(app, waiting).failures == 1


def test_a_push_service_may_name_a_day_or_more_and_a_moment() -> None:
    now = apps.NOON
    moment = formatdate(now + 100, usegmt=True)
    for header, pause_s in (("120", 120), ("90000", 86_400), (moment, 100), ("soon", 0)):
        answer = web_push.judge_answer(HttpAnswer(429, b"", {"retry-after": header}), now)
        assert (answer.outcome, answer.pause_s) == ("retry", pause_s)


@pytest.mark.parametrize("mood", ["429", "503", "cut"])
def test_a_busy_push_service_is_asked_again_when_it_says(
    app: App, service: Receiver, clock: FakeTime, mood: str
) -> None:
    mover, waiting = subscribe(app, service, Browser())
    service.mood, service.headers = mood, {"Retry-After": "120"}
    give_turn(app, mover, waiting)
    channel_deliveries.run()
    clock.advance(timing.FIRST_PAUSE_S if mood == "cut" else 119)
    service.mood, asked = "201", len(service.requests)
    channel_deliveries.run()
    assert len(service.requests) == asked + (mood == "cut")
    clock.advance(1)
    channel_deliveries.run()
    assert list_outcomes(app) == ["sent"]


def test_a_message_that_is_refused_is_not_sent_again(app: App, service: Receiver) -> None:
    mover, waiting = subscribe(app, service, Browser())
    service.mood = "413"
    give_turn(app, mover, waiting)
    channel_deliveries.run()
    assert list_outcomes(app)[0].startswith("refused: 413")
    assert find_channel(app, waiting).failures == 1


def test_a_renewed_key_ends_all_subscriptions(app: App, service: Receiver) -> None:
    _, waiting = subscribe(app, service, Browser())
    before = apps.run_query(app, push_keys.load_key).private_numbers()
    with app.store.writing() as db:
        assert push_keys.renew_key(db) == 1
    assert apps.run_query(app, push_keys.load_key).private_numbers() != before
    assert apps.run_query(app, channels.list_own, find_person(app, waiting)) == []


def test_a_newer_notice_replaces_an_older_one_of_the_same_table_alone(app: App) -> None:
    app.open()

    def topic(subject: str) -> str:
        notice = Notice("1", "turn", "turn", subject, "", "", "", "en", 0)
        return web_push.make_headers(app, "https://push.example.org/a", notice)["Topic"]

    assert topic("table/turn") == topic("table/turn") != topic("other/turn")
