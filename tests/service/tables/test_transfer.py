"""Transfer: tables leave a server on SQLite and are played on at another server on PostgreSQL."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from engine import audit
from service import create_app
from service.accounts import leaving
from service.app import App
from service.commands import transfer_commands as commands
from service.internet import beacon
from service.people.proof import ProvenPerson
from service.store.schema import letters, people, seats
from service.tables import access, talk, transfer
from service.tables.access import Place, TransferredAway, Unknown
from service.tables.history import replays
from service.tables.opening import Invitee
from service.web.api.routes import make_document
from tests import apps
from workers import bots, clock, referee
from workers.jobs import set_app

OLD, NEW = "https://old.example.org", "https://new.example.org"
GUESTS = [Invitee("Anna", "anna@example.org"), Invitee("Berta", "berta@example.org"), Invitee("Bot 1")]


@pytest.fixture
def old(tmp_path: Path, clock: apps.FakeTime) -> Iterator[App]:
    with apps.run_app(apps.make_settings(tmp_path / "old", address=OLD), clock) as app:
        yield app


@pytest.fixture
def new(tmp_path: Path, clock: apps.FakeTime, migrated_postgres_url: str) -> Iterator[App]:
    chosen = apps.make_settings(tmp_path / "new", migrated_postgres_url, secret="another house for tests", address=NEW)
    with apps.run_app(chosen, clock) as app:
        yield app


def start_table(app: App) -> list[Place]:
    set_app(app)
    made = apps.open_new(app, "kurier", {}, GUESTS)
    places = [access.find(app, link) for link in made.links if link]
    for place in places:
        assert apps.submit(app, place, "sit word").accepted
    return places


def play(app: App, places: list[Place], moves: int = 8) -> None:
    """Make so many moves, of people and bots."""
    set_app(app)
    for _ in range(moves):
        waits = [place for place in places if apps.list_moves(app, place)]
        if waits:
            assert apps.submit(app, waits[0], apps.list_moves(app, waits[0])[0]).accepted
        else:
            bots.run()
            referee.run()


def find_next_move(app: App, places: list[Place]) -> tuple[Place, str]:
    """Return a person who may act once the bot has moved, and a move."""
    while not any(apps.list_moves(app, place) for place in places):
        bots.run()
        referee.run()
    return apps.find_move(app, places)


def export(app: App, *names: str, to: str = NEW) -> bytes:
    with app.store.writing() as connection:
        return transfer.dump_file(transfer.export_tables(app, connection, names, to))


def import_file(app: App, raw: bytes) -> None:
    with app.store.writing() as connection:
        transfer.import_tables(app, connection, transfer.parse_file(raw))


def head(app: App, table: str) -> str:
    log = replays.Archive(app.store, app.links).export_whole(table)
    snapshot = apps.load_table(app, table)
    running = snapshot.position.phase != "over"
    assert audit.audit(snapshot.game, log, running=running, verify_signature=beacon.is_signed).finding is None
    return log.head


def new_links(app: App, table: str) -> list[Place]:
    with app.store.reading() as connection:
        rows = connection.execute(select(seats).where(seats.c.table == table).order_by(seats.c.seat)).all()
    return [access.find(app, access.make_seat_link(app, row)) for row in rows if row.person is not None]


def test_a_table_is_played_on_at_the_new_server_with_its_chain_intact(old, new):
    places = start_table(old)
    table = places[0].table
    play(old, places)
    apps.say(old, places[0], "See you there")
    before = head(old, table)
    import_file(new, export(old, table))
    assert head(new, table) == before
    there = new_links(new, table)
    length = apps.load_table(new, table).row.length
    play(new, there)
    assert apps.load_table(new, table).row.length > length
    head(new, table)
    with new.store.reading() as connection:
        (remark,) = talk.list_newest(connection, table)
    assert remark.text == "See you there"
    assert apps.load_table(new, table).row.last_remark == remark.id


def test_every_player_gets_the_new_link_by_letter_and_old_links_lead_there(old, new):
    places = start_table(old)
    import_file(new, export(old, places[0].table))
    with new.store.reading() as connection:
        owed = connection.execute(select(letters.c.seat).where(letters.c.kind == "rehoused")).scalars().all()
    assert sorted(owed) == [0, 1]
    for place, there in zip(places, new_links(new, places[0].table), strict=True):
        assert there.link != place.link
        assert access.find(new, place.link).seat == place.seat == there.seat
    watch = old.links.make_watch_token(places[0].table)
    assert access.find(new, watch).seat is None


def test_the_old_server_names_the_new_one_on_pages_and_to_programs(old, new):
    place = start_table(old)[0]
    export(old, place.table)
    client = create_app(old).test_client()
    page = client.get(f"/t/{place.link}")
    assert page.status_code == 410
    assert f'href="{NEW}/t/{place.link}"' in page.get_data(as_text=True)
    answer = client.get(f"/api/v1/t/{place.link}")
    assert (answer.status_code, answer.headers["Location"]) == (410, f"{NEW}/api/v1/t/{place.link}")
    assert NEW in answer.get_data(as_text=True)
    moved = client.post(f"/api/v1/t/{place.link}/moves", json={"move": "pass"})
    assert (moved.status_code, moved.headers["Location"]) == (410, f"{NEW}/api/v1/t/{place.link}/moves")


def test_every_operation_of_the_interface_says_where_the_table_lives_as_its_document_promises(old, new):
    place = start_table(old)[0]
    export(old, place.table)
    client = create_app(old).test_client()
    bodies = {"sit": {"nonce": "lantern"}, "moves": {"move": "pass"}}
    of_tables = {
        path: operations for path, operations in make_document()["paths"].items() if path.startswith("/t/{link}")
    }
    assert len(of_tables) > 7
    for path, operations in of_tables.items():
        address = path.format(link=place.link, seq=0, number=1)
        for method, operation in operations.items():
            assert "Location" in operation["responses"]["410"]["headers"], path
            body = bodies.get(address.rsplit("/", 1)[1]) if method == "post" else None
            answer = client.open(f"/api/v1{address}", method=method.upper(), json=body)
            assert (answer.status_code, answer.headers["Location"]) == (410, f"{NEW}/api/v1{address}"), path
            assert answer.json["refused"]


def test_the_old_server_plays_the_table_no_more(old, clock):
    """Earlier submissions are refused, no clock runs, no bot moves, no letter leaves."""
    places = start_table(old)
    place, move = find_next_move(old, places)
    from service.tables import submitting

    submission = submitting.submit(old, place, move)
    length = apps.load_table(old, place.table).row.length
    export(old, place.table)
    referee.run()
    verdict = apps.get_verdict(old, submission)
    assert not verdict.accepted
    assert NEW in verdict.text
    clock.advance(30 * 86_400)
    workers_tick(old)
    bots.run()
    referee.run()
    assert apps.load_table(old, place.table).row.length == length
    with old.store.reading() as connection:
        assert not connection.execute(select(letters).where(letters.c.sent_at.is_(None))).all()
    with pytest.raises(TransferredAway):
        access.find(old, place.link)


def workers_tick(app: App) -> None:
    clock.tick(app)


def test_the_time_of_the_transfer_counts_for_no_player(old, new, clock):
    places = start_table(old)
    find_next_move(old, places)
    due = [seat.due_at for seat in apps.load_table(old, places[0].table).seats]
    assert any(due)
    raw = export(old, places[0].table)
    clock.advance(5 * 86_400)
    import_file(new, raw)
    there = [seat.due_at for seat in apps.load_table(new, places[0].table).seats]
    assert there == [None if at is None else at + 5 * 86_400 for at in due]


def test_a_finished_table_moves_too(old, new):
    places = start_table(old)
    for place in places:
        assert apps.submit(old, place, "resign").accepted
        if apps.load_table(old, place.table).position.phase == "over":
            break
    table = places[0].table
    before = head(old, table)
    import_file(new, export(old, table))
    assert head(new, table) == before
    assert apps.load_table(new, table).row.phase == "over"


def test_all_tables_of_a_server_are_exported_at_once(old, new):
    tables = [start_table(old)[0].table for _ in range(3)]
    heads = [head(old, table) for table in tables]
    import_file(new, export(old, *tables))
    assert [head(new, table) for table in tables] == heads
    with new.store.reading() as connection:
        assert len(connection.execute(select(people)).all()) == 2


def test_a_table_that_is_there_already_is_refused_and_nothing_changes(old, new):
    first, second = start_table(old)[0].table, start_table(old)[0].table
    raw = export(old, first, second)
    file = transfer.parse_file(raw)
    one = msgspec.structs.replace(file, tables=file.tables[:1])
    import_file(new, transfer.dump_file(one))
    with pytest.raises(transfer.Refused, match="on this server already"):
        import_file(new, raw)
    there = {carried.log.table for carried in file.tables[:1]}
    assert set(replays.Archive(new.store, new.links).list_tables()) == there


@pytest.mark.parametrize("change", ["cut", "name", "address", "entry", "seed", "format"])
def test_a_file_that_was_altered_is_refused(old, change):
    raw = export(old, start_table(old)[0].table)
    plain = json.loads(raw)
    match change:
        case "cut":
            raw = raw[:-20]
        case "name":
            plain["tables"][0]["chairs"][0]["name"] = "Eve"
        case "address":
            plain["people"][0]["address"] = "eve@example.org"
        case "entry":
            plain["tables"][0]["log"]["entries"][2]["entry"]["at"] += 1
        case "seed":
            plain["tables"][0]["log"]["seed"] = "ab" * 32
        case "format":
            plain["format"] = "depesche-tables-2"
    with pytest.raises(transfer.Refused):
        transfer.parse_file(raw if change == "cut" else json.dumps(plain).encode())


def test_a_log_that_was_altered_with_its_check_is_refused_by_the_audit(old, new):
    file = transfer.parse_file(export(old, start_table(old)[0].table))
    (carried,) = file.tables
    first, *rest = carried.log.entries
    forged = msgspec.structs.replace(first, entry={**first.entry, "at": 7})
    log = msgspec.structs.replace(carried.log, entries=(forged, *rest))
    altered = msgspec.structs.replace(file, tables=(msgspec.structs.replace(carried, log=log),))
    with pytest.raises(transfer.Refused, match="digest"):
        import_file(new, transfer.dump_file(altered))


def test_a_file_for_another_server_is_refused(old, new):
    raw = export(old, start_table(old)[0].table, to="https://third.example.org")
    with pytest.raises(transfer.Refused, match="third"):
        import_file(new, raw)


def test_a_table_comes_back_and_the_links_of_both_servers_lead_there(old, new):
    places = start_table(old)
    table = places[0].table
    import_file(new, export(old, table))
    there = new_links(new, table)
    play(new, there)
    after = head(new, table)
    import_file(old, export(new, table, to=OLD))
    assert head(old, table) == after
    for place, away in zip(places, there, strict=True):
        assert access.find(old, place.link).seat == access.find(old, away.link).seat == place.seat
    with pytest.raises(TransferredAway):
        access.find(new, there[0].link)


def test_the_commands_write_a_file_for_its_owner_alone_and_read_it(old, new, tmp_path, monkeypatch, capsys):
    table = start_table(old)[0].table
    file = tmp_path / "tables.json"
    monkeypatch.setattr(commands, "_open_app", lambda: old)
    assert run("export-tables", str(file), table, "--to", NEW) == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "seeds and addresses" in capsys.readouterr().out
    monkeypatch.setattr(commands, "_open_app", lambda: new)
    assert run("import-tables", str(file), "--json") == 0
    (moved,) = json.loads(capsys.readouterr().out)["tables"]
    assert moved["head"] == head(new, table)


def test_where_the_file_cannot_be_written_no_table_is_exported(old, tmp_path, monkeypatch, capsys):
    place = start_table(old)[0]
    file = tmp_path / "tables.json"
    file.write_text("something else")
    monkeypatch.setattr(commands, "_open_app", lambda: old)
    assert run("export-tables", str(file), "--all", "--to", NEW) == 2
    assert "No table was exported" in capsys.readouterr().err
    assert access.find(old, place.link) == place
    assert run("export-tables", str(tmp_path / "other.json"), "--all", "--to", "nonsense") == 2
    assert access.find(old, place.link) == place


def run(*words: str) -> int:
    from service import cli

    return cli.main(words)


def test_a_new_link_ends_the_links_of_the_old_server_too(old, new):
    place = start_table(old)[0]
    import_file(new, export(old, place.table))
    there = apps.load_table(new, place.table).seats[0]
    apps.renew_link(new, there.person, place.table, 0)
    with pytest.raises(Unknown):
        access.find(new, place.link)


def test_erasing_a_person_at_the_old_server_leaves_the_game_at_the_new_one_alone(old, new):
    place = start_table(old)[0]
    raw = export(old, place.table)
    person = apps.load_table(old, place.table).seats[0].person
    leaving.delete_person(old, ProvenPerson(person), "anna@example.org")
    with old.store.reading() as connection:
        assert "anna@example.org" not in connection.execute(select(people.c.address)).scalars().all()
    import_file(new, raw)
    assert access.find(new, place.link).seat == 0
