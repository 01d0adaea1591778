"""Every form of every address that the settings accept works in every process; a process that cannot start says why."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from engine.refusal import Refused
from service.app import App
from service.settings import URL_SETTINGS, check_settings
from service.web import wire
from tests import apps
from workers import processes, residents
from workers.incoming import mailbox_polling
from workers.outgoing import emails

FORMS = [(name, scheme) for name, (schemes, _) in URL_SETTINGS.items() for scheme in schemes]
CLOSED_PORT = "127.0.0.1:1"


def make_address(name: str, scheme: str, folder: Path) -> str:
    match scheme:
        case "sqlite":
            return f"sqlite:///{folder}/depesche.db"
        case "unix":
            return f"unix://user:password@{folder}/redis.sock?db=1"
    return f"{scheme}://user:password@{CLOSED_PORT}/{'INBOX' if name == 'imap' else '0'}"


@pytest.mark.parametrize(("name", "scheme"), FORMS)
def test_an_address_of_every_form_opens_pages_and_workers(tmp_path: Path, name: str, scheme: str) -> None:
    chosen = {name: make_address(name, scheme, tmp_path)}
    if name == "replica":
        chosen["database"] = f"postgresql://user:password@{CLOSED_PORT}/depesche"
    if name == "address":
        chosen = {"address": f"{scheme}://games.example.org"}
    app = App(check_settings(apps.make_settings(tmp_path, **chosen)))
    try:
        wire(app)
        with suppress(redis.ConnectionError):
            processes.ProcessWorker(["post"], **processes.make_worker_options(app))
        if name == "smtp":
            with pytest.raises(OSError, match="refused"):
                emails.connect(app.settings.smtp)
        if name == "imap":
            with pytest.raises(OSError, match="refused"), mailbox_polling.open_mailbox(app.settings):
                pass
    finally:
        app.close()


@pytest.fixture
def socket_url(redis_url: str) -> str:
    """The same Redis by the socket that it has in the file system."""
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        return f"unix://{client.config_get('unixsocket')['unixsocket']}?db=0"


def test_pages_and_workers_use_a_redis_by_its_socket(
    tmp_path: Path, socket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with apps.run_app(apps.make_settings(tmp_path, redis=socket_url, moves_per_minute=1), apps.FakeTime()) as app:
        client = wire(app).test_client()
        place, _ = apps.find_move(app, apps.start_table(app))
        codes = [client.post(f"/api/v1/t/{place.link}/moves", json={"move": "x"}).status_code for _ in range(3)]
        assert codes[-1] == 429
        app.wakeups.wake("post")
        app.wakeups.start_job("post")
        processes.set_app(app)
        monkeypatch.setattr(residents, "STAY_S", 0.0)
        worker = processes.ProcessWorker(["post"], **processes.make_worker_options(app))
        worker.work(max_jobs=1, logging_level="WARNING")
        assert not app.redis.llen("wakeup:post")


def test_a_process_that_cannot_start_ends_them_all_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(processes, "TICK_S", 0.05)

    def prepare(name: str) -> processes.Prepare:
        raise ValueError(f"{name} has no address")

    with pytest.raises(Refused, match="web 1 cannot start; the reason is in the lines above"):
        processes.run_each(["web 1"], prepare)
