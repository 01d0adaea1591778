"""Count the files of Depesche that a move, a mail, a reminder or a deadline runs through.

`python -m tests.way` prints for each how many files run, how often control changes from one file to another, and
between which two files it changes most often. `python -m tests.way move` prints each call from one file to another.
Workers are called as a wake-up of their queue calls them; the loop in which they wait for it is not counted.
"""

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from flask.testing import FlaskClient
from sqlalchemy import func, select

from service import create_app
from service.app import App
from service.settings import DAY_S
from service.store.schema import letters
from tests import apps
from workers import clock, referee
from workers.incoming import inbox, mail_moves
from workers.outgoing import emails, post

ROOT = Path(__file__).parents[1]
SOURCES = tuple(f"{ROOT}/{folder}/" for folder in ("engine", "service", "workers"))
IN_PLACE_OF_JINJA = (
    "Context.call",
    "install_sentences.",
    "_leave_as_it_is",
)  # in templates.py; Jinja's own are not counted either
ROUNDS = 5  # of each way; only the last one counts, when everything is loaded, and the words of mails are cached


class Way:
    """The files that a call runs through, in their order."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.files: list[str] = []
        self.calls: list[str] = []  # those from one file to another, indented by their depth
        self._open: list[tuple[str, int]] = []  # the files and depths of the functions that have not returned
        sys.setprofile(self._step)
        try:
            work()
        finally:
            sys.setprofile(None)

    def _step(self, frame: FrameType, event: str, _: Any) -> None:
        current = frame if event == "call" else frame.f_back if event == "return" else None
        if current and is_counted(current) and self.files[-1:] != [current.f_code.co_filename]:
            self.files.append(current.f_code.co_filename)
        if is_counted(frame):
            self._note(frame, event)

    def _note(self, frame: FrameType, event: str) -> None:
        """Note a call from one file to another; a generator is called for each value."""
        if event == "return":
            self._open.pop()
        elif event == "call":
            file = frame.f_code.co_filename
            caller, depth = self._open[-1] if self._open else ("", -1)
            if file != caller:
                depth += 1
                self.calls.append(f"{depth * '  '}{short_name(file)}:{frame.f_code.co_name}")
            self._open.append((file, depth))

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


def is_counted(frame: FrameType) -> bool:
    """Return whether a function is ours, and not one that a template calls in place of Jinja's own."""
    code = frame.f_code
    return code.co_filename.startswith(SOURCES) and not code.co_qualname.startswith(IN_PLACE_OF_JINJA)


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


def trace_move(app: App, _: apps.FakeTime) -> Way:
    """Trace a move from its request to the letter about it."""
    flask_app = create_app(app)
    client, places = flask_app.test_client(), apps.start_table(app)
    for number in range(ROUNDS):
        post.run()
        place, move = apps.find_move(app, places)
        form = {"move": move, "key": str(number)}

        way = Way(lambda: submit(app, client, place.link, form))  # noqa: B023 - called at once
    return way


def submit(app: App, client: FlaskClient, link: str, form: dict[str, str]) -> None:
    """Submit a move; the referee judges it while the page waits for the verdict."""
    wait = app.verdicts.wait

    def judge_and_wait(number: int, seconds: float) -> bytes | None:
        referee.run()
        return wait(number, seconds)

    with mock.patch.object(app.verdicts, "wait", judge_and_wait):
        client.post(f"/t/{link}", data=form)
    post.run()


def trace_mail(app: App, _: apps.FakeTime) -> Way:
    """Trace a mail with a move to its entry."""
    places = apps.start_table(app)
    for number in range(ROUNDS):
        place, move = apps.find_move(app, places)
        to = app.links.make_reply_address(app.settings, apps.load_table(app, place.table).seats[place.seat or 0])
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Message-ID"] = apps.load_address(app, place), to, f"<{number}@example.org>"
        mail.set_content(move)

        def work(raw: bytes = mail.as_bytes(), to: str = to) -> None:
            inbox.process_mail(app, raw, to, "somebody@example.org")
            mail_moves.run()

        way = Way(work)
    return way


def trace_reminder(app: App, now: apps.FakeTime) -> Way:
    """Trace one tick of the clock, at which one reminder is due, to its letter."""
    places = apps.start_table(app, pace=DAY_S)
    for _ in range(ROUNDS):
        place, move = apps.find_move(app, places)
        assert apps.submit(app, place, move).accepted
        post.run()
        now.advance(DAY_S * 4 // 5)  # a reminder is due after three quarters of the time

        way = Way(lambda: tick(app))
    assert count_letters(app, "reminder") == ROUNDS
    return way


def trace_deadline(app: App, now: apps.FakeTime) -> Way:
    """Trace one tick of the clock, at which a player is late and a bot moves for him, to the letters about it."""
    apps.start_table(app, pace=DAY_S)
    post.run()
    for _ in range(ROUNDS):
        now.advance(DAY_S + 1)

        way = Way(lambda: tick(app))
    assert count_letters(app, "timeout") == ROUNDS
    return way


def tick(app: App) -> None:
    clock.tick(app)
    post.run()


def count_letters(app: App, kind: str) -> int:
    sent = select(func.count()).where(letters.c.kind == kind, letters.c.sent_at.is_not(None))
    with app.store.reading() as connection:
        return connection.execute(sent).scalar_one()


@contextmanager
def run_app() -> Iterator[tuple[App, apps.FakeTime]]:
    """Run an application in a folder of its own, whose letters a mail server accepts at once."""
    post.WRITTEN_AT.clear()  # after many letters of other tests these would be written aside
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(emails, "connect", Relay):
        settings = apps.make_settings(Path(folder), sender="table@games.example", smtp="smtp://127.0.0.1:9")
        now = apps.FakeTime()
        with apps.run_app(settings, now) as app:
            app.relay = settings.smtp
            yield app, now


WAYS: dict[str, Callable[[App, apps.FakeTime], Way]] = {
    "move": trace_move,
    "mail": trace_mail,
    "reminder": trace_reminder,
    "deadline": trace_deadline,
}


def trace(name: str) -> Way:
    """Trace one of the ways in an application of its own."""
    with run_app() as (app, now):
        return WAYS[name](app, now)


def main(names: Sequence[str]) -> None:
    for name in names:
        print("\n".join(call for call, _ in itertools.groupby(trace(name).calls)))
    for name in () if names else WAYS:
        way = trace(name)
        print(f"{name}: {way}")
        for pair, count in way.busiest():
            print(f"  {count:4} {pair}")


if __name__ == "__main__":
    main(sys.argv[1:])
