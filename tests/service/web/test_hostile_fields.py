"""A NUL, which PostgreSQL does not store, and numbers that no row has: in no field do they break a page."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from flask.testing import FlaskClient

from service import create_app
from service.app import App
from tests import apps
from tests.apps import FakeTime
from tests.sites import Visitor

PATHS = (
    *("/my/table/{bad}", "/t/{bad}", "/join/{bad}", "/gallery/{bad}", "/confirm/{bad}", "/wishes/{bad}", "/host/{bad}"),
    *("/calendar/{bad}.ics", "/offer/a.0.{bad}", "/new/{bad}", "/rules/{bad}", "/oembed?url={bad}", "/api/v1/t/{bad}"),
    *("/wishes/{wishes}?table={bad}", "/wishes/{wishes}/stop?table={bad}", "/t/{link}?said={bad}"),
    *("/t/{link}/replay?at={bad}", "/live/{bad}"),
)
FORMS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("/my/claim", {"table": "{bad}", "seat": "0", "answer": "yes"}),
    ("/my/claim", {"table": "x", "seat": "{bad}", "answer": "yes"}),
    ("/my/link", {"table": "{bad}", "seat": "{bad}"}),
    ("/my/settings-link", {"kept": "{bad}"}),
    (
        "/wishes/{wishes}/connections/receivers",
        {"kind": "ntfy", "address": "https://x.example/{bad}", "label": "x"},
    ),
    ("/wishes/{wishes}/connections/receivers", {"kind": "telegram", "address": "-1", "token": "1:a", "label": "{bad}"}),
    ("/wishes/{wishes}/channels/test", {"channel": "{bad}"}),
    ("/wishes/{wishes}/channels/remove", {"channel": "{bad}"}),
    ("/wishes/{wishes}/here?table={bad}", {"letters": "none"}),
    ("/wishes/{wishes}", {"letters": "turn", "zone": "{bad}", "language": "en", "remind": "{bad}"}),
    ("/wishes/{wishes}/vacation", {"first": "{bad}", "last": "{bad}"}),
    ("/t/{link}/device", {"endpoint": "https://x.example/{bad}", "p256dh": "{bad}", "auth": "{bad}", "label": "{bad}"}),
    ("/t/{link}/device/remove", {"endpoint": "https://x.example/{bad}"}),
    ("/t/{link}/followers", {"kind": "ntfy", "address": "https://x.example/{bad}"}),
    ("/t/{link}/talk", {"text": "a{bad}"}),
    ("/t/{link}/note", {"note": "a{bad}"}),
    ("/t/{link}", {"move": "a{bad}", "key": "{bad}"}),
    ("/enter", {"address": "a{bad}@example.org"}),
    ("/language", {"language": "fr", "back": "/t/{bad}"}),
    ("/new/kaiser", {"name": "A{bad}", "address": "a@example.org", "players": "Bot", "pace": "{bad}"}),
)


@pytest.fixture
def client(any_app: App, clock: FakeTime) -> tuple[FlaskClient, dict[str, str]]:
    """A visitor who is signed in, and the links to put into the paths."""
    any_app.open()
    place = apps.start_table(any_app)[0]
    visitor = Visitor(create_app(any_app).test_client())
    visitor.post(f"/enter/{any_app.links.make_sign_in_token(1, 0, clock.at)}")
    return visitor.client, {"wishes": any_app.links.make_preferences_token(1), "link": place.link}


@pytest.mark.parametrize("bad", ["\0", "9" * 30, "-1", "١"], ids=["NUL", "large", "negative", "other digits"])
def test_no_field_breaks_a_page(client: tuple[FlaskClient, dict[str, str]], bad: str) -> None:
    browser, links = client
    answers = dict[str, int]()
    for path in PATHS:
        written = path.format(bad="%00" if bad == "\0" else bad, **links)
        answers[path] = browser.get(written).status_code
    for path, form in FORMS:
        written = path.format(bad="%00" if bad == "\0" else bad, **links)
        fields = {name: text.format(bad=bad) for name, text in form.items()}
        answers[f"{path} {sorted(form)}"] = browser.post(written, data=fields).status_code
    assert {path: status for path, status in answers.items() if status >= 500} == {}
