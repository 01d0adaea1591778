"""Houses for tests: the real parts, with a clock that is moved by hand, and tables where people sit."""

import atexit
import functools
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import fakeredis

from engine import menu as menus
from engine import table as tables
from service.app import App
from service.settings import Settings
from service.store import Store
from service.store.queries import Verdict
from service.tables import access, opening, snapshots, submitting
from service.tables.access import Place
from service.tables.opening import Invited
from service.tables.submitting import Handed
from workers import referee
from workers.jobs import work_for

NOON = 1_800_000_000
NAMES = ("Anna", "Berta", "Clara", "Dora")


DOT = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==")


def dot(_: str) -> bytes:
    """A picture of one point, for letters whose board nobody looks at: to draw it takes longer than most tests."""
    return DOT


class Clock:
    """The time, moved by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> int:
        return self.at

    def move(self, seconds: int) -> None:
        self.at += seconds


def settings(folder: Path, database: str = "", **others: Any) -> Settings:
    """Settings without waiting: here a verdict is there at once or not at all."""
    words = {"secret": "a house for tests", "patience": 0.0, "thinking": 0.0, "gather": 0, "confirm": False}
    words |= {"opens_per_hour": 1_000_000, "invitations_per_day": 1_000_000, "moves_per_minute": 1_000_000}
    return Settings(folder=folder, database=database, **{**words, **others})


def lay(url: str) -> None:
    """Bring a database to today's shape."""
    with closing(Store(url)) as store:
        store.migrate()


@functools.cache
def template() -> Path:
    """A SQLite file in today's shape: a copy of it is made much faster than a new one."""
    made = Path(tempfile.mkdtemp(prefix="depesche-laid-")) / "template.sqlite"
    atexit.register(shutil.rmtree, made.parent, ignore_errors=True)
    lay(f"sqlite:///{made}")
    return made


def copied(url: str) -> bool:
    """Whether this is a SQLite file that was not there, and now is, in today's shape."""
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(template(), path)
    return True


def founded(chosen: Settings, now: Callable[[], int], redis: Any = None) -> App:
    """A house with its database made, and a Redis of its own inside this process unless it is given one."""
    made = copied(chosen.database_url)
    app = App(chosen, now, redis or fakeredis.FakeRedis(server=fakeredis.FakeServer()))
    if not made:
        app.open()
    return app


@contextmanager
def standing(chosen: Settings, now: Callable[[], int], redis: Any = None) -> Iterator[App]:
    """The same, whose jobs are those of this process."""
    app = founded(chosen, now, redis)
    try:
        work_for(app)
        yield app
    finally:
        app.close()


def opened(app: App, seats: int = 2, bots: int = 0, pace: int | None = None) -> list[Place]:
    """The places of a new table, where only bots sit so far."""
    people = [Invited(name, f"{name.lower()}@example.org") for name in NAMES[: seats - bots]]
    guests = [*people, *(Invited(f"Bot {number + 1}") for number in range(bots))]
    made = opening.open_table(app, "kaiser", {}, guests, pace)
    return [access.find(app, link) for link in made.links if link]


def seated(app: App, seats: int = 2, bots: int = 0, pace: int | None = None) -> list[Place]:
    """The places of a new table where everybody sits, so that the game has begun."""
    places = opened(app, seats, bots, pace)
    for place in places:
        assert judged(app, place, "sit word").accepted
    return places


def judged(app: App, place: Place, text: str, key: str = "", seen: int | None = None) -> Verdict:
    """What the referee says to this."""
    submission = submitting.submit(app, place, text, key, seen)
    referee.run()
    return verdict(app, submission)


def verdict(app: App, handed: Handed) -> Verdict:
    said = submitting.verdict(app, handed)
    assert said is not None
    return said


def length(app: App, place: Place) -> int:
    return int(snapshots.look(app, place.table).row.length)


def moves(app: App, place: Place) -> list[str]:
    """What this seat may do now."""
    look = snapshots.look(app, place.table)
    assert place.seat is not None
    return [str(move) for move in menus.moves(tables.menu(look.game, look.table, place.seat))]


def on_turn(app: App, places: list[Place]) -> tuple[Place, str]:
    """A place that may act, and a move it may make."""
    return next((place, found[0]) for place in places if (found := moves(app, place)))


def waiting(app: App, places: list[Place]) -> Place:
    """A place that has to wait."""
    return next(place for place in places if not moves(app, place))
