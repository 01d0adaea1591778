"""Pages and letters know which seats have to move; it may not be the turn of any of them by the rules."""

from service.tables import access, snapshots
from service.web.table_view import make_scene
from tests.sites import Site


def test_the_scene_of_a_table_names_the_seats_with_an_open_turn(site: Site) -> None:
    opened = site.start_table("Anna", "Bruno", game="carcassonne")
    snapshot, mover = site.load(opened), site.find_mover(opened)
    assert snapshots.list_seats_to_move(snapshot) == (mover,)
    with site.flask_app.test_request_context():
        for link in opened.links:
            place = access.find(site.app, link)
            assert make_scene(place, snapshot).seats_to_move == (mover,)


def test_a_table_that_gathers_has_no_seat_to_move(site: Site) -> None:
    assert snapshots.list_seats_to_move(site.load(site.open_table("Anna", "Bruno"))) == ()
