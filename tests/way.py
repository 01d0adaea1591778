"""The way of one move: how many files of ours it passes, and how often it changes from one to another.

`python -m tests.way` prints both, from the request to the letter and from a mail to its entry.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from flask.testing import FlaskClient

from service import create_app
from service.house import House
from service.tables import access, snapshots
from tests import houses
from workers import referee
from workers.incoming import inbox, mail_moves
from workers.outgoing import post

ROOT = Path(__file__).parents[1]
OURS = tuple(f"{ROOT}/{folder}/" for folder in ("engine", "service", "workers"))
WARM = 3  # the way is walked so often; the last one counts, when everything is loaded and cached


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
        here = frame if event == "call" else frame.f_back if event == "return" else None
        file = here.f_code.co_filename if here else ""
        if file.startswith(OURS) and self.files[-1:] != [file]:
            self.files.append(file)

    def __str__(self) -> str:
        return f"{len(set(self.files))} files, {len(self.files) - 1} changes of file"

    def busiest(self, most: int = 12) -> list[tuple[str, int]]:
        """The pairs of files between which it changes most often."""
        pairs = Counter(
            " <-> ".join(sorted(map(_short, pair))) for pair in zip(self.files, self.files[1:], strict=False)
        )
        return pairs.most_common(most)


def _short(file: str) -> str:
    return Path(file).relative_to(ROOT).as_posix()


class Relay:
    """A mail server that takes every letter."""

    def __init__(self, url: str) -> None: ...

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def of_a_move(here: House) -> Way:
    """From the request with a move to the letter that tells it."""
    app = create_app(here)
    app.config["WTF_CSRF_ENABLED"] = False
    client, places = app.test_client(), houses.seated(here)
    with mock.patch.object(post, "connect", Relay):
        for number in range(WARM):
            post.deliver()
            place, move = houses.on_turn(here, places)
            form = {"move": move, "key": str(number)}

            way = Way(lambda: _submit(client, place.link, form))  # noqa: B023 - called at once
    return way


def _submit(client: FlaskClient, link: str, form: dict[str, str]) -> None:
    client.post(f"/t/{link}", data=form)
    referee.hear()
    post.deliver()


def of_a_mail(here: House) -> Way:
    """From a mail with a move to its entry."""
    places = houses.seated(here)
    for number in range(WARM):
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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = houses.settings(Path(folder), sender="table@games.example", smtp="smtp://127.0.0.1:9")
        with houses.standing(settings, houses.Clock()) as here:
            here.relay = settings.smtp
            for what, way in (
                ("a move, from request to letter", of_a_move(here)),
                ("a mail, to its entry", of_a_mail(here)),
            ):
                print(f"{what}: {way}")
                for pair, count in way.busiest():
                    print(f"  {count:4} {pair}")


if __name__ == "__main__":
    main()
