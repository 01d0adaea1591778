"""Limits count mailboxes, not spellings, and questions to one player."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from engine.refusal import Refused
from service.accounts import signing_in
from service.people import register
from service.store.schema import letters
from service.tables.opening import Invitee
from tests import apps
from tests.service.people.test_trust import RELAY
from tests.sites import Site


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path, **RELAY, invitations_per_day=3, confirm=False)
    yield site
    site.app.close()


def count(site: Site, *kinds: str) -> int:
    with site.app.store.reading() as db:
        return sum(
            db.execute(select(func.count()).select_from(letters).where(letters.c.kind.startswith(kind))).scalar_one()
            for kind in kinds
        )


def test_spellings_of_an_address_share_its_limit_of_invitations(strict: Site) -> None:
    for number, typed in enumerate(
        ("vera@example.org", "vera+1@example.org", "V.era@example.org", "ve.ra+x@example.org")
    ):
        guests = [Invitee("Mallory", f"mallory{number}@example.org"), Invitee("Vera", typed)]
        if number < 3:
            apps.open_new(strict.app, "kaiser", {}, guests)
        else:
            with pytest.raises(Refused, match="invited very often"):
                apps.open_new(strict.app, "kaiser", {}, guests)
    assert register.name_mailbox("ve.ra+x@Example.org") == "vera@example.org"


def test_a_mailbox_gets_ten_letters_to_sign_in_a_day(strict: Site) -> None:
    strict.open_table()
    for _ in range(48):
        signing_in.send_link(strict.app, "anna@example.org")
        strict.time += 1_200
    assert count(strict, "enter/") == 10
    strict.time += 86_400
    signing_in.send_link(strict.app, "anna@example.org")
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
