"""Logs tell what went wrong, and no secret."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.sites import Site
from workers import referee, residents
from workers.commands import run
from workers.jobs import set_app


@pytest.fixture(params=["plain", "json"])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    before = structlog.get_config()
    run.configure_logs(request.param)
    yield request.param
    structlog.configure(**before)


@pytest.mark.usefixtures("form")
def test_a_logged_fault_shows_no_values_of_variables(capsys: pytest.CaptureFixture[str]) -> None:
    def deal(seed: str) -> None:
        raise ZeroDivisionError(f"{len(seed)} letters")

    seed = secrets.token_hex(13)
    try:
        deal(seed)
    except ZeroDivisionError:
        structlog.get_logger().exception("not judged", table="t1")
    output = capsys.readouterr().out
    assert "ZeroDivisionError: 26 letters" in output
    assert "not judged" in output
    assert seed not in output


def test_no_line_names_an_address_or_a_password(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = structlog.get_logger()
    log.warning("refused", letter=7, error="{'anna.b+c@example.org': (550, b'no such user <anna.b+c@example.org>')}")
    try:
        raise OSError("postgresql://depesche:geheim@db/depesche is down")
    except OSError as error:
        log.warning("down", error=str(error))
    output = capsys.readouterr().out
    assert "anna" not in output
    assert "geheim" not in output
    assert "…@example.org" in output


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Site]:
    """A site that writes its log as JSON."""
    before = structlog.get_config()
    run.configure_logs("json")
    site = Site(tmp_path, logs="json", proxies=1)
    yield site
    site.app.close()
    structlog.configure(**before)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_programs_get_a_line_for_each_request_that_names_its_route_and_no_link(
    programs: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = programs.start_table()
    answer = programs.new_visitor().client.get(f"/t/{opened.links[0]}")
    (line,) = (line for line in lines(capsys) if line["event"] == "request")
    assert (line["method"], line["route"], line["status"]) == ("GET", "/t/<link>", 200)
    assert line["request"] == answer.headers["X-Request-Id"]
    assert opened.links[0] not in str(line)


@pytest.mark.parametrize(
    ("request_id", "taken"), [("of-the-proxy.7", True), ('a"b', False), ("x" * 65, False), ("", False)]
)
def test_a_request_keeps_the_name_that_a_web_server_in_front_gave_it(
    programs: Site, request_id: str, taken: bool
) -> None:
    answer = programs.new_visitor().client.get("/", headers={"X-Request-Id": request_id})
    assert (answer.headers["X-Request-Id"] == request_id) == taken
    assert answer.headers["X-Request-Id"]


def test_log_lines_of_a_worker_name_the_request_that_woke_it(
    programs: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = programs.start_table()
    del programs.app.wakeups.wake  # the real method
    answer = programs.new_visitor().post(f"/t/{opened.links[0]}", move="no such move")
    set_app(programs.app)
    monkeypatch.setattr(referee, "run", lambda: structlog.get_logger().warning("looked"))
    residents.work_once(programs.app, "referee")
    line = next(line for line in lines(capsys) if line["event"] == "looked")
    assert line["request"] == answer.headers["X-Request-Id"]
