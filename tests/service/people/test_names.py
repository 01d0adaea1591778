"""Names in letters to strangers are names, and no player opens a table in another's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from engine.refusal import Refused
from service.accounts import addresses, signing_in
from service.app import App
from service.people import register
from service.people.proof import ProvenPerson
from service.store.queries import NEVER_DUE
from service.store.schema import letters, people, tables
from service.tables.opening import Invitee
from tests import apps
from workers.outgoing import personal_letters
from workers.outgoing.letter import LetterRequest

BAD = [
    "http://evil.example", "evil.example", "see www.evil", "anna@evil.example", "evil.com/win", "evil。com",
    "ｅｖｉｌ．ｃｏｍ", "\u0410nna", "An\u200bna", "An\u3164na", "Anna\u202e", "a" + "\u0301" * 9, "x" * 41, "\u2800",
    "evil.com.", "evil.com)", "(evil.com", "evil.com,", "evilꓸcom", "evil․com", "evil.xn--p1ai", "192.0.2.1",
    "\ua4eenna", "\u13a0nna", "An\u0576a", "Bo\u10d0b",
    "Depesche", "DEPESCHE!", "The house", "Das Haus", "depesche team", "Dep\u0454sche", "Server",
    "Dépésche", "D.e.p.e.s.c.h.e", "\u00d0EPESCHE", "The-House", "Le serveur", "mailto:anna", "tel:112",
    "D3p3sche", "d3p35ch3 team", "Ｄ３ｐ３ｓｃｈｅ", "D€p€sche", "Dɛpɛsche", "ᴅᴇᴘᴇsᴄʜᴇ", "🅳🅴🅿🅴🆂🅲🅷🅴",
    "🅓🅔🅟🅔🅢🅒🅗🅔", "🇩🇪🇵🇪🇸🇨🇭🇪",
    "4dmin", "5upport", "The S3rv3r", "Ho5t", "evil·com", "evil‧com", "evil•com", "evil∙com", "evil⋅com", "evil・com",
    "evil᛫com", "evilꞏcom", "evil⸱com", "evil⸳com", "evil٠com", "evil .com", "EVIL·COM", "1·evil",
]  # fmt: skip
GOOD = [
    "Anna",
    "J.R.R. Tolkien",
    "Dr. Who",
    "O’Neil",
    "St. Pölten",
    "Анна",
    "Zoë",
    "Nguyễn",
    "Anna & Bert",
    "Bot 1",
    "Łukasz",
    "Ștefan",
    "Олена",
    "Ελένη",
    "Արամ",
    "日本のたろう",
    "김철수",
    "ابن سينا",
    "House",
    "Marie-Hélène",
    "Marcel·lí",
    "ジョン・スミス",
    "Anna 🇩🇪",
    "Player 3",
    "R2D2",
    "Đorđe",
    "Mr.",
]


@pytest.fixture
def app(tmp_path: Path, clock: apps.FakeTime) -> Iterator[App]:
    """An app whose letters leave and whose players prove their addresses."""
    with apps.run_app(apps.make_settings(tmp_path, smtp="smtp://127.0.0.1:1", confirm=True), clock) as app:
        yield app


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        register.clean_name(name)


@pytest.mark.parametrize("name", GOOD)
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert register.clean_name(name) == name


@pytest.mark.parametrize(
    "names", [("Bob 1", "Bob l"), ("mary", "rnary"), ("Вов", "Bob"), ("ոоl", "Nol"), ("Zoe", "Zое"), ("Anna", "ɑnnɑ")]
)
def test_two_names_that_look_the_same_are_refused(app: App, names: tuple[str, str]) -> None:
    with pytest.raises(Refused):
        open_table(app, *names)


def test_the_name_that_the_host_gave_the_server_is_taken(tmp_path: Path, clock: apps.FakeTime) -> None:
    with apps.run_app(apps.make_settings(tmp_path, sender="Games at Home <games@example.org>"), clock) as app:
        with pytest.raises(Refused, match="belongs to this server"):
            open_table(app, "Anna", "Games at home")
        table = open_table(app, "Anna", "Bert")
        assert table


def open_table(app: App, *called: str, signed_in: ProvenPerson | None = None) -> str:
    guests = [Invitee(name, f"player{number}@example.org") for number, name in enumerate(called)]
    return apps.open_new(app, "kaiser", {}, guests, signed_in=signed_in).table


def rows(app: App, table: Any) -> Any:
    with app.store.reading() as connection:
        return connection.execute(select(table)).all()


def proven(app: App, address: str = "player0@example.org") -> ProvenPerson:
    with app.store.writing() as connection:
        number = register.find_or_create_person(connection, address, "Anna", app.now())
        connection.execute(update(people).where(people.c.id == number).values(confirmed_at=app.now()))
    return ProvenPerson(number)


def test_a_letter_to_a_stranger_leaves_out_an_old_name_that_is_a_link(app: App) -> None:
    table = open_table(app, "Anna", "Bert")
    with app.store.writing() as connection:
        connection.exec_driver_sql("UPDATE seats SET name = 'http://evil.example' WHERE seat = 1")
    person = next(row for row in rows(app, people) if row.address == "player0@example.org")
    order = LetterRequest("", 0, 0, f"confirm/{table}", person.address, person.name, person=person.id)
    message = personal_letters.write(app, order)
    assert message is not None
    assert "evil.example" not in message.as_string()


def test_an_address_that_a_stranger_typed_invites_no_guests_before_its_owner_agrees(app: App) -> None:
    victim = proven(app)
    open_table(app, "Anna", "Bert")
    (table,) = rows(app, tables)
    assert table.awaits_confirmation
    owed = {row.kind.partition("/")[0]: row.due_at for row in rows(app, letters)}
    assert owed["invitation"] == NEVER_DUE
    assert owed["confirm"] <= app.now()
    token = app.links.make_sign_in_token(victim.id, 0, app.now())
    signing_in.sign_in(app, token)  # the owner is there, and has not agreed
    assert rows(app, tables)[0].awaits_confirmation
    apps.confirm_all(app, app.links.make_confirm_token(victim.id, "player0@example.org"))
    assert not rows(app, tables)[0].awaits_confirmation


def test_a_signed_in_organiser_opens_a_table_at_once(app: App) -> None:
    open_table(app, "Anna", "Bert", signed_in=proven(app))
    assert not rows(app, tables)[0].awaits_confirmation


def test_being_signed_in_as_another_proves_nothing(app: App) -> None:
    proven(app)
    open_table(app, "Anna", "Bert", signed_in=proven(app, "mallory@example.org"))
    assert rows(app, tables)[0].awaits_confirmation


def test_correcting_an_address_to_a_proven_one_proves_nothing(app: App) -> None:
    proven(app, "victim@example.org")
    made = apps.open_new(
        app, "kaiser", {}, [Invitee("Mallory", "mallory@example.org"), Invitee("Bert", "bert@example.org")]
    )
    addresses.correct_address(app, made.links[0], "victim@example.org")
    assert rows(app, tables)[0].awaits_confirmation
