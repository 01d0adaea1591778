"""The content of a letter and its order, for every game, as text and as HTML."""

from __future__ import annotations

import html
import json
import re
from email.message import EmailMessage
from random import Random
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from engine import bots, catalogue
from engine import table as tables
from service import create_app, timing
from service.app import App
from service.settings import DAY_S
from service.tables import access
from service.tables.access import Place
from service.tables.opening import Invitee
from service.text.languages import LANGUAGES, Translator, translate_in_game
from service.timing import Calendar
from tests import apps
from tests.workers.incoming.test_inbox import deliver, last_letter
from workers.outgoing import emails, table_letters
from workers.outgoing.letter import LetterRequest

every_game = pytest.mark.parametrize("game", catalogue.find_all())
MAX_LETTER_BYTES = 100_000


@pytest.fixture(autouse=True)
def skip_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emails, "render_png", lambda svg: b"a picture")


def open_table(app: App, game: str = "kaiser", **options: str) -> list[Place]:
    guests = [Invitee(name, f"{name.lower()}@example.org") for name in ("Anna", "Berta")]
    return [access.find(app, link) for link in apps.open_new(app, game, options, guests, 3 * DAY_S).links]


def play_until_choice(app: App, game: str = "kaiser") -> list[Place]:
    """A game where a seat is on turn again after another one has moved, with a choice; the one on turn comes first."""
    places = open_table(app, game)
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    moved: list[int | None] = []
    while True:
        mover, move = apps.find_move(app, places)
        table = apps.load_table(app, mover.table)
        choice = any(entry.count() > 1 for entry in tables.menu(table.game, table.position, mover.seat or 0))
        if choice and mover.seat in moved and moved[-1] != mover.seat:
            break
        assert apps.submit(app, mover, move).accepted
        moved.append(mover.seat)
    return sorted(places, key=lambda place: place.seat != mover.seat)


def write_letter(app: App, place: Place, kind: str, language: str = "en", calendar: str = "") -> EmailMessage:
    seat = apps.load_table(app, place.table).seats[place.seat or 0]
    since = seat.open_since or 0
    order = LetterRequest(place.table, since, seat.seat, kind, "guest@example.org", seat.name, language)
    letter = table_letters.write(app, replace(order, calendar=calendar))
    assert letter is not None
    return letter


def body(letter: EmailMessage, kind: str) -> str:
    part = letter.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def assert_order(text: str, *parts: str) -> None:
    text = re.sub('<div class="preview".*?</div>', "", text)
    places = [text.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)


@every_game
@pytest.mark.parametrize("kind", ["plain", "html"])
def test_a_turn_letter_says_things_in_the_order_in_which_they_matter(app: App, game: str, kind: str) -> None:
    place = play_until_choice(app, game)[0]
    table = apps.load_table(app, place.table)
    letter = write_letter(app, place, "turn")
    text = body(letter, kind)
    board = ["cid:"] if kind == "html" else []
    assert_order(
        text,
        "it is your turn",
        "You have time until Monday 18 January",
        "Your last move",
        "since your last move" if kind == "plain" else "Since your last move",
        *board,
        "Answer this letter with your move",
        "For instance:",
        f"{place.link}\n" if kind == "plain" else 'class="button',
        table.row.head,
        "You get this letter because",
    )
    plain_links = re.findall(rf"/t/{place.link}(?!\?say=)", text)
    assert len(plain_links) == (1 if kind == "plain" else 2)  # one button, and the picture; all others lay out a move
    assert len(text.encode()) < MAX_LETTER_BYTES


@every_game
@pytest.mark.parametrize("kind", ["plain", "html"])
def test_a_first_turn_letter_tells_how_it_began_and_leads_to_the_rules(app: App, game: str, kind: str) -> None:
    places = open_table(app, game)
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    text = body(write_letter(app, apps.find_move(app, places)[0], "turn"), kind)
    assert_order(text, "it is your turn", "How it began", "The game begins.", f"/rules/{game}", "Answer this letter")
    assert "sits down" not in text


@every_game
def test_without_pictures_a_letter_describes_the_position(app: App, game: str) -> None:
    place = play_until_choice(app, game)[0]
    shown = body(write_letter(app, place, "turn"), "html")
    alt = shown.split('alt="')[1].split('"')[0]
    assert len(alt.split()) > 5


@every_game
def test_an_example_is_a_move(app: App, game: str) -> None:
    place = play_until_choice(app, game)[0]
    text = body(write_letter(app, place, "turn"), "plain")
    example = text.split("For instance:")[1].replace("°", "").split()
    end = next(size for size in range(1, 6) if " ".join(example[:size]) in apps.list_moves(app, place))
    assert end


def test_a_deadline_is_in_the_readers_own_time(app: App) -> None:
    place = play_until_choice(app)[0]
    calendar = timing.dump_calendar(Calendar("America/New_York"))
    assert "until Monday 18 January, 03:00 (America/New York). 3 days left." in body(
        write_letter(app, place, "turn", calendar=calendar), "plain"
    )


@pytest.mark.parametrize("kind", ["plain", "html"])
def test_an_invitation_tells_what_one_is_invited_to(app: App, kind: str) -> None:
    text = " ".join(body(write_letter(app, open_table(app)[1], "invitation"), kind).split())
    assert_order(
        text,
        "Anna invites you to a game of Kaiser",
        " ".join(catalogue.find("kaiser").META.about.split()[:6]),
        "/rules/kaiser",
        "At the table: Anna and Berta.",
        "Time for a move: 3 days",
        "You need no account",
        "answer this letter with:",
        "join",
        "Receipt after 1 entry:",
    )


@pytest.mark.parametrize("kind", ["plain", "html"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_invitation_tells_of_what_the_table_has_and_of_nothing_else(app: App, language: str, kind: str) -> None:
    meta = catalogue.find("carcassonne").META

    def read_invitation(**options: str) -> str:
        places = open_table(app, "carcassonne", **options)
        return clean(html.unescape(body(write_letter(app, places[1], "invitation", language), kind)))

    def clean(text: str) -> str:
        return " ".join(text.split())

    usual, changed = read_invitation(), read_invitation(messages="off", tower="on", chains="may")
    about, scoring_figures, tower = (
        clean(translate_in_game(language, meta.name, text))
        for text in (meta.about, meta.about_options["messages"], "The Tower")
    )
    assert about in usual
    assert about in changed
    assert scoring_figures in usual
    assert scoring_figures not in changed
    assert clean(Translator(language).gettext("With: %(boxes)s", boxes=tower)) in changed
    assert tower not in usual


def test_an_invitation_calls_a_chair_for_anybody_a_free_seat(app: App) -> None:
    anybody, anna = Invitee("", who="anybody"), Invitee("Anna", "anna@example.org", "word")
    guests = [anna, Invitee("Berta", "berta@example.org"), anybody]
    links = apps.open_new(app, "kaiser", {}, guests, None).links
    letter = write_letter(app, access.find(app, links[1]), "invitation")
    assert "At the table: Anna, Berta and a free seat." in body(letter, "plain")
    assert ": Anna and Berta [" in letter["Subject"]


@pytest.mark.parametrize("language", ["en", "nl", "fr", "de"])
def test_who_answers_an_invitation_as_it_says_sits_down(app: App, language: str) -> None:
    place = open_table(app)[1]
    text = body(write_letter(app, place, "invitation", language), "plain")
    answer = next(line for line in text.splitlines() if line.startswith("  "))
    deliver(app, place, answer)
    assert apps.load_table(app, place.table).position.seats[1].status == "taken"


@pytest.mark.parametrize(("game", "explained"), [("kaiser", False), ("kurier", True)])
def test_the_last_letter_tells_places_and_points_and_what_they_count(app: App, game: str, explained: bool) -> None:
    places, random = play_until_choice(app, game), Random(1)
    loser, visitor = apps.find_waiting(app, places), create_app(app).test_client()
    counts = "The number tells how far the dispatch came: the villages count 1 to 4, a guard 5, the tsar 6."
    deliver(app, places[0], "status")
    texts = [visitor.get(f"/t/{places[0].link}").text, " ".join(body(last_letter(app, places[0]), "plain").split())]
    assert apps.submit(app, loser, "resign").accepted
    while (table := apps.load_table(app, loser.table)).position.phase != "over":
        seat = tables.find_seats_to_move(table.game, table.position)[0]
        move = bots.pick_random_move(tables.menu(table.game, table.position, seat), random)
        assert apps.submit(app, Place(loser.table, seat, ""), str(move)).accepted
    letter = write_letter(app, places[0], "over")
    text = body(letter, "plain")
    points = [own.score for own in table.game.standing(table.position.state)]
    for seat, name in enumerate(("Anna", "Berta")):
        assert f"{table.position.places[seat]}. {name}: {points[seat]}" in text
    assert table.row.seed.hex() in text
    texts += [" ".join(text.split()), body(letter, "html"), visitor.get(f"/t/{places[0].link}").text]
    assert [counts in one for one in texts] == [explained] * 5


@every_game
def test_each_move_is_a_link_that_lays_it_out_and_does_nothing(app: App, game: str) -> None:
    place = play_until_choice(app, game)[0]
    client, before = create_app(app).test_client(), apps.count_entries(app, place)
    links = re.findall(r'href="([^"]+[?]say=[^"]+)"', body(write_letter(app, place, "turn"), "html"))
    moves = apps.list_moves(app, place)
    assert len(links) > 1
    for address in links[:3]:
        address = html.unescape(address)
        prepared = parse_qs(urlsplit(address).query)["say"][0]
        assert prepared in moves or any(move.startswith(prepared) for move in moves)
        shown = client.get(address)
        assert shown.status_code == 200
        assert "This link is from an earlier letter" not in shown.text
        start = json.loads(re.search(r'id="menu">(.*?)</script>', shown.text)[1])["said"]
        assert " ".join(start) == prepared  # the stage begins with the move laid out
        if prepared in moves:
            assert f'name="move" value="{prepared}"' in shown.text  # and without a script one button does it
    assert apps.count_entries(app, place) == before


def test_a_link_of_an_earlier_turn_says_so_and_shows_what_can_be_done_now(app: App) -> None:
    place = play_until_choice(app)[0]
    address = html.unescape(re.search(r'href="([^"]+[?]say=[^"]+)"', body(write_letter(app, place, "turn"), "html"))[1])
    while apps.list_moves(app, place):
        assert apps.submit(app, place, apps.list_moves(app, place)[0]).accepted
    before = apps.count_entries(app, place)
    shown = create_app(app).test_client().get(address)
    assert shown.status_code == 200
    assert "This link is from an earlier letter, and the table has gone on since." in shown.text
    assert apps.count_entries(app, place) == before


def test_reminders_and_the_end_show_in_the_subject_and_turns_do_not(app: App) -> None:
    place = play_until_choice(app)[0]
    subjects = {kind: str(write_letter(app, place, kind, "de")["Subject"]) for kind in ("turn", "reminder", "over")}
    assert subjects["reminder"] == f"Erinnerung: {subjects['turn']}"
    assert subjects["over"] == f"Zu Ende: {subjects['turn']}"


def test_what_is_seen_before_opening_says_the_kind_and_the_deadline(app: App) -> None:
    text = body(write_letter(app, play_until_choice(app)[0], "reminder"), "html")
    shown = re.search(r'<div class="preview".*?>(.*?)</div>', text, re.DOTALL)[1]
    assert "the table is still waiting for your move" in shown
    assert "3 days left" in shown
    assert text.index(shown) < text.index("<h1")


def test_one_line_tells_what_else_may_be_written(app: App) -> None:
    text = body(write_letter(app, play_until_choice(app)[0], "turn"), "plain")
    (line,) = [line for line in text.splitlines() if line.startswith("At any time:")]
    assert {"help", "say …"} <= set(line.removeprefix("At any time: ").split(", "))


def test_outlook_for_windows_keeps_the_width_and_the_button(app: App) -> None:
    """Word draws its HTML: no max-width, no padding of a link; widths and colours of tables it knows."""
    text = body(write_letter(app, play_until_choice(app)[0], "turn"), "html")
    assert '<!--[if mso]><table role="presentation" width="640"' in text
    assert re.search(r'<td class="button" bgcolor="#1f5f46"[^>]*padding: 15px 26px', text)
    assert re.search(r'<img [^>]*width="590"', text)


def test_a_legend_says_whose_colour_and_shape_is_which(app: App) -> None:
    text = body(write_letter(app, play_until_choice(app)[0], "turn"), "html")
    for colour, shape, name in (("#0072b2", "●", "Anna"), ("#e69f00", "■", "Berta")):
        assert re.search(rf'style="color: {colour};?">{shape}</span>(&nbsp;|\xa0){name}', text)


def test_a_deadline_names_its_weekday_in_every_language(app: App) -> None:
    place = play_until_choice(app)[0]
    days = {"en": "Monday 18 January", "de": "Montag, 18. Januar", "fr": "lundi 18 janvier", "nl": "maandag 18 januari"}
    for language, day in days.items():
        assert day in body(write_letter(app, place, "turn", language), "plain")


def test_the_player_who_opened_a_table_is_not_invited_by_that_player(app: App) -> None:
    own, other = (" ".join(body(write_letter(app, place, "invitation"), "plain").split()) for place in open_table(app))
    assert "Anna, you have opened a table of Kaiser" in own
    assert "because you opened a table" in own
    assert "Anna invites you" in other
    assert "because Anna gave this address a seat" in other
