"""A rolling upgrade over the newest migration: old and new processes work side by side, and nobody notices.

The old ones are of the commit before that migration, taken from the history of this very source.
"""

import subprocess
import tarfile
import time
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from redis import Redis

from engine import catalogue
from service.store import Store
from service.store.connect import MIGRATIONS
from tests.chaos import ledger, machines, processes
from tests.chaos.crowd import Crowd, Mails
from tests.conftest import or_skip
from tests.workers.test_survival import SETTINGS, accepted, up

ROOT = Path(__file__).parents[2]
WHILE = 12.0  # seconds that each stage lasts at least
EACH = 25  # moves that are accepted in each at least
TABLES = 4


def git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    if done.returncode or not done.stdout:
        pytest.skip(f"no history here: git {' '.join(words)}")
    return done.stdout


def before_the_newest_migration(folder: Path) -> tuple[Path, str]:
    """The source as it was before the newest migration, and the shape that it knew."""
    newest = ScriptDirectory(str(MIGRATIONS)).get_revision("head")
    assert newest
    assert isinstance(newest.down_revision, str)
    file = Path(newest.path).relative_to(ROOT).as_posix()
    made = git("log", "--format=%H", "--diff-filter=A", "--", file).decode().split()[-1]
    source, packed = folder / "before", folder / "before.tar"
    packed.write_bytes(git("archive", f"{made}~1"))
    with tarfile.open(packed) as archive:
        archive.extractall(source, filter="data")
    assert not (source / file).exists()
    return source, newest.down_revision


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_old_and_new_processes_share_a_house(tmp_path: Path) -> None:
    source, shape = before_the_newest_migration(tmp_path)
    ports = [processes.lasting_port(), processes.lasting_port()]
    mail_ports = [processes.lasting_port(), processes.lasting_port()]
    open_ports = ports[:1]
    with (
        or_skip(machines.durable_postgres) as postgres,
        or_skip(machines.mortal_redis) as (_, redis_url),
        machines.moody_relay() as relay,
        closing(Store(postgres.url)) as store,
        Redis.from_url(redis_url),
    ):
        words = {"database": postgres.url, "redis": redis_url, "smtp": f"smtp://{relay.hostname}:{relay.port}"}
        words |= {**SETTINGS, "sender": f"depesche@{ledger.HOST}"}
        parts = [_parts(port, mail_port) for port, mail_port in zip(ports, mail_ports, strict=True)]
        for name in ("old", "new"):
            (tmp_path / name).mkdir()
        crowd = Crowd(open_ports, tuple(catalogue.games()), Mails(mail_ports[1], relay, store, ledger.HOST))
        with processes.service(tmp_path / "old", parts[0], source, **words) as old:
            up(crowd)
            assert store.revision() == shape
            crowd.play(TABLES)
            stage(crowd, "the old version alone")
            with processes.service(tmp_path / "new", parts[1], **words) as new:
                up(Crowd(ports[1:], ()))
                assert store.is_current()
                open_ports.append(ports[1])
                stage(crowd, "both, over the new schema")
                open_ports.remove(ports[0])
                for process in old:
                    process.stop()
                stage(crowd, "the new version alone")
                crowd.leave()
                ledger.settle(store)
                ledger.check(store, crowd, [letter.id for letter in relay.taken], beside_older=True)
                ledger.check_own_logs([*old, *new])
        assert not crowd.errors, crowd.errors[:5]


def _parts(port: int, mail_port: int) -> list[list[str]]:
    web = ["web", "--workers", "1", "--threads", "8", "--bind", f"127.0.0.1:{port}"]
    return [web, ["worker"], ["clock"], ["inbound", "--bind", f"127.0.0.1:{mail_port}"]]


def stage(crowd: Crowd, name: str) -> None:
    """Let the crowd play for a while, and say how long it waited for verdicts."""
    began, before = time.monotonic(), accepted(crowd)
    while time.monotonic() < began + WHILE or accepted(crowd) < before + EACH:
        assert not crowd.errors, crowd.errors[:5]
        assert time.monotonic() < began + 2 * processes.PATIENCE, f"{name}: {accepted(crowd) - before} moves"
        time.sleep(0.2)
    waits = sorted(heard.told_at - heard.asked_at for heard in crowd.heard if heard.told_at >= began)
    print(f"{name}: {accepted(crowd) - before} moves; the longest wait for a verdict {waits[-1]:.1f} s")
