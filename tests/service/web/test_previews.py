"""Previews of links in chats: public pages show their board, and the link of a seat shows nothing."""

import io
import json
import re
from urllib.parse import quote, urlsplit

import pytest
from PIL import Image

from service.tables import access, seat_commands
from service.tables.opening import OpenedTable
from tests import apps
from tests.sites import Site, Visitor

SLACK = {"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}
DISCORD = {"User-Agent": "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"}
PROPERTY = re.compile(r'<meta property="og:([\w:]+)" content="([^"]*)">')


@pytest.fixture
def new_table(site: Site) -> OpenedTable:
    return site.start_table()


def read_preview(visitor: Visitor, path: str, headers: dict[str, str] = SLACK) -> dict[str, str]:
    response = visitor.client.get(path, headers=headers)
    assert response.status_code == 200, response.text
    return dict(PROPERTY.findall(response.text))


def load_picture(visitor: Visitor, site: Site, url: str) -> Image.Image:
    response = visitor.client.get(url.replace("&amp;", "&").removeprefix(site.app.settings.address))
    assert response.content_type == "image/png"
    return Image.open(io.BytesIO(response.data))


def test_a_table_to_watch_shows_its_board_and_whose_move_it_is(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    site.submit(new_table, site.list_moves(new_table)[0])
    preview = read_preview(visitor, f"/t/{site.app.links.make_watch_token(new_table.table)}")
    mover = site.load(new_table).names[site.find_mover(new_table)]
    assert (preview["title"], preview["description"]) == ("Kaiser, König, Edelmann: Anna, Bert", f"Waiting for {mover}")
    assert load_picture(visitor, site, preview["image"]).width == 760


def test_a_finished_game_says_who_won_and_a_replay_shows_its_position(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    before = site.load(new_table).row.length
    site.submit(new_table, "resign", 0)
    for link in new_table.links:
        apps.change(site.app, seat_commands.release, access.find(site.app, link), True)
    link = access.make_gallery_link(new_table.table)
    preview = read_preview(visitor, f"/t/{link}/replay?at={before - 1}")
    assert preview["description"] == "Bert wins"
    assert f"at={before - 1}" in preview["image"]
    assert load_picture(visitor, site, preview["image"]).width == 760


def test_a_lesson_shows_its_position(site: Site, visitor: Visitor) -> None:
    preview = read_preview(visitor, "/learn/kaiser/1")
    assert preview["title"] == "Learn Kaiser, König, Edelmann"
    assert preview["description"]
    assert load_picture(visitor, site, preview["image"]).width == 760


@pytest.mark.parametrize("agent", [SLACK, DISCORD], ids=["slack", "discord"])
@pytest.mark.parametrize("path", ["", "/replay", "/board.svg", "/then", "/log.json", "/whatif"])
def test_the_link_of_a_seat_previews_as_a_table_and_nothing_more(
    site: Site, visitor: Visitor, new_table: OpenedTable, path: str, agent: dict[str, str]
) -> None:
    link = new_table.links[0]
    preview = read_preview(visitor, f"/t/{link}{path}", agent)
    assert preview == {"site_name": "Depesche", "title": f"A table at {urlsplit(site.app.settings.address).netloc}"}
    page = visitor.client.get(f"/t/{link}{path}", headers=agent).text
    assert not [word for word in ("Anna", "Bert", '<svg viewBox="0 0 1000', "Your turn") if word in page]
    assert page.count(link) == page.count(f'name="back" value="/t/{link}{path}"')


def test_nor_does_the_page_of_a_seat_say_more_to_an_unknown_program(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    assert set(read_preview(visitor, f"/t/{new_table.links[0]}", {})) == {"site_name", "title"}
    visitor.get(f"/t/{new_table.links[0]}/board.png", 404)


def test_a_letters_link_to_the_settings_shows_a_crawler_nothing(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    with site.app.store.reading() as db:
        person = seat_commands.queries.list_seats(db, new_table.table)[0].person
    token = site.app.links.make_preferences_token(person or 0)
    assert "Anna" not in visitor.client.get(f"/wishes/{token}", headers=SLACK).text
    assert "radio" not in visitor.client.get(f"/wishes/{token}", headers=SLACK).text


def test_programs_embed_public_pages_and_learn_nothing_of_others(
    site: Site, visitor: Visitor, new_table: OpenedTable
) -> None:
    address, watch = site.app.settings.address, site.app.links.make_watch_token(new_table.table)
    for path in (f"/t/{watch}", f"/t/{watch}/replay?at=3", "/learn/kaiser/1"):
        embedded = json.loads(visitor.get(f"/oembed?url={quote(address + path, safe='')}"))
        picture = load_picture(visitor, site, embedded["url"])
        assert (embedded["version"], embedded["type"], embedded["width"], embedded["height"]) == (
            "1.0",
            "photo",
            *picture.size,
        )
    for url in (
        f"{address}/t/{new_table.links[0]}",
        "https://elsewhere.example/t/x",
        f"{address}/t/none",
        f"{address}/my",
        f"{address}//[/",
    ):
        visitor.get(f"/oembed?url={quote(url, safe='')}", 404)
    visitor.get(f"/oembed?format=xml&url={quote(f'{address}/t/{watch}', safe='')}", 404)


def test_a_table_without_spectators_has_no_preview(site: Site, visitor: Visitor, new_table: OpenedTable) -> None:
    apps.change(site.app, seat_commands.allow_spectators, access.find(site.app, new_table.links[0]), False)
    watch = site.app.links.make_watch_token(new_table.table)
    assert visitor.client.get(f"/t/{watch}", headers=SLACK).status_code == 404
    visitor.get(f"/t/{watch}/board.png", 404)
