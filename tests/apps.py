"""Apps for tests, made of the real parts, with a time that is advanced by hand; and tables in them."""

import atexit
import functools
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import fakeredis

from engine import menu as menus
from engine import table as tables
from engine.log import Entry
from engine.record import Table
from service.accounts import addresses, preferences, signing_in
from service.app import App
from service.people import proof, register
from service.people.proof import ProvenPerson
from service.settings import Settings
from service.store import Store, queries
from service.store.batch import Verdict
from service.tables import access, branch_orders, hints, judging, opening, snapshots, standing_orders, submitting, talk
from service.tables.access import Place
from service.tables.branch_orders import OrdersOfBranch
from service.tables.opening import Invitee, NewTable, OpenedTable
from service.tables.snapshots import Snapshot
from service.tables.submitting import StoredSubmission
from service.text.languages import SOURCE
from service.timing import Calendar, Clock
from service.wakeups import JOBS_OF_QUEUES
from workers import clock as timekeeping
from workers import referee
from workers.clock import DueWork
from workers.jobs import set_app

T = TypeVar("T")
NOON = 1_800_000_000
NAMES = ("Anna", "Berta", "Clara", "Dora")

DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==")


def draw_dot(_: str) -> bytes:
    """Return a picture of one point, for letters whose board is not tested: to draw it takes longer than most tests."""
    return DOT


class FakeTime:
    """The current time of an app, advanced by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> int:
        return self.at

    def advance(self, seconds: int) -> None:
        self.at += seconds


def make_settings(folder: Path, database: str = "", **others: Any) -> Settings:
    """Make settings without limits or waiting: a verdict is there at once, or the test has none."""
    # The mails in workers/incoming/replies have addresses that are derived from this secret.
    given = {"secret": "a house for tests", "verdict_wait": 0.0, "thinking": 0.0, "gather": 0, "confirm": False}
    given |= {"opens_per_hour": 1_000_000, "invitations_per_day": 1_000_000, "moves_per_minute": 1_000_000}
    return Settings(folder=folder, database=database, **{**given, **others})


def migrate(url: str) -> None:
    """Create the tables of a database."""
    with closing(Store(url)) as store:
        store.migrate()


@functools.cache
def make_template() -> Path:
    """Make a migrated SQLite file once; to copy it is much faster than to migrate again."""
    file = Path(tempfile.mkdtemp(prefix="depesche-template-")) / "template.sqlite"
    atexit.register(shutil.rmtree, file.parent, ignore_errors=True)
    migrate(f"sqlite:///{file}")
    return file


def copy_template(url: str) -> bool:
    """Create a migrated SQLite file; return False if the database is another one or exists already."""
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(make_template(), path)
    return True


def make_app(settings: Settings, now: Callable[[], int], redis: Any = None) -> App:
    """Make an app with a migrated database, and with a fake Redis unless one is given."""
    copied = copy_template(settings.database_url)
    app = App(settings, now, redis or fakeredis.FakeRedis(server=fakeredis.FakeServer()))
    if not copied:
        app.open()
    return app


@contextmanager
def run_app(settings: Settings, now: Callable[[], int], redis: Any = None) -> Iterator[App]:
    """Make an app and use it for the jobs of this process, until the block ends."""
    app = make_app(settings, now, redis)
    try:
        set_app(app)
        yield app
    finally:
        app.close()


def open_new(
    app: App,
    game: str,
    options: Mapping[str, Any],
    guests: Sequence[Invitee],
    clock: Clock | int | None = None,
    language: str = SOURCE,
    **others: Any,
) -> OpenedTable:
    """Open a table; a number as its clock is so many seconds for a move."""
    made = opening.make_clock(app, clock)
    return opening.open_table(
        app, NewTable(game=game, chosen=options, guests=guests, clock=made, language=language, **others)
    )


def confirm_all(app: App, token: str) -> list[str]:
    """Answer yes for each table that waits for the proof of an address; return the links of these seats."""
    with app.store.reading() as db:
        person, _ = addresses.find_claimed_person(app, db, token)
    return confirm_seats(app, person)


def confirm_seats(app: App, person: ProvenPerson) -> list[str]:
    """Answer yes for each seat that was taken with the address of this person; return the links of these seats."""
    with app.store.reading() as db:
        claims = proof.list_claims(db, person.id)
    return [addresses.confirm_seat(app, person, claim.table, claim.seat).link for claim in claims]


def renew_link(app: App, person: int | None, table: str, seat: int) -> None:
    """Give a seat of this person a new link."""
    with app.store.writing() as db:
        signing_in.renew_link(app, db, ProvenPerson(person or 0), table, seat)


def owe_confirm_letter(app: App, person: int) -> None:
    """Insert a letter that asks to confirm the address of a person; its link is good for a month."""
    with app.store.writing() as db:
        queries.owe_personal_letter(db, person, "confirm/", app.now())


def open_table(app: App, seats: int = 2, bots: int = 0, pace: int | None = None) -> list[Place]:
    """Open a table where only bots sit so far; return the places of its people."""
    people = [Invitee(name, f"{name.lower()}@example.org") for name in NAMES[: seats - bots]]
    guests = [*people, *(Invitee(f"Bot {number + 1}") for number in range(bots))]
    opened = open_new(app, "kaiser", {}, guests, pace)
    return [access.find(app, link) for link in opened.links if link]


def start_table(app: App, seats: int = 2, bots: int = 0, pace: int | None = None) -> list[Place]:
    """Open a table and let everybody sit down, so that the game starts; return the places of its people."""
    places = open_table(app, seats, bots, pace)
    for place in places:
        assert submit(app, place, "sit word").accepted
    return places


def submit(app: App, place: Place, text: str, key: str = "", seen: int | None = None) -> Verdict:
    """Submit a command, let the referee judge it, and return the verdict."""
    submission = submitting.submit(app, place, text, key, seen)
    referee.run()
    return get_verdict(app, submission)


def get_verdict(app: App, submission: StoredSubmission) -> Verdict:
    verdict = submitting.wait_for_verdict(app, submission)
    assert verdict is not None
    return verdict


def count_entries(app: App, place: Place) -> int:
    return int(load_table(app, place.table).row.length)


def list_moves(app: App, place: Place) -> list[str]:
    """Return the moves that this seat may make now."""
    snapshot = load_table(app, place.table)
    assert place.seat is not None
    return [str(move) for move in menus.iter_moves(tables.menu(snapshot.game, snapshot.position, place.seat))]


def find_move(app: App, places: list[Place]) -> tuple[Place, str]:
    """Return a place that may act now, and one of its moves."""
    return next((place, moves[0]) for place in places if (moves := list_moves(app, place)))


def find_waiting(app: App, places: list[Place]) -> Place:
    """Return a place that may not act now."""
    return next(place for place in places if not list_moves(app, place))


def load(app: App, query: Callable[..., T], *words: Any) -> T:
    """Run a query in a transaction of its own, like `run_query`, for a query that takes the app too."""
    with app.store.reading() as db:
        return query(app, db, *words)


def find_due(app: App) -> DueWork:
    """Find the work that is due at the clock's next tick."""
    return load(app, timekeeping.find_due)


def list_woken(app: App) -> set[str]:
    """The queues whose workers are asked to look for work."""
    return {queue for queue in JOBS_OF_QUEUES if app.redis.llen(f"wakeup:{queue}")}


def load_address(app: App, place: Place) -> str:
    """Load the e-mail address of the player in this seat; empty if there is none."""
    with app.store.reading() as db:
        person = queries.list_seats(db, place.table)[place.seat or 0].person
        return "" if person is None else register.find_address(db, person)


def load_table(app: App, name: str) -> Snapshot:
    """Load a table in a transaction of its own."""
    return load(app, snapshots.load_table, name)


def load_entries(app: App, table: Snapshot, first: int = 0, end: int | None = None) -> list[Entry[Any]]:
    """Load entries of a table in a transaction of its own."""
    return run_query(app, snapshots.load_entries, table, first, end)


def load_past(app: App, table: Snapshot, seq: int) -> Table:
    """Load the table as it was after entry `seq`, in a transaction of its own."""
    return load(app, snapshots.load_past, table, seq)


def load_receipt(app: App, table: Snapshot, seq: int) -> str:
    """Load the hash of the chain after entry `seq`, in a transaction of its own."""
    return run_query(app, snapshots.load_receipt, table, seq)


def list_orders(app: App, place: Place) -> list[Any]:
    """Return the standing orders of a seat; a spectator has none."""
    return run_query(app, standing_orders.list_orders, place.table, place.seat) if place.seat is not None else []


def run_query(app: App, query: Callable[..., T], *words: Any) -> T:
    """Run a query in a transaction of its own."""
    with app.store.reading() as db:
        return query(db, *words)


def change(app: App, deed: Callable[..., T], *words: Any) -> T:
    """Call a function that changes the database, in a transaction."""
    with app.store.writing() as db:
        return deed(db, *words)


def change_with_app(app: App, deed: Callable[..., T], *words: Any) -> T:
    """Call a function that needs the app to change the database, in a transaction."""
    with app.store.writing() as db:
        return deed(app, db, *words)


def order_branch(app: App, place: Place, number: int, *, always: bool = False) -> int:
    """Order the own moves of a branch; return how many they are."""
    with judging.at_table(app, place.table) as work:
        work.locked, count = branch_orders.order_branch(work.locked, place, number, always=always)
    return count


def move_order(app: App, place: Place, order: int, number: int) -> None:
    """Move an order to another branch."""
    with judging.at_table(app, place.table) as work:
        work.locked = branch_orders.move_order(work.locked, place, order, number)


def delete_branch_orders(app: App, place: Place, number: int) -> None:
    """Delete the orders of a branch."""
    with judging.at_table(app, place.table) as work:
        work.locked = standing_orders.delete_branch_orders(work.locked, access.require_seat(place), number)


def say(app: App, place: Place, text: str) -> None:
    """Say something at a table, as its page does."""
    change(app, talk.say, place, text, app.now())
    app.wakeups.announce(place.table, topic="talk")


def ask_hint(app: App, place: Place) -> int:
    """Ask for a hint, as the page of a table does; return its number."""
    number = change(app, lambda db: hints.ask(app, db, place))
    app.wakeups.wake("bots")
    return number


def list_branch_orders(app: App, place: Place) -> list[OrdersOfBranch]:
    """Return the orders of a seat that come from branches."""
    return run_query(app, branch_orders.list_orders, place, list_orders(app, place))


def change_calendar(app: App, person: ProvenPerson, calendar: Calendar) -> None:
    """Store a person's calendar, and recompute the deadlines of all tables."""
    with app.store.writing() as db:
        running = preferences.change_calendar(db, person, calendar)
    preferences.restart_deadlines(app, running)
