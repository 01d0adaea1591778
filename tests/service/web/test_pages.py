"""Every page as a visitor gets it, without a browser: what it shows, and what it says to every bad input."""

import html
import json
import re
import time
from pathlib import Path

import pytest
from itsdangerous import TimestampSigner

from engine import catalogue
from service import create_app
from service.app import read_clock
from service.settings import Settings
from service.tables import access, submitting
from service.tables.opening import Invitee, OpenedTable
from service.text.templates import TEMPLATES
from tests import apps
from tests.sites import NAMES, ROWS, PageChecker, Site, Visitor
from workers import referee

# What pages show


def test_every_address_in_a_template_has_a_route(site: Site) -> None:
    named = {
        (path.name, endpoint)
        for path in TEMPLATES.rglob("*.html")
        for endpoint in re.findall(r"url_for\('([\w.]+)'[,)]", path.read_text("utf-8"))
    }
    assert {(name, endpoint) for name, endpoint in named if endpoint not in site.flask_app.view_functions} == set()


def test_the_lobby_shows_every_game_with_designer_and_publisher(visitor: Visitor) -> None:
    page = visitor.get("/")
    for game in catalogue.find_all().values():
        for word in (game.META.title, game.META.designer, game.META.publisher, f"/new/{game.META.name}"):
            assert html.escape(word) in page


@pytest.mark.parametrize("name", catalogue.find_all())
def test_every_game_has_a_picture_and_a_form_with_its_options(visitor: Visitor, name: str) -> None:
    assert "<svg" in visitor.get(f"/picture/{name}.svg")
    page = visitor.get(f"/new/{name}")
    for option in catalogue.find(name).META.options.__struct_fields__:
        assert f'name="option.{option}"' in page


def test_one_form_opens_a_table_and_leads_to_the_first_seat(site: Site, visitor: Visitor) -> None:
    response = visitor.post("/new/kaiser", **ROWS, pace="7", option__rounds="3", asked__eliminated_score="1")
    assert response.status_code == 303
    page = visitor.get(response.location)
    assert "You have sat down" in page
    snapshot = site.load(OpenedTable(access.find(site.app, response.location.rsplit("/", 1)[1]).table, (), ""))
    assert [seat.status for seat in snapshot.seats[:2]] == ["taken", "invited"]
    assert snapshot.row.pace == 7 * 86_400
    assert snapshot.position.options["rounds"] == 3
    assert snapshot.position.options["eliminated_score"] is False


def test_everybody_sits_down_and_the_game_begins(site: Site, visitor: Visitor) -> None:
    opened = site.open_table()
    for link in opened.links:
        response = visitor.post(f"/t/{link}/sit", nonce="a word of mine")
        page = visitor.get(response.location)
    assert "<svg" in page
    assert "Accepted." in page
    assert site.load(opened).position.seats[0].nonce == "a-word-of-mine"


def test_sitting_down_twice_is_the_same_as_once(site: Site, visitor: Visitor) -> None:
    opened = site.open_table()
    places = [visitor.post(f"/t/{opened.links[0]}/sit", nonce="word").location for _ in range(2)]
    assert places[0] == places[1]


def test_the_player_on_turn_sees_his_menu_and_the_other_waits(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    turn = site.find_mover(opened)
    mine, other = visitor.get(f"/t/{opened.links[turn]}"), visitor.get(f"/t/{opened.links[1 - turn]}")
    assert "It is your turn" in mine
    assert 'id="menu"' in mine
    assert f"Waiting for {NAMES[turn]}" in other
    assert 'id="menu"' not in other


def test_a_spectator_sees_the_table_and_no_form(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    page = visitor.get(f"/t/{opened.watch}")
    assert "<svg" in page
    assert set(re.findall(r'<form[^>]+action="([^"]+)"', page)) == {"/language", "/look"}


def test_links_lead_token_by_token_to_a_move_without_a_script(site: Site, visitor: Visitor) -> None:
    opened = site.start_table("Anna", "Bert", "Clara", "Dora")
    link = opened.links[site.find_mover(opened)]
    page = visitor.get(f"/t/{link}")
    step = re.search(r'href="(/t/[^"]+\?say=[^"]+)"', page)
    if step:  # if only a few moves are possible, the page lists all of them
        page = visitor.get(step[1])
    button = re.search(r'name="move" value="(move [^"]+)"', page)
    assert button
    assert "Accepted." in visitor.submit(link, button[1])


def test_a_move_is_accepted_and_described(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link = opened.links[site.find_mover(opened)]
    page = visitor.submit(link, site.list_moves(opened)[0], seen=site.load(opened).row.length - 1)
    assert "Accepted." in page
    assert "moves a" in page


def test_what_happened_since_my_last_move_comes_before_what_can_be_done(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    for _ in range(2):
        site.submit(opened, site.list_moves(opened)[0])
    page = visitor.get(f"/t/{opened.links[site.find_mover(opened)]}")
    assert page.index("Since your last move") < page.index("What you can do")


def test_a_player_reads_what_the_game_is_about_before_the_first_move(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    above = visitor.get(f"/t/{opened.links[site.find_mover(opened)]}").partition("What you can do")[0]
    assert "Lead your emperor to the centre" in above
    assert 'href="/rules/kaiser"' in above
    assert "has the first move" in above
    assert "sits down" not in above


def test_a_table_of_bots_has_no_form_for_talk(site: Site, visitor: Visitor) -> None:
    alone = apps.open_new(site.app, "kaiser", {}, [Invitee("Anna", nonce="word", who="person"), Invitee("Bot")], 0)
    assert "Table talk" not in visitor.get(f"/t/{alone.links[0]}")
    assert "Table talk" in visitor.get(f"/t/{site.start_table().links[0]}")


def test_who_is_invited_reads_what_to(site: Site, visitor: Visitor) -> None:
    page = visitor.get(f"/t/{site.open_table().links[1]}")
    assert page.index("Lead your emperor to the centre") < page.index("Sit down")
    assert 'href="/rules/kaiser"' in page


def test_the_form_remembers_the_settings_of_the_last_table_and_no_address(visitor: Visitor) -> None:
    assert "Usual rules, sealed dice, anyone with the link can watch, no hints." in visitor.get("/new/kaiser")
    fields = {"pace": "7", "hints": "on", "asked__watched": "1", "option__rounds": "3", "luck": "public"}
    cookie = visitor.post("/new/kaiser", **ROWS, **fields).headers["Set-Cookie"]
    assert "example.org" not in cookie
    again, other = visitor.get("/new/kaiser"), visitor.get("/new/carcassonne")
    assert "One rule changed, dice from a public beacon, no spectators, hints." in again
    assert "Usual rules, dice from a public beacon, no spectators, hints." in other
    assert all('value="7" checked' in page for page in (again, other))


def test_only_a_verdict_still_to_come_refreshes_the_page(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link = opened.links[site.find_mover(opened)]
    move = site.list_moves(opened)[0]
    site.judging = False
    response = visitor.post(f"/t/{link}", move=move)
    assert 'http-equiv="refresh"' in visitor.get(response.location)
    assert "being checked" in visitor.get(response.location)
    referee.run()
    assert 'http-equiv="refresh"' not in visitor.get(response.location)
    assert "Accepted." in visitor.get(response.location)


def test_who_is_invited_reads_only_about_what_the_table_has(site: Site, visitor: Visitor) -> None:
    scoring_figures = "You have two scoring figures"
    assert scoring_figures in visitor.get(f"/t/{site.open_table(game='carcassonne').links[1]}")
    page = visitor.get(f"/t/{site.open_table(game='carcassonne', messages='off').links[1]}")
    assert "Lay the land tile by tile" in page
    assert scoring_figures not in page


def test_a_verdict_gives_way_to_the_answer_of_the_others(site: Site, visitor: Visitor) -> None:
    """The page of the next turn tells what has happened since, not that an earlier move was accepted."""
    opened = site.start_table()
    link = opened.links[site.find_mover(opened)]
    response = visitor.post(f"/t/{link}", move=site.list_moves(opened)[0])
    assert "Accepted." in visitor.get(response.location)
    site.submit(opened, site.list_moves(opened)[0])
    page = visitor.get(response.location)
    assert "Accepted." not in page
    assert "Since your last move" in page


def test_only_the_own_seat_sees_a_verdict(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    turn = site.find_mover(opened)
    response = visitor.post(f"/t/{opened.links[turn]}", move="move nowhere")
    number = response.location.rsplit("=", 1)[1]
    assert "Not possible." in visitor.get(response.location)
    assert "Not possible." not in visitor.get(f"/t/{opened.links[1 - turn]}?said={number}")


def test_taking_back_needs_consent_and_both_see_the_question(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    first = site.find_mover(opened)
    site.submit(opened, site.list_moves(opened)[0])
    site.submit(opened, site.list_moves(opened)[0])
    page = visitor.submit(opened.links[first], "undo")
    assert "You would like to take your move back" in page
    other = visitor.get(f"/t/{opened.links[1 - first]}")
    assert "would like to take the last move back" in other
    assert 'value="agree"' in other
    visitor.submit(opened.links[1 - first], "agree")
    assert site.find_mover(opened) == first


def test_resigning_is_behind_a_second_button_and_ends_the_game(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    page = visitor.get(f"/t/{opened.links[0]}")
    assert page.index('<details class="resign">') < page.index('value="resign"')
    visitor.submit(opened.links[0], "resign")
    assert "You win!" in visitor.get(f"/t/{opened.links[1]}")


def test_replay_steps_through_every_position(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    for _ in range(3):
        site.submit(opened, site.list_moves(opened)[0])
    path = f"/t/{opened.links[0]}/replay"
    boards = {visitor.get(f"{path}?at={at}").split("<figure")[1].split("</figure>")[0] for at in range(3, 7)}
    last = site.load(opened).row.length - 1
    assert len(boards) == 4
    for text in ("", "?at=0", "?at=99999", "?at=-1", "?at=x", "?at=١"):
        assert 'type="range"' in visitor.get(path + text)
    assert f'value="{last}"' in visitor.get(path)


def test_after_the_end_replay_shows_what_any_seat_saw(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    path = f"/t/{opened.links[0]}/replay"
    assert 'name="as"' not in visitor.get(path)
    site.submit(opened, "resign", 0)
    assert 'name="as"' in visitor.get(path)
    assert '<option value="1" selected>' in visitor.get(f"{path}?as=1")


def test_the_log_can_be_downloaded(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    log = json.loads(visitor.get(f"/t/{opened.links[0]}/log.json"))
    assert log["head"] == site.load(opened).row.head


def test_the_pulse_says_how_far_the_table_is_and_nothing_when_unchanged(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    path = f"/t/{opened.links[0]}/pulse"
    first = visitor.client.get(path)
    assert first.json == {"length": site.load(opened).row.length, "head": site.load(opened).row.head, "talk": 0}
    again = visitor.client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    site.submit(opened, site.list_moves(opened)[0])
    assert visitor.client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_the_mailbox_shows_every_letter_with_its_picture(site: Site, visitor: Visitor) -> None:
    assert "No letters yet." in visitor.get("/mailbox")
    site.start_table()
    site.store_letters()
    page = visitor.get("/mailbox")
    assert "anna@example.org" in page
    numbers = re.findall(r'href="/mailbox/(\d+)"', page)
    assert len(numbers) == 3  # two invitations, and a letter to the first player
    for number in numbers:
        assert "<iframe" in visitor.get(f"/mailbox/{number}")
    body = visitor.client.get(f"/mailbox/{numbers[0]}/body")
    assert "script-src" not in body.headers["Content-Security-Policy"]
    picture = re.search(r'src="(/mailbox/\d+/picture/[^"]+)"', body.text)
    assert picture
    assert visitor.client.get(picture[1]).data.startswith(b"\x89PNG")


# What pages say to bad input


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"players": "Bert"}, "add an e-mail address for “Bert”"),
        ({"players": "bert@"}, "add an e-mail address for “bert@”"),
        ({"players": "Bert <bert@exa_mple>"}, "“bert@exa_mple” is not an e-mail address"),
        ({"address": "anna@example.org\r\nBcc: x@example.org"}, "is not an e-mail address"),
        ({"name": "", "address": ""}, "give every player a name"),
        ({"players": "Be\x00rt <bert@example.org>"}, "no control characters"),
        ({"players": "Be\u202ert <bert@example.org>"}, "no control characters"),
        ({"players": "B" * 41 + " <bert@example.org>"}, "at most 40 letters"),
        ({"players": "anna <bert@example.org>"}, "Two players have the same name"),
        ({"players": " ,\n"}, "Who plays with you?"),
        ({"players": "bot, bot, bot, bot"}, "is played by 2, 3, 4 players, not by 5"),
        ({"address": ""}, "Without an e-mail address you can play against bots only"),
        ({"option__rounds": "99"}, "“rounds” can be 1 to 12"),
        ({"option__corners": "round"}, "“corners” can be adjacent / opposite"),
    ],
)
def test_the_form_says_what_is_wrong_and_keeps_what_was_typed(
    visitor: Visitor, changed: dict[str, str], sentence: str
) -> None:
    response = visitor.post("/new/kaiser", **{**ROWS, "option__last_emperor": "must_enter", **changed})
    assert response.status_code == 422
    assert sentence in response.text
    assert changed.get("players", "bert@example.org") in html.unescape(response.text)
    assert 'value="must_enter" checked' in response.text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/t/nosuchlink", "This link leads nowhere"),
        ("/t/nosuchlink/replay", "This link leads nowhere"),
        ("/t/nosuchlink/pulse", "This link leads nowhere"),
        ("/t/nosuchlink/log.json", "This link leads nowhere"),
        ("/new/nosuchgame", "There is no game"),
        ("/picture/nosuchgame.svg", "There is no game"),
        ("/mailbox/17", "There is nothing at this address"),
        ("/mailbox/17/body", "There is nothing at this address"),
        ("/nowhere", "There is nothing at this address"),
    ],
)
def test_unknown_addresses(visitor: Visitor, path: str, sentence: str) -> None:
    assert sentence in visitor.get(path, 404)


def test_looking_never_acts(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    assert "only for looking at" in visitor.get(f"/t/{opened.links[0]}/sit", 405)
    before = site.load(opened).row.length
    visitor.get(f"/t/{opened.links[site.find_mover(opened)]}?move={site.list_moves(opened)[0]}")
    assert site.load(opened).row.length == before


def refuse_move(site: Site, visitor: Visitor, opened: OpenedTable, seat: int, move: str, **fields: object) -> str:
    """The sentence to a refused move; nothing has changed."""
    before = site.load(opened).row.head
    page = visitor.submit(opened.links[seat], move, **fields)
    assert site.load(opened).row.head == before
    match = re.search(r'<div class="note bad" role="alert"><p>(.*?)</p>', page)
    assert match, page
    return match[1]


def test_a_move_off_the_menu(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    assert "is not one of your moves" in refuse_move(site, visitor, opened, site.find_mover(opened), "castle A1 A2")


def test_a_move_out_of_turn(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    sentence = refuse_move(site, visitor, opened, 1 - site.find_mover(opened), site.list_moves(opened)[0])
    assert "is not one of your moves" in sentence or "not your turn" in sentence


def test_a_move_from_a_stale_page(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    seen = site.load(opened).row.length - 1
    for _ in range(2):
        site.submit(opened, site.list_moves(opened)[0])
    sentence = refuse_move(site, visitor, opened, site.find_mover(opened), site.list_moves(opened)[0], seen=seen)
    assert "The table has changed" in sentence


def test_a_move_when_the_game_is_over(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    site.submit(opened, "resign", 0)
    assert "The game is over" in refuse_move(site, visitor, opened, 1, "move A1 A2")


def test_a_move_before_the_game_has_begun(site: Site, visitor: Visitor) -> None:
    opened = site.open_table()
    assert "has not begun yet" in refuse_move(site, visitor, opened, 0, "move A1 A2")
    assert "has not begun" in visitor.get(f"/t/{opened.links[0]}/replay", 422)


def test_a_doubled_form_gets_the_same_verdict_and_moves_once(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link, move = opened.links[site.find_mover(opened)], site.list_moves(opened)[0]
    before = site.load(opened).row.length
    first, second = (visitor.post(f"/t/{link}", move=move, key="abc", seen=before - 1) for _ in range(2))
    assert first.location == second.location
    assert "Accepted." in visitor.get(second.location)
    assert site.load(opened).row.length == before + 1


def test_another_move_from_the_same_page_is_another_submission(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    link, move = opened.links[site.find_mover(opened)], site.list_moves(opened)[0]
    assert "Not possible." in visitor.submit(link, "move nowhere", key="abc")
    assert "Accepted." in visitor.submit(link, move, key="abc")


@pytest.mark.parametrize("move", ["", "   ", "move \x00", "move \x1b[2J", "move \u202eA1"])
def test_empty_moves_and_control_characters(site: Site, visitor: Visitor, move: str) -> None:
    opened = site.start_table()
    response = visitor.post(f"/t/{opened.links[0]}", move=move)
    assert response.status_code == 422
    assert "plain words" in response.text


def test_a_copied_move_may_have_no_break_spaces_and_tabs(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    copied = site.list_moves(opened)[0].replace(" ", "\u00a0", 1).replace(" ", "\t", 1)
    assert "Accepted." in visitor.submit(opened.links[site.find_mover(opened)], copied)


def test_a_move_too_long_and_a_megabyte_of_garbage(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    long = visitor.post(f"/t/{opened.links[0]}", move="x" * 3_000)
    assert (long.status_code, "a few words" in long.text) == (422, True)
    huge = visitor.post(f"/t/{opened.links[0]}", move="x" * 1_000_000)
    assert (huge.status_code, "far too much text" in huge.text) == (413, True)


@pytest.mark.parametrize(
    ("ahead", "is_signed_in"), [(3_600, True), (0, True), (-91 * 86_400, False)], ids=["set back", "right", "too old"]
)
def test_a_visitor_stays_signed_in_also_when_the_clock_was_set_back_since(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch, ahead: int, is_signed_in: bool
) -> None:
    person, now = site.load(site.start_table()).seats[0].person, time.time
    with monkeypatch.context() as then:
        then.setattr(TimestampSigner, "get_timestamp", lambda signer: int(now()) + ahead)
        visitor.post(f"/enter/{site.app.links.make_sign_in_token(person, 0, site.time)}")
    assert (visitor.client.get("/my").status_code == 200) == is_signed_in


def test_a_command_that_is_refused_again_and_again_costs_the_same_each_time(
    site: Site, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, stored, submit = site.start_table(), list[str](), submitting.submit
    monkeypatch.setattr(submitting, "submit", lambda *words: stored.append(words[3]) or submit(*words))
    for _ in range(6):
        visitor.post(f"/t/{opened.links[0]}", move="move Z99 Z98", key="one page")
    assert len(stored) == 2 * 6 - 1
    assert len(set(stored)) == 6


def test_a_refused_command_sent_again_from_the_same_page_is_judged_again(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    form = {"key": "of-this-page", "move": "agree"}
    before = [visitor.post(f"/t/{opened.links[0]}", **form).location for _ in range(2)]
    site.submit(opened, "pause", 1)
    after = [visitor.post(f"/t/{opened.links[0]}", **form).location for _ in range(2)]
    assert site.load(opened).position.paused
    assert after[0] == after[1]
    assert len({*before, *after}) == 3


def test_a_spectator_cannot_move(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    response = visitor.post(f"/t/{opened.watch}", move=site.list_moves(opened)[0])
    assert (response.status_code, "looking on" in response.text) == (422, True)


def test_the_number_of_new_tables_is_limited(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path, opens_per_hour=2)
    app = apps.make_app(settings, read_clock)
    visitor = Visitor(create_app(app).test_client())
    statuses = [visitor.post("/new/kaiser", **ROWS).status_code for _ in range(3)]
    app.close()
    assert statuses == [303, 303, 429]


def test_a_server_with_a_relay_has_no_mailbox(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path, smtp="smtp://127.0.0.1:1")
    app = apps.make_app(settings, read_clock)
    visitor = Visitor(create_app(app).test_client())
    visitor.get("/mailbox", 404)
    assert "/mailbox" not in visitor.get("/")
    app.close()


# What every page keeps to


def every_page(site: Site) -> list[str]:
    gathering, playing, over = site.open_table(), site.start_table(), site.start_table()
    site.submit(playing, site.list_moves(playing)[0])
    site.submit(playing, site.list_moves(playing)[0])
    site.submit(playing, "undo", site.find_mover(playing))
    site.submit(over, "resign", 0)
    site.store_letters()
    tables = [
        f"/t/{link}{tail}" for one in (playing, over) for link in (*one.links, one.watch) for tail in ("", "/replay")
    ]
    games = [f"/{form}/{name}" for name in catalogue.find_all() for form in ("new", "play")]
    free = apps.open_new(site.app, "kaiser", {}, [Invitee("Anna", "anna@example.org"), Invitee("", who="anybody")])
    apps.owe_confirm_letter(site.app, 1)
    return [
        "/",
        *games,
        f"/join/{free.join}",
        f"/t/{free.links[0]}",
        f"/confirm/{site.app.links.make_confirm_token(1, 'anna@example.org')}",
        "/enter",
        f"/enter/{site.app.links.make_sign_in_token(1, 0, site.time)}",
        *(f"/t/{link}" for link in (*gathering.links, gathering.watch)),
        *tables,
        "/mailbox",
        "/mailbox/1",
    ]


def test_no_page_has_anything_inline_and_every_field_has_its_label(site: Site, visitor: Visitor) -> None:
    for path in every_page(site):
        assert PageChecker(visitor.get(path)).faults == [], path
    assert PageChecker(visitor.get("/nowhere", 404)).faults == []


def test_every_page_has_its_headers(site: Site, visitor: Visitor) -> None:
    for path in [*every_page(site), "/nowhere"]:
        headers = visitor.client.get(path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cache-Control"] in ("no-store", "private, no-cache")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_every_page_is_light_and_names_the_service(site: Site, visitor: Visitor) -> None:
    for path in every_page(site):
        page = visitor.get(path)
        assert len(page.encode()) < 100_000, path
        assert "not affiliated with the publishers" in page
        assert "<h1>" in page


def test_a_player_has_an_avatar_of_the_seat_s_form_and_colour_with_the_initial(site: Site, visitor: Visitor) -> None:
    page = visitor.get(f"/t/{site.open_table('Anna', 'bert').links[0]}")
    avatars = re.findall(r'(?s)<svg class="avatar".*?fill="(#\w+)".*?<(circle|rect|path|polygon).*?>(\w?)</text>', page)
    assert [initial for *_, initial in avatars] == ["A", "B"]
    assert len({(colour, form) for colour, form, _ in avatars}) == 2
