"""Real servers for benches, and settings without limits."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.settings import Settings
from tests import servers

NO_RELAY = "smtp://127.0.0.1:1"


def make_settings(folder: Path, database: str, redis: str, relay: str = NO_RELAY) -> Settings:
    """Make settings without limits on tables and invitations."""
    return Settings(
        folder,
        database,
        redis=redis,
        secret="a bench of moves",
        smtp=relay,
        confirm=False,
        opens_per_hour=1_000_000,
        invitations_per_day=1_000_000,
    )


@contextmanager
def start_servers(relay: str = NO_RELAY) -> Iterator[Settings]:
    """Start PostgreSQL with fsync, and Redis; yield settings that name them."""
    with (
        servers.postgres_server(durable=True) as database,
        servers.redis_server() as redis,
        tempfile.TemporaryDirectory() as folder,
    ):
        yield make_settings(Path(folder), database, redis, relay)
