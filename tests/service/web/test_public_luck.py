"""Pages, interface and letters say where the dice of a table come from, and what a table with public luck waits for."""

from __future__ import annotations

import pytest

from service import create_app
from service.app import App
from service.internet import beacon as beacons
from service.tables import access, opening
from service.tables.opening import Invitee
from tests import apps
from tests.beacons import run_beacon
from workers import beacon_rounds as rounds
from workers.outgoing import table_letters
from workers.outgoing.letter import LetterRequest

GUESTS = [Invitee("Anna", "anna@example.org", "word"), Invitee("Berta", "berta@example.org", "word")]


@pytest.fixture
def app(tmp_path, clock):
    with run_beacon() as server, apps.run_app(apps.make_settings(tmp_path, beacon=server.setting), clock) as app:
        yield app


def open_table(app: App) -> opening.OpenedTable:
    return apps.open_new(app, "carcassonne", {}, GUESTS, luck="public")


def get(app: App, path: str, language: str = "en") -> str:
    return create_app(app).test_client().get(path, headers={"Accept-Language": language}).get_data(as_text=True)


SENTENCES = {
    "en": "The dice come with round",
    "nl": "De dobbelstenen komen met ronde",
    "de": "Die Würfel kommen mit Runde",
    "fr": "Les dés viennent avec le tour",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_page_of_a_table_names_the_awaited_round(app, language):
    page = get(app, f"/t/{open_table(app).links[0]}", language)
    assert SENTENCES[language] in page
    assert "</html>" in page


def test_when_the_beacon_is_late_the_page_offers_to_go_on_without_it(app, clock):
    table = open_table(app)
    link = f"/t/{table.links[0]}"
    assert 'value="sealed"' not in get(app, link)
    clock.advance(beacons.LATE_AFTER_S + 10)
    assert 'value="sealed"' in get(app, link)
    place = access.find(app, table.links[0])
    assert apps.submit(app, place, "sealed").accepted
    assert 'value="agree"' not in get(app, link)
    assert 'value="agree"' in get(app, f"/t/{table.links[1]}")


def test_the_form_asks_where_the_dice_come_from(app):
    page = get(app, "/new/kaiser")
    assert 'name="luck" value="sealed" checked' in page
    assert 'name="luck" value="public"' in page


def test_the_interface_tells_of_public_luck_and_of_the_awaited_round(app):
    client = create_app(app).test_client()
    players = [{"name": "Anna", "address": "anna@example.org"}, {"name": "Berta", "address": "berta@example.org"}]
    made = client.post("/api/v1/tables", json={"game": "kaiser", "players": players, "luck": "public"})
    assert made.status_code == 201
    seen = client.get(f"/api/v1/t/{made.json['links'][0]}").json
    assert (seen["luck"], seen["awaited"]) == ("public", None)
    waits = open_table(app)
    seen = client.get(f"/api/v1/t/{waits.links[0]}").json
    snapshot = apps.load_table(app, waits.table)
    due = snapshot.position.beacon.time_of(snapshot.position.waiting_command.round)
    assert seen["awaited"] == {
        "entry": snapshot.position.waiting_command.seq,
        "round": snapshot.position.waiting_command.round,
        "due": due,
    }


@pytest.mark.parametrize("language", SENTENCES)
def test_letters_tell_that_the_beacon_is_missing_and_ask_to_go_on(app, clock, language):
    table = open_table(app)
    clock.advance(beacons.LATE_AFTER_S + 10)
    rounds.run()
    snapshot = apps.load_table(app, table.table)
    order = LetterRequest(
        table.table, snapshot.position.waiting_command.seq, 1, "unlit", "berta@example.org", "Berta", language
    )
    text = table_letters.write(app, order).get_body(("plain",)).get_content()
    word = {"en": "sealed", "nl": "verzegeld", "de": "versiegelt", "fr": "scellé"}[language]
    assert word in text
    assert apps.submit(app, access.find(app, table.links[0]), "sealed").accepted
    letter = table_letters.write(
        app, LetterRequest(table.table, snapshot.row.length, 1, "sealing", "berta@example.org", "Berta")
    )
    assert "Anna" in letter.get_body(("plain",)).get_content()


def test_the_invitation_says_where_the_dice_come_from_and_what_the_host_still_sees(app):
    table = open_table(app)
    order = LetterRequest(table.table, 0, 1, "invitation", "berta@example.org", "Berta")
    letter = table_letters.write(app, order)
    for kind in ("plain", "html"):
        text = " ".join(letter.get_body((kind,)).get_content().split())
        assert "not even the host of this service" in text
        assert "The host can still see hidden hands." in text
