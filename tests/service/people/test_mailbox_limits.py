"""Limits count mailboxes, not spellings, and questions to one player."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from service.accounts import signing_in
from service.people import register
from service.settings import DAY_S
from service.store.schema import letters
from service.tables.opening import Invitee
from tests import apps
from tests.servers import Sink
from tests.sites import Site
from workers.outgoing import post

FREE = Invitee("", who="anybody")


@pytest.fixture
def strict(tmp_path: Path, smtp_sink: Sink) -> Iterator[Site]:
    relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    site = Site(tmp_path, smtp=relay, invitations_per_day=3, confirm=False)
    yield site
    site.app.close()


def count_outcomes(site: Site, outcome: str) -> int:
    with site.app.store.reading() as db:
        query = select(func.count()).select_from(letters).where(letters.c.outcome == outcome)
        return int(db.execute(query).scalar_one())


def count(site: Site, *kinds: str) -> int:
    with site.app.store.reading() as db:
        return sum(
            db.execute(select(func.count()).select_from(letters).where(letters.c.kind.startswith(kind))).scalar_one()
            for kind in kinds
        )


def invite(site: Site, *addresses: str) -> None:
    """Open a table for each of these addresses, by an organiser of its own."""
    for number, typed in enumerate(addresses):
        guests = [Invitee("Mallory", f"mallory{number}.{site.time}@example.org"), Invitee("Vera", typed)]
        apps.open_new(site.app, "kaiser", {}, guests)


def count_sent(sink: Sink, mailbox: str = "vera@example.org") -> int:
    return sum(register.name_mailbox(one["To"].addresses[0].addr_spec) == mailbox for one in sink.letters)


def test_spellings_of_an_address_share_its_limit_of_invitations(strict: Site, smtp_sink: Sink) -> None:
    spellings = ("vera@example.org", "vera+1@example.org", "V.era@example.org", "ve.ra+x@example.org")
    invite(strict, *spellings)
    post.run()
    assert count_sent(smtp_sink) == 3
    strict.time += DAY_S
    post.run()
    assert count_sent(smtp_sink) == 4
    assert register.name_mailbox("ve.ra+x@Example.org") == "vera@example.org"


def test_a_days_invitations_wait_and_those_beyond_are_dropped(strict: Site, smtp_sink: Sink) -> None:
    invite(strict, *["vera@example.org"] * 9)
    for day in range(3):
        post.run()
        assert count_sent(smtp_sink) == min(3 + 3 * day, 6)
        strict.time += DAY_S
    assert count_outcomes(strict, "too many invitations") == 3


def test_a_page_does_not_say_that_an_address_was_invited_often(strict: Site) -> None:
    invite(strict, *["vera@example.org"] * 9)
    path = f"/join/{apps.open_new(strict.app, 'kaiser', {}, [Invitee('Anna', 'a@example.org'), FREE, FREE]).join}"
    for name, address in (("Vera", "vera@example.org"), ("Nora", "nora@example.org")):
        assert strict.new_visitor().post(path, name=name, address=address).status_code == 303


def test_a_mailbox_gets_ten_letters_to_sign_in_a_day(strict: Site) -> None:
    strict.open_table()
    for _ in range(48):
        signing_in.send_sign_in_letter(strict.app, "anna@example.org")
        strict.time += 1_200
    assert count(strict, "enter/") == 10
    strict.time += 86_400
    signing_in.send_sign_in_letter(strict.app, "anna@example.org")
    assert count(strict, "enter/") == 11


def test_a_player_is_asked_a_few_times_an_hour(strict: Site) -> None:
    opened = strict.start_table()
    places = [apps.Place(opened.table, seat, "") for seat in (0, 1)]
    for _ in range(12):
        apps.submit(strict.app, places[0], "pause")
        apps.submit(strict.app, places[1], "no")
        strict.time += 60
    assert count(strict, "pausing") == 5
    assert not apps.submit(strict.app, places[0], "pause").accepted
    strict.time += 3_600
    assert apps.submit(strict.app, places[0], "pause").accepted
