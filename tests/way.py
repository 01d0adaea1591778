"""Count the files of ours that run for a move, a mail, a reminder or a deadline, and how often control changes files.

`python -m tests.way` prints both numbers, and the pairs of files between which control changes most often.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from flask.testing import FlaskClient
from sqlalchemy import func, select

from service import create_app
from service.house import House
from service.settings import DAY
from service.store.schema import letters
from service.tables import access, snapshots
from tests import houses
from workers import clock, referee
from workers.incoming import inbox, mail_moves
from workers.outgoing import post

ROOT = Path(__file__).parents[1]
OURS = tuple(f"{ROOT}/{folder}/" for folder in ("engine", "service", "workers"))
ROUNDS = 3  # of each way; only the last one counts, when everything is loaded and cached


class Way:
    """The files that a call runs through, in their order."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.files: list[str] = []
        sys.setprofile(self._step)
        try:
            work()
        finally:
            sys.setprofile(None)

    def _step(self, frame: FrameType, event: str, _: Any) -> None:
        current = frame if event == "call" else frame.f_back if event == "return" else None
        file = current.f_code.co_filename if current else ""
        if file.startswith(OURS) and self.files[-1:] != [file]:
            self.files.append(file)

    @property
    def file_count(self) -> int:
        return len(set(self.files))

    @property
    def change_count(self) -> int:
        return len(self.files) - 1

    def __str__(self) -> str:
        return f"{self.file_count} files, {self.change_count} changes of file"

    def busiest(self, most: int = 12) -> list[tuple[str, int]]:
        """Return the pairs of files between which control changes most often, with their counts."""
        pairs = Counter(
            " <-> ".join(sorted(map(short_name, pair))) for pair in zip(self.files, self.files[1:], strict=False)
        )
        return pairs.most_common(most)


def short_name(file: str) -> str:
    return Path(file).relative_to(ROOT).as_posix()


class Relay:
    """A mail server that accepts every letter."""

    def __init__(self, url: str) -> None: ...

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def trace_move(here: House, _: houses.Clock) -> Way:
    """Trace a move from its request to the letter about it."""
    app = create_app(here)
    app.config["WTF_CSRF_ENABLED"] = False
    client, places = app.test_client(), houses.seated(here)
    for number in range(ROUNDS):
        post.deliver()
        place, move = houses.on_turn(here, places)
        form = {"move": move, "key": str(number)}

        way = Way(lambda: submit(client, place.link, form))  # noqa: B023 - called at once
    return way


def submit(client: FlaskClient, link: str, form: dict[str, str]) -> None:
    client.post(f"/t/{link}", data=form)
    referee.hear()
    post.deliver()


def trace_mail(here: House, _: houses.Clock) -> Way:
    """Trace a mail with a move to its entry."""
    places = houses.seated(here)
    for number in range(ROUNDS):
        place, move = houses.on_turn(here, places)
        to = access.address_of(here, snapshots.look(here, place.table).seats[place.seat or 0])
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Message-ID"] = access.owner(here, place), to, f"<{number}@example.org>"
        mail.set_content(move)

        def work(raw: bytes = mail.as_bytes(), to: str = to) -> None:
            inbox.take(here, raw, to, "somebody@example.org")
            mail_moves.hear()

        way = Way(work)
    return way


def trace_reminder(here: House, now: houses.Clock) -> Way:
    """Trace one tick of the clock, at which one reminder is due, to its letter."""
    places = houses.seated(here, pace=DAY)
    for _ in range(ROUNDS):
        place, move = houses.on_turn(here, places)
        assert houses.judged(here, place, move).accepted
        post.deliver()
        now.move(DAY * 4 // 5)  # a reminder is due after three quarters of the time

        way = Way(lambda: tick(here))
    assert count_letters(here, "reminder") == ROUNDS
    return way


def trace_deadline(here: House, now: houses.Clock) -> Way:
    """Trace one tick of the clock, at which a player is late and a bot moves for him, to the letters about it."""
    houses.seated(here, pace=DAY)
    post.deliver()
    for _ in range(ROUNDS):
        now.move(DAY + 1)

        way = Way(lambda: tick(here))
    assert count_letters(here, "timeout") == ROUNDS
    return way


def tick(here: House) -> None:
    clock.tick(here)
    post.deliver()


def count_letters(here: House, kind: str) -> int:
    sent = select(func.count()).where(letters.c.kind == kind, letters.c.sent_at.is_not(None))
    with here.store.reading() as connection:
        return connection.execute(sent).scalar_one()


@contextmanager
def run_app() -> Iterator[tuple[House, houses.Clock]]:
    """Run an application in a folder of its own, whose letters a mail server accepts at once."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(post, "connect", Relay):
        settings = houses.settings(Path(folder), sender="table@games.example", smtp="smtp://127.0.0.1:9")
        now = houses.Clock()
        with houses.standing(settings, now) as here:
            here.relay = settings.smtp
            yield here, now


WAYS: dict[str, Callable[[House, houses.Clock], Way]] = {
    "move": trace_move,
    "mail": trace_mail,
    "reminder": trace_reminder,
    "deadline": trace_deadline,
}


def trace(name: str) -> Way:
    """Trace one of the ways in an application of its own."""
    with run_app() as (here, now):
        return WAYS[name](here, now)


def main() -> None:
    for name in WAYS:
        way = trace(name)
        print(f"{name}: {way}")
        for pair, count in way.busiest():
            print(f"  {count:4} {pair}")


if __name__ == "__main__":
    main()
