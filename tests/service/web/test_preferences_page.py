"""The page behind the foot of every letter: what may be wished for there, and letters that stop."""

import re

import pytest
from sqlalchemy import select, update

from engine.table_events import (
    VacationEnded,
    VacationTaken,
)
from service.accounts import preferences
from service.accounts.preferences import Recipient
from service.people import letter_settings
from service.people.letter_settings import LetterSettings, TableLetterSettings
from service.people.proof import ProvenPerson
from service.settings import DAY_S
from service.store.schema import people, seats
from service.tables.opening import OpenedTable
from service.timing import HOUR_S, Calendar
from tests import apps
from tests.sites import Site, Visitor

FORM = {"letters": "turn", "language": "en", "presence": "on"}


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table(pace=3 * DAY_S)


def person(site: Site, name: str) -> int:
    with site.app.store.reading() as connection:
        return int(connection.execute(select(people.c.id).where(people.c.name == name)).scalar_one())


def path(site: Site, name: str = "Anna") -> str:
    return f"/wishes/{site.app.links.make_preferences_token(person(site, name))}"


def reader(site: Site, name: str = "Anna") -> Recipient:
    return preferences.find_recipient(site.app, site.app.links.make_preferences_token(person(site, name)))


def load_table_settings(site: Site, table: str, seat: int = 0) -> TableLetterSettings:
    with site.app.store.reading() as connection:
        own = select(seats.c.letter_settings).where(seats.c.table == table, seats.c.seat == seat)
        return letter_settings.parse_table_settings(connection.execute(own).scalar_one())


def test_everything_is_kept_and_shown_again(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    times = {"zone": "Europe/Amsterdam", "quiet_from": "22", "quiet_until": "7", "weekends": "on", "remind": "4 24"}
    choices = {"letters": "digest", "hour": "19", "plain": "on", "at_once": "on", "language": "nl"}
    page = visitor.get(visitor.post(path(site), **choices, **times).location)
    recipient = reader(site)
    assert recipient.settings == LetterSettings("digest", 19, plain=True, at_once=True, presence=False)
    assert recipient.calendar == Calendar("Europe/Amsterdam", (22, 7), True, (DAY_S, 4 * HOUR_S))
    assert recipient.language == "nl"
    for words in ("Saved.", 'value="Europe/Amsterdam"', '<option value="22" selected>', 'value="24 4"'):
        assert words in page
    assert 'name="letters" value="digest" checked' in page
    assert "data-here" not in page
    visitor.post(path(site), **FORM)
    assert (reader(site).settings, reader(site).calendar) == (LetterSettings(hour=19), Calendar())


def test_a_deadline_that_runs_moves_with_the_calendar(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    name = ("Anna", "Bert")[site.find_mover(new_table)]
    due = site.load(new_table).seats[site.find_mover(new_table)].due_at
    visitor.post(path(site, name), **FORM, quiet_from="22", quiet_until="9")
    assert site.load(new_table).seats[site.find_mover(new_table)].due_at == due + HOUR_S


@pytest.mark.parametrize(
    "fields",
    [{"zone": "Atlantis"}, {"quiet_from": "x", "quiet_until": "3"}, {"quiet_from": "3", "quiet_until": "99"}]
    + [{"remind": words} for words in ("often", "0", "1 2 3 4 5", "99999")]
    + [{"hour": "24"}, {"letters": "often"}, {"language": "tlh"}],
)
def test_what_makes_no_sense_is_refused_with_the_form_kept(
    site: Site, visitor: Visitor, new_table: OpenedTable, fields: dict[str, str]
) -> None:
    response = visitor.post(path(site), **{**FORM, "zone": "Europe/Paris", "weekends": "on", **fields})
    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert 'name="weekends" value="on" checked' in response.text
    assert f'value="{fields.get("zone", "Europe/Paris")}"' in response.text
    assert reader(site) == Recipient(ProvenPerson(person(site, "Anna")), "en", LetterSettings(), Calendar())


def test_one_table_may_be_wished_otherwise(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    page = visitor.get(f"{path(site)}?table={new_table.table}")
    assert "Only at this table: Kaiser, König, Edelmann with Bert" in page
    response = visitor.post(f"{path(site)}/here?table={new_table.table}", letters="reminders", plain="no")
    assert load_table_settings(site, new_table.table) == TableLetterSettings("reminders", plain=False)
    assert load_table_settings(site, new_table.table, 1) == TableLetterSettings()
    page = visitor.get(response.location)
    assert '<option value="reminders" selected>' in page
    visitor.post(f"{path(site)}/here?table={new_table.table}")
    assert load_table_settings(site, new_table.table) == TableLetterSettings()


def test_the_settings_of_the_own_seat_are_shown_although_a_stranger_typed_the_address_at_another(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    visitor.post(f"{path(site, 'Bert')}/here?table={new_table.table}", letters="reminders", plain="no")
    with site.app.store.writing() as db:
        typed = update(seats).where(seats.c.table == new_table.table, seats.c.seat == 0)
        db.execute(typed.values(person=person(site, "Bert"), proven=False))
        own = preferences.find_table(db, reader(site, "Bert"), new_table.table)
    assert own is not None
    assert own.own_settings.letters == "reminders"


def test_a_table_where_one_does_not_sit_stays_in_the_dark(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    theirs = site.start_table("Clara", "Dora")
    page = visitor.get(f"{path(site)}?table={theirs.table}")
    assert "Clara" not in page
    assert "Only at this table" not in page
    for where in ("here", "stop", "resume"):
        response = visitor.post(f"{path(site)}/{where}?table={theirs.table}", letters="none")
        assert response.status_code == 404
        assert "You have no seat at this table" in response.text
    assert "Clara" not in visitor.get(f"{path(site)}/stop?table={theirs.table}", 404)
    assert load_table_settings(site, theirs.table) == TableLetterSettings()


@pytest.mark.parametrize("token", ["x", "1", "1.", "1.aaaa", "0.x", "99999999999999999999.x", "²3.x", "1.ü"])
def test_a_bad_token_is_met_with_one_sentence(site: Site, visitor: Visitor, new_table: OpenedTable, token: str) -> None:
    for where in (f"/wishes/{token}", f"/wishes/{token}/stop"):
        assert visitor.client.get(where).status_code == 404
    assert "This link does not work" in visitor.get(f"/wishes/{token}", 404)


def test_the_table_page_leads_here(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    where = f"{path(site)}?table={new_table.table}"
    assert f'href="{where}"' in visitor.get(f"/t/{new_table.links[0]}")
    assert "Only at this table" in visitor.get(where)


# Vacations


def events(site: Site, new_table: OpenedTable) -> list[object]:
    return [event for entry in apps.load_entries(site.app, site.load(new_table)) for event in entry.events]


def test_a_vacation_is_recorded_and_ended_at_every_table(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    other = site.start_table("Clara", "Anna")
    days = {"first": "2027-02-01", "last": "2027-02-07"}
    page = visitor.get(visitor.post(f"{path(site)}/vacation", **days).location)
    assert "from 1 Feb 2027 to 7 Feb 2027</li>" in page
    for one, seat in ((new_table, 0), (other, 1)):
        assert events(site, one)[-1] == VacationTaken(seat, **days)
    assert "Anna is away from 1 Feb 2027 to 7 Feb 2027." in visitor.get(f"/t/{new_table.links[1]}")
    page = visitor.get(visitor.post(f"{path(site)}/home").location)
    assert "7 Feb 2027" not in page
    assert all(isinstance(events(site, one)[-1], VacationEnded) for one in (new_table, other))


def test_a_vacation_may_begin_before_any_game(site: Site, visitor: Visitor) -> None:
    site.open_table()
    visitor.post(f"{path(site)}/vacation", first="2027-02-01", last="2027-02-01")
    vacations = apps.load(site.app, lambda app, db: preferences.list_vacations(app, db, reader(site)))
    assert vacations == [("2027-02-01", "2027-02-01")]


def test_a_vacation_that_cannot_be_is_refused_with_its_days_kept(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    response = visitor.post(f"{path(site)}/vacation", first="2027-02-01", last="2027-03-20")
    assert response.status_code == 422
    assert "Days of vacation that you have left in 2027: 30." in response.text
    assert 'value="2027-03-20"' in response.text
    assert visitor.post(f"{path(site)}/home").status_code == 422


# Letters that stop


def test_a_look_stops_nothing(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    page = visitor.get(f"{path(site)}/stop?table={new_table.table}")
    assert "Kaiser, König, Edelmann with Bert" in page
    assert page.count("<form") == 3  # the button, and the choices of a language and of colours
    assert load_table_settings(site, new_table.table) == TableLetterSettings()


def test_a_mail_program_stops_a_table_with_a_bare_post(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    """RFC 8058 allows no cookie and no form token, and a repeated request succeeds."""
    bare = site.flask_app.test_client(use_cookies=False)
    for _ in range(2):
        response = bare.post(
            f"{path(site)}/stop?table={new_table.table}",
            data="List-Unsubscribe=One-Click",
            content_type="application/x-www-form-urlencoded",
        )
        assert response.status_code == 200
        assert "No more letters" in response.text
        assert load_table_settings(site, new_table.table) == TableLetterSettings("none")
    assert reader(site).settings == LetterSettings()
    assert load_table_settings(site, new_table.table, 1) == TableLetterSettings()


def test_without_a_table_everything_stops(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    visitor.post(f"{path(site)}/here?table={new_table.table}", letters="digest", plain="yes")
    response = site.flask_app.test_client().post(f"{path(site)}/stop", data={"List-Unsubscribe": "One-Click"})
    assert response.status_code == 200
    assert reader(site).settings.letters == "none"
    assert load_table_settings(site, new_table.table) == TableLetterSettings(plain=True)


@pytest.mark.parametrize("at_table", [True, False])
def test_letters_that_were_stopped_come_again_as_before(
    site: Site, visitor: Visitor, new_table: OpenedTable, at_table: bool
) -> None:
    visitor.post(path(site), **{**FORM, "letters": "digest", "hour": "7"})
    where = f"?table={new_table.table}" if at_table else ""
    page = visitor.post(f"{path(site)}/stop{where}").text
    undo = re.search(r'name="letters" value="(\w+)"', page)
    assert undo
    response = visitor.post(f"{path(site)}/resume{where}", letters=undo[1])
    assert response.status_code == 303
    assert reader(site).settings == LetterSettings("digest", 7)
    assert load_table_settings(site, new_table.table) == TableLetterSettings()


def test_who_bounced_is_written_to_again_when_he_says_so(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    assert "came back" not in visitor.get(path(site))
    with site.app.store.writing() as connection:
        back = update(people).where(people.c.id == person(site, "Anna"))
        connection.execute(back.values(bounced_at=site.time, bounce="550 nobody here"))
    assert "Letters to your address came back" in visitor.get(path(site))
    page = visitor.get(visitor.post(f"{path(site)}/again").location)
    assert "came back" not in page
    assert not reader(site).bounced
