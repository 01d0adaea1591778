"""Headers of letters, for mail programs, relays and reports of complaints; and the size of letters."""

from __future__ import annotations

import re
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from random import Random

import pytest
from sqlalchemy import select, update

from engine import bots, catalogue
from engine import table as tables
from engine.contract.cases import list_variants
from service.app import App
from service.store.schema import letters, people, seats
from service.tables import access, judging
from service.tables.access import Place
from service.tables.locked_table import append_command
from service.tables.opening import Invitee
from service.text.languages import LANGUAGES, Translator
from tests import apps
from tests.servers import Sink
from workers.outgoing import emails, personal_letters, post
from workers.outgoing.letter import LetterRequest
from workers.outgoing.owed import LETTER_KINDS
from workers.outgoing.table_letters import write

MAX_LENGTH = 100_000
PERSONAL = set(personal_letters.WRITERS)
# Each of these needs a story of its own.
OVERTAKEN_KINDS = {
    "asked",
    "pausing",
    "paused",
    "sealing",
    "unlit",
    "offer",
    "offered",
    "relieved",
    "unreachable",
    "talk",
}
AT_A_TABLE = sorted(LETTER_KINDS.keys() - PERSONAL - OVERTAKEN_KINDS)


@pytest.fixture
def relay_app(app: App, smtp_sink: Sink, monkeypatch: pytest.MonkeyPatch) -> App:
    """An app with a relay, whose pictures are quickly drawn."""
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")
    app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    return app


def write_letter(app: App, place: Place, kind: str) -> EmailMessage:
    seq = apps.load_table(app, place.table).seats[place.seat].open_since or 0
    message = write(app, LetterRequest(place.table, seq, place.seat or 0, kind, "anna@example.org", "Anna"))
    assert message is not None
    return message


def test_every_letter_that_can_be_stopped_says_how_and_is_stopped_by_one_click(relay_app: App) -> None:
    place, _ = apps.find_move(relay_app, apps.start_table(relay_app))
    with relay_app.store.reading() as connection:
        own = (seats.c.table == place.table, seats.c.seat == place.seat)
        person = connection.execute(select(seats.c.person).where(*own)).scalar_one()
    page = f"{relay_app.settings.address}/wishes/{relay_app.links.make_preferences_token(person)}"
    for kind in ("invitation", "turn", "reminder", "timeout", "over"):
        letter = write_letter(relay_app, place, kind)
        link, mailto = letter["List-Unsubscribe"].split(", ")
        assert link == f"<{page}/stop?table={place.table}>"
        assert mailto.startswith(f"<mailto:{letter['Reply-To'].addresses[0].addr_spec}?subject=unsubscribe")
        assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert letter["Feedback-ID"] == f"{kind}:kaiser:localhost:depesche"
        for form in ("plain", "html"):
            assert f"{page}?table={place.table}" in letter.get_body((form,)).get_content()


def test_the_sender_says_whose_turn_it_is_and_the_thread_stays_one(relay_app: App) -> None:
    places = apps.start_table(relay_app)
    mover, _ = apps.find_move(relay_app, places)
    turn, rules = write_letter(relay_app, mover, "turn"), write_letter(relay_app, mover, "invitation")
    assert turn["From"].addresses[0].display_name == "Depesche: your turn"
    assert rules["From"].addresses[0].display_name == "Depesche: invitation"
    assert turn["From"].addresses[0].addr_spec == rules["From"].addresses[0].addr_spec
    assert (turn["Subject"], turn["In-Reply-To"]) == (rules["Subject"], rules["Message-ID"])
    waiting = apps.find_waiting(relay_app, places)
    assert write_letter(relay_app, waiting, "accepted/1")["From"].addresses[0].display_name == "Depesche: answer"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sender_names_each_kind_of_letter_in_each_language(language: str) -> None:
    translator = Translator(language)
    names = {name: emails.write_sender(translator, "Depesche", kind.topic) for name, kind in LETTER_KINDS.items()}
    assert all(name.startswith("Depesche") and len(name) > len("Depesche: ") for name in names.values())
    kinds = ("invitation", "turn", "reminder", "accepted", "asked", "over", "talk", "timeout", "confirm", "seat")
    assert len({names[kind] for kind in kinds}) == len(kinds)
    assert (names["turn"], names["accepted"]) == (names["digest"], names["refused"])


def test_no_letter_has_type_too_small_to_read(relay_app: App) -> None:
    place, _ = apps.find_move(relay_app, apps.start_table(relay_app))
    page = write_letter(relay_app, place, "turn").get_body(("html",)).get_content()
    sizes = [int(size) for size in re.findall(r"(?:font|font-size): ?(?:bold )?(\d+)px", page)]
    assert min(sizes) >= 12


def test_an_answer_to_a_mail_is_no_letter_to_many(relay_app: App) -> None:
    place, _ = apps.find_move(relay_app, apps.start_table(relay_app))
    letter = write_letter(relay_app, place, "accepted/1")
    for header in ("List-Id", "List-Unsubscribe", "List-Unsubscribe-Post", "Feedback-ID"):
        assert header not in letter


def test_the_sender_on_the_envelope_tells_which_letter_comes_back(relay_app: App, smtp_sink: Sink) -> None:
    apps.open_table(relay_app)
    post.run()
    with relay_app.store.reading() as connection:
        numbers = connection.execute(select(letters.c.id).order_by(letters.c.id)).scalars().all()
    senders = [envelope.mail_from for envelope in smtp_sink.envelopes]
    assert senders == [f"{relay_app.links.make_bounce_address(number)}@localhost" for number in numbers]


def long_game(app: App, moves: int) -> tuple[str, ...]:
    """The links of a table with everything in the box, after so many moves."""
    game, random = catalogue.find("carcassonne"), Random(5)
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in apps.NAMES]
    opened = apps.open_new(app, "carcassonne", dict(list_variants(game)[-1]), guests)
    for link in opened.links:
        assert apps.submit(app, access.find(app, link), "sit word").accepted
    with judging.at_table(app, opened.table) as work:
        for _ in range(moves):
            seat = tables.find_seats_to_move(game, work.locked.position)[0]
            move = bots.pick_random_move(tables.menu(game, work.locked.position, seat), random)
            work.locked = append_command(work.locked, seat, move)
    return opened.links


def test_no_letter_of_a_long_game_is_longer_than_mail_programs_show(relay_app: App) -> None:
    links = long_game(relay_app, 160)
    places = [access.find(relay_app, link) for link in links]
    mover = next(place for place in places if apps.list_moves(relay_app, place))
    sizes = {kind: sum(map(len, bodies(write_letter(relay_app, mover, kind)))) for kind in AT_A_TABLE}
    print(sizes)
    assert {kind: size for kind, size in sizes.items() if size > MAX_LENGTH} == {}
    with relay_app.store.writing() as connection:
        connection.execute(update(people).values(letter_settings='{"letters":"digest"}'))
    with relay_app.store.reading() as connection:
        own = (seats.c.table == mover.table, seats.c.seat == mover.seat)
        person = connection.execute(select(seats.c.person).where(*own)).scalar_one()
    day = personal_letters.write(
        relay_app, LetterRequest("", 0, 0, "digest/2027-01-15", "anna@example.org", "Anna", person=person)
    )
    assert day is not None
    assert sum(map(len, bodies(day))) < MAX_LENGTH


class ParsingPolicy(emails.WirePolicy):
    """Parses each header before it is written, as the standard library does."""

    def header_store_parse(self, name: str, value: object) -> tuple[str, object]:
        return EmailPolicy.header_store_parse(self, name, str(value).replace("=?", "= ?"))


@pytest.mark.parametrize("name", ["Anna", 'ü"\\,;: Bärbel', "=?utf-8?q?=0ABcc:xy?=", "Анна", "L" * 40, "Anna <xy>, y"])
def test_headers_that_are_stored_as_text_are_written_as_parsed_ones(name: str) -> None:
    written = []
    for policy in (emails.WirePolicy(cte_type="7bit"), ParsingPolicy(cte_type="7bit")):
        message = EmailMessage(policy)
        message["From"] = message["To"] = Address(name, addr_spec="anna@example.org")
        message["Subject"] = f"Kaiser: {name}, {name}, {name}, {name} [8c1]"
        message["References"] = " ".join(f"<{number}.{'x' * 60}@example.org>" for number in range(3))
        message["X-Depesche"] = "person"
        written.append(message.as_bytes())
    assert written[0] == written[1]


def test_no_header_has_a_second_line() -> None:
    with pytest.raises(ValueError, match="one line"):
        EmailMessage(emails.WirePolicy())["Subject"] = "Kaiser\nBcc: all@example.org"


def bodies(message: EmailMessage) -> list[str]:
    return [message.get_body((form,)).get_content() for form in ("plain", "html")]
