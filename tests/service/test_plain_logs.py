"""Logs tell what went wrong, and no secret."""

import secrets
from collections.abc import Iterator

import pytest
import structlog

from service.commands import run


@pytest.fixture
def plain() -> Iterator[None]:
    before = structlog.get_config()
    run.plain_logs()
    yield
    structlog.configure(**before)


def test_a_logged_fault_shows_no_values_of_variables(plain: None, capsys: pytest.CaptureFixture[str]) -> None:
    def deal(seed: str) -> None:
        raise ZeroDivisionError(f"{len(seed)} letters")

    seed = secrets.token_hex(13)
    try:
        deal(seed)
    except ZeroDivisionError:
        structlog.get_logger().exception("not judged", table="t1")
    told = capsys.readouterr().out
    assert "ZeroDivisionError: 26 letters" in told
    assert "not judged" in told
    assert seed not in told
