"""The language of a guest: as the organiser says, as the guest chooses; no typed address settles it for good."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from service.app import App
from service.store.schema import people
from service.tables import access, opening
from service.tables.opening import Invitee
from tests import apps
from tests.servers import Sink
from tests.sites import Site, Visitor
from workers.outgoing import emails, post

BERTA = "berta@example.org"


def open_table(app: App, *languages: str, by: str = "en", organiser: str = "anna@example.org") -> opening.OpenedTable:
    guests = [Invitee("Berta", BERTA, language=word) for word in languages]
    return apps.open_new(app, "kaiser", {}, [Invitee("Anna", organiser), *guests], language=by)


def load_language(app: App, address: str = BERTA) -> str:
    with app.store.reading() as connection:
        return str(connection.execute(select(people.c.language).where(people.c.address == address)).scalar_one())


def test_a_guest_is_written_to_in_the_language_that_the_organiser_says(app: App) -> None:
    open_table(app, "nl", by="de")
    assert (load_language(app), load_language(app, "anna@example.org")) == ("nl", "de")


def test_without_a_word_it_is_the_organisers_at_that_moment_and_the_next_may_say_another(app: App) -> None:
    open_table(app, "", by="de")
    assert load_language(app) == "de"
    open_table(app, "", by="fr", organiser="clara@example.org")
    assert load_language(app) == "fr"


def test_a_guest_who_sat_down_or_chose_keeps_the_language(app: App) -> None:
    table = open_table(app, "de")
    apps.submit(app, access.find(app, table.links[1]), "sit word")
    open_table(app, "fr", organiser="clara@example.org")
    assert load_language(app) == "de"
    apps.change(app, access.set_language, access.find(app, table.links[1]), "nl")
    open_table(app, "fr", organiser="dora@example.org")
    assert load_language(app) == "nl"


def test_the_first_letter_asks_a_guest_without_a_choice_and_reading_it_chooses_nothing(
    site: Site, visitor: Visitor, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    app = site.app
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    open_table(app, "de")
    post.send(app, post.claim(app))
    letter = next(one for one in smtp_sink.letters if BERTA in one["To"])
    for form in ("plain", "html"):
        pages = re.findall(r"(/wishes/\S+?/language\?in=[a-z]+)", letter.get_body((form,)).get_content())
        assert [page[-2:] for page in pages] == ["en", "nl", "fr", "de"]
    assert "Oui, en Français" in visitor.get(pages[2])
    assert load_language(app) == "de"
    visitor.post(pages[2].partition("?")[0], language="fr")
    assert load_language(app) == "fr"
    smtp_sink.letters.clear()
    open_table(app, "de", organiser="clara@example.org")
    post.send(app, post.claim(app))
    later = next(one for one in smtp_sink.letters if BERTA in one["To"])
    assert load_language(app) == "fr"
    assert "/language?in=" not in later.get_body(("plain",)).get_content()


def test_the_form_and_the_interface_take_the_language_of_each_guest(site: Site, visitor: Visitor) -> None:
    visitor.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    visitor.post("/new/kaiser", name="Anna", address="anna@example.org", players=f"Berta <{BERTA}> (nl)")
    assert load_language(site.app) == "nl"
    players = [
        {"name": "Dora", "address": "dora@example.org"},
        {"name": "Emil", "address": "emil@example.org", "language": "fr"},
    ]
    answer = visitor.client.post("/api/v1/tables", json={"game": "kaiser", "players": players, "language": "de"})
    assert answer.status_code == 201
    assert (load_language(site.app, "emil@example.org"), load_language(site.app, "dora@example.org")) == ("fr", "de")
    assert len(apps.load_table(site.app, answer.get_json()["table"]).seats) == 2
