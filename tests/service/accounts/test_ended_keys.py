"""Keys that a person has ended open nothing: a copied cookie after signing out, and settings links of old letters."""

from email.message import EmailMessage

from sqlalchemy import update

from service.accounts import leaving
from service.people.proof import ProvenPerson
from service.store.schema import letters
from tests.servers import Sink
from tests.service.accounts.test_account import ANNA, person, sign_in
from tests.sites import Site, Visitor
from workers.outgoing import post


def copy_cookie(site: Site, visitor: Visitor) -> Visitor:
    """Return a browser with a copy of the session cookie."""
    thief = site.new_visitor()
    cookie = visitor.client.get_cookie("session")
    assert cookie
    thief.client.set_cookie("session", cookie.value)
    return thief


def test_a_copied_cookie_is_worth_nothing_after_signing_out(site: Site) -> None:
    site.open_table()
    anna = sign_in(site)
    thief = copy_cookie(site, anna)
    assert thief.client.get("/my").status_code == 200
    anna.post("/leave")
    assert thief.client.get("/my").status_code == 303


def test_signing_out_on_one_device_leaves_the_others_signed_in(site: Site) -> None:
    site.open_table()
    one = sign_in(site)
    site.time += 1
    other = sign_in(site)
    one.post("/leave")
    assert other.client.get("/my").status_code == 200


def test_a_deleted_person_is_signed_in_nowhere(site: Site) -> None:
    site.open_table()
    anna = sign_in(site)
    leaving.delete_person(site.app, ProvenPerson(person(site)), ANNA)
    assert anna.client.get("/my").status_code == 303


def list_links(letter: EmailMessage) -> list[str]:
    words = str(letter.get_body(("plain",)).get_content()).split()  # type: ignore[union-attr]  # a letter has text
    return [word.partition("depesche")[2] or word for word in words if "/wishes/" in word]


def test_a_new_settings_link_ends_those_of_older_letters(site: Site, visitor: Visitor, smtp_sink: Sink) -> None:
    site.app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    site.open_table()
    old = site.app.links.make_preferences_token(person(site))
    visitor.get(f"/wishes/{old}")
    page = sign_in(site).post("/my/settings-link")
    assert page.status_code == 303
    visitor.get(f"/wishes/{old}", 404)
    assert visitor.post(f"/wishes/{old}/stop").status_code == 404
    with site.app.store.writing() as db:
        db.execute(update(letters).values(due_at=site.time))
    post.run()
    letter = next(one for one in smtp_sink.letters if "anna" in str(one["To"]))
    new = site.app.links.make_preferences_token(person(site), 1)
    assert new in str(letter["List-Unsubscribe"])
    assert all(new in link for link in list_links(letter))
    visitor.get(f"/wishes/{new}")
