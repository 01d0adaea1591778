"""Where the benches measure: real servers, and a house that limits nobody."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.settings import Settings
from tests import servers

NOWHERE = "smtp://127.0.0.1:1"


def unlimited(folder: Path, database: str, redis: str, relay: str = NOWHERE) -> Settings:
    """A house where anybody opens as many tables as he likes."""
    limits = {"confirm": False, "opens_per_hour": 1_000_000, "invitations_per_day": 1_000_000}
    return Settings(folder, database, redis=redis, secret="a bench of moves", smtp=relay, **limits)


@contextmanager
def stand(relay: str = NOWHERE) -> Iterator[Settings]:
    """PostgreSQL that waits for its disk, and Redis."""
    with (
        servers.postgres_server(durable=True) as database,
        servers.redis_server() as redis,
        tempfile.TemporaryDirectory() as folder,
    ):
        yield unlimited(Path(folder), database, redis, relay)
