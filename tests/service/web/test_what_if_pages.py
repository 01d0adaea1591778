"""The pages of what if work by forms alone, describe every move, and show no secret."""

import re
from random import Random

import pytest
from msgspec.structs import replace

from engine import bots, catalogue, chance
from engine.game import Game
from service.tables import branches
from service.tables.access import Place
from tests import apps
from tests.sampling import one_of
from tests.service.tables.test_branches import every_game, find_newest, replay_states, start_table, wander
from tests.service.text.test_languages import assert_not_english
from tests.sites import PageChecker, Site, Visitor

DRAWING = re.compile(r'<figure.*?<div class="tray".*?</div>', re.DOTALL)


def start(site: Site, visitor: Visitor, name: str = "kaiser", moves: int = 8) -> tuple[list[Place], str]:
    """The places of a table in the middle of a game, and the page of a new branch of the first."""
    places = start_table(site.app, catalogue.find(name), moves)
    response = visitor.post(f"/t/{places[0].link}/whatif", at=find_newest(site.app, places[0]))
    assert response.status_code == 303
    return places, response.location


def number_of(path: str) -> int:
    return int(re.findall(r"/whatif/(\d+)", path)[0])


def make_random_moves(site: Site, visitor: Visitor, place: Place, path: str, moves: int) -> list[str]:
    """Make random moves by forms, and return the addresses of the pages that follow."""
    game, random, led = apps.load_table(site.app, place.table).game, Random(2), list[str]()
    for step in range(moves):
        state = replay_states(site.app, place, number_of(path))[-1]
        open_menus = [(seat, menu) for seat in range(len(game.standing(state))) if (menu := game.menu(state, seat))]
        if not open_menus:
            break
        seat, menu = random.choice(open_menus)
        sent = visitor.post(path, move=str(bots.pick_random_move(menu, random)), step=step, **{"as": seat})
        assert sent.status_code == 303, sent.text
        led.append(sent.location)
    return led


def drawing(page: str) -> str:
    return DRAWING.findall(page)[0]


@pytest.mark.parametrize(
    "game", one_of(catalogue.find_all().values(), catalogue.find("carcassonne")), ids=catalogue.find_all()
)
def test_twenty_moves_forward_and_back_show_the_same_positions(site: Site, visitor: Visitor, game: Game) -> None:
    places, path = start(site, visitor, game.META.name, 30)
    led = make_random_moves(site, visitor, places[0], path, 20)
    led = led[::3]  # a page of each third move tells enough
    forth = [visitor.get(address) for address in led]
    for page in forth:
        assert PageChecker(page).faults == []
        assert "nothing here is real" in page
    back = [visitor.get(address) for address in reversed(led)][::-1]
    assert list(map(drawing, back)) == list(map(drawing, forth))


@every_game
def test_the_page_does_not_depend_on_hidden_information(site: Site, visitor: Visitor, game: Game) -> None:
    places, path = start(site, visitor, game.META.name, 30)
    make_random_moves(site, visitor, places[0], path, 6)
    snapshot = apps.load_table(site.app, places[0].table)
    addresses = [f"{path}?step={step}" for step in range(0, 7, 3)]

    def pages() -> list[str]:
        return [visitor.get(address) for address in addresses]

    before = pages()
    for number_of_deal in range(3):
        other = snapshot.game.redeal(
            snapshot.position.state, places[0].seat, chance.make_sealed(bytes(32), number_of_deal)
        )
        site.app.caches.positions.put(snapshot.row.id, replace(snapshot.position, state=other))
        assert pages() == before


def test_the_table_and_the_replay_lead_to_it(site: Site, visitor: Visitor) -> None:
    place = start_table(site.app, catalogue.find("kaiser"), 6)[0]
    last = find_newest(site.app, place)
    assert f"/t/{place.link}/whatif" in visitor.get(f"/t/{place.link}")
    replay = visitor.get(f"/t/{place.link}/replay?at={last - 2}")
    assert f"/t/{place.link}/whatif?at={last - 2}" in replay
    page = visitor.get(f"/t/{place.link}/whatif?at={last - 2}")
    assert f"after entry {last - 2}" in page
    assert PageChecker(page).faults == []
    watching = site.app.links.make_watch_token(place.table)
    for path in ("", "/replay"):
        assert "/whatif" not in visitor.get(f"/t/{watching}{path}")


def test_looking_at_branches_changes_none(site: Site, visitor: Visitor) -> None:
    places, path = start(site, visitor)
    make_random_moves(site, visitor, places[0], path, 3)
    before = apps.run_query(site.app, branches.list_branches, places[0])
    for address in (
        path,
        f"{path}?step=1&as=1&say=move",
        f"{path}?step=99&as=x&dealt=2",
        f"/t/{places[0].link}/whatif",
    ):
        visitor.get(address)
    for deed in ("cut", "fork", "deal", "name", "delete", "orders", "forget"):
        visitor.get(f"{path}/{deed}", 405)
    assert apps.run_query(site.app, branches.list_branches, places[0]) == before


def test_words_lead_to_a_move_without_a_script(site: Site, visitor: Visitor) -> None:
    _, path = start(site, visitor)
    page = visitor.get(path)
    further = re.findall(r'href="([^"]+say=[^"]+)"', page)
    if further:
        page = visitor.get(further[0].replace("&amp;", "&"))
    move = re.findall(r'name="move" value="(move [^"]+)"', page)[0]
    seat = re.findall(r'name="as" value="(\d)"', page)[0]
    sent = visitor.post(path, move=move, step=0, **{"as": seat})
    assert (sent.status_code, sent.location) == (303, f"{path}?step=1")


def test_where_several_may_move_one_chooses_for_whom(site: Site, visitor: Visitor) -> None:
    place = start_table(site.app, catalogue.find("turfmaster"), 0, simultaneous_cards="on")[0]
    snapshot, number = (
        apps.load_table(site.app, place.table),
        apps.change_with_app(site.app, branches.begin, place, find_newest(site.app, place)),
    )
    waiting: list[int] = []
    while len(waiting) < 2:
        assert wander(site.app, place, number, 1)
        state = replay_states(site.app, place, number)[-1]
        waiting = [seat for seat in range(len(snapshot.seats)) if snapshot.game.menu(state, seat)]
    path = f"/t/{place.link}/whatif/{number}"
    assert "For whom do you play?" in visitor.get(path)
    shown = {seat: visitor.get(f"{path}?as={seat}") for seat in waiting}
    assert len(set(map(drawing, shown.values()))) == len(waiting)
    assert all(f'name="as" value="{seat}"' in page for seat, page in shown.items())


def test_the_page_says_why_a_move_is_impossible(site: Site, visitor: Visitor) -> None:
    _, path = start(site, visitor)
    sent = visitor.post(path, move="fly moon", step=0, **{"as": 0})
    assert sent.status_code == 422
    assert "Not possible." in sent.text
    assert "nothing here is real" in sent.text
    assert PageChecker(sent.text).faults == []


def test_moves_are_taken_back_and_copied(site: Site, visitor: Visitor) -> None:
    places, path = start(site, visitor)
    make_random_moves(site, visitor, places[0], path, 4)
    assert visitor.post(f"{path}/cut", step=3).status_code == 303
    copied = visitor.post(f"{path}/fork", step=2).location
    assert copied != path
    lengths = {one.id: len(one.moves) for one in apps.run_query(site.app, branches.list_branches, places[0])}
    assert lengths == {number_of(path): 3, number_of(copied): 2}
    assert visitor.post(f"{copied}/name", name="Over the river").status_code == 303
    assert "Over the river" in visitor.get(path)
    visitor.post(f"{copied}/delete")
    assert "no such branch" in visitor.get(copied, 404)


def test_a_new_deal_says_which_moves_no_longer_fit(site: Site, visitor: Visitor) -> None:
    places, path = start(site, visitor, "carcassonne")
    make_random_moves(site, visitor, places[0], path, 20)
    dealt = visitor.post(f"{path}/deal").location
    lost = int(dealt.partition("dealt=")[2])
    assert lost > 1
    page = visitor.get(dealt)
    assert "dealt again" in page
    assert f"The last {lost} moves no longer fitted" in page


def test_orders_made_from_a_branch_are_shown_at_the_table(site: Site, visitor: Visitor) -> None:
    places, path = start(site, visitor)
    waiter = apps.find_waiting(site.app, places)
    path = visitor.post(f"/t/{waiter.link}/whatif", at=find_newest(site.app, waiter)).location
    make_random_moves(site, visitor, waiter, path, 2)
    theirs, mine = apps.run_query(site.app, branches.find, waiter, number_of(path)).moves
    response = visitor.post(f"{path}/orders")
    assert response.location == f"/t/{waiter.link}#plan"
    page = visitor.get(f"/t/{waiter.link}")
    assert PageChecker(page).faults == []
    name = apps.load_table(site.app, waiter.table).names[theirs[0]]
    assert f"if {name} plays “{theirs[1]}”," in page
    assert f"<code>{mine[1]}</code>" in page
    assert "This branch has standing orders" in visitor.get(path)
    other = next(place for place in places if place != waiter)
    assert mine[1] not in visitor.get(f"/t/{other.link}/whatif")
    assert "As long as the game goes" not in visitor.get(f"/t/{other.link}")
    visitor.post(f"{path}/forget")
    assert "As long as the game goes" not in visitor.get(f"/t/{waiter.link}")


@pytest.mark.parametrize("name", ["kurier", "turfmaster"])
def test_orders_may_wait_for_a_move_that_is_partly_hidden(site: Site, visitor: Visitor, name: str) -> None:
    places, _ = start(site, visitor, name)
    waiter = apps.find_waiting(site.app, places)
    path = visitor.post(f"/t/{waiter.link}/whatif", at=find_newest(site.app, waiter)).location
    make_random_moves(site, visitor, waiter, path, 24)
    assert visitor.post(f"{path}/orders").location == f"/t/{waiter.link}#plan"
    assert "after a move of " in visitor.get(f"/t/{waiter.link}")


def test_a_branch_is_found_by_its_own_link_alone(site: Site, visitor: Visitor) -> None:
    places, path = start(site, visitor)
    foreign = path.replace(places[0].link, places[1].link)
    visitor.get(foreign, 404)
    for deed in ("", "/cut", "/fork", "/deal", "/name", "/delete", "/orders"):
        assert visitor.post(foreign + deed, move="move A1 A2", step=0).status_code == 404, deed
    watching = site.app.links.make_watch_token(places[0].table)
    assert "only players" in visitor.get(f"/t/{watching}/whatif", 422)
    assert "only players" in visitor.post(f"/t/{watching}/whatif", at=9).text
    assert len(apps.run_query(site.app, branches.list_branches, places[0])) == 1


@pytest.mark.parametrize("language", ["nl", "fr", "de"])
def test_the_pages_are_in_every_language(site: Site, visitor: Visitor, language: str) -> None:
    places, _ = start(site, visitor)
    waiter = apps.find_waiting(site.app, places)
    path = visitor.post(f"/t/{waiter.link}/whatif", at=find_newest(site.app, waiter)).location
    make_random_moves(site, visitor, waiter, path, 2)
    visitor.post(f"{path}/orders")
    visitor.client.set_cookie("language", language)
    refused = visitor.post(path, move="fly moon", step=0, **{"as": 0}).text
    pages = [refused, *map(visitor.get, (f"{path}?step=1&dealt=2", f"/t/{waiter.link}/whatif", f"/t/{waiter.link}"))]
    for page in pages:
        assert_not_english(page.partition("<main")[2].partition("</main>")[0], language)
