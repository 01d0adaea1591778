"""The servers that tests use are real."""

import smtplib
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path

import psutil
import pytest
import redis
from playwright.sync_api import Browser
from sqlalchemy import create_engine, text

from tests.sampling import one_of
from tests.servers import Sink, run_guarded


def write_letter(to: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "depesche@example.org", to, "Your move, Jürgen"
    message.set_content("deploy lady Iwan — ✉")
    return message


@pytest.mark.parametrize("time_round", [1, 2])
def test_redis_answers_and_is_empty_each_time(redis_url: str, time_round: int) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()
        assert client.dbsize() == 0
        client.set("left", "behind")


@pytest.mark.parametrize("time_round", [1, 2])
def test_postgres_answers_and_is_empty_each_time(postgres_url: str, time_round: int) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        assert connection.scalar(text("select 1")) == 1
        connection.execute(text("create table left_behind (n integer)"))
    engine.dispose()


def test_a_letter_arrives_in_the_sink(smtp_sink: Sink) -> None:
    with smtplib.SMTP(smtp_sink.hostname, smtp_sink.port, timeout=5) as relay:
        relay.send_message(write_letter("anna@example.org"))
    (received,) = smtp_sink.letters
    assert received["Subject"] == "Your move, Jürgen"
    assert received.get_content() == "deploy lady Iwan — ✉\n"
    assert smtp_sink.envelopes[0].rcpt_tos == ["anna@example.org"]


def test_the_sink_refuses_letters_on_request(smtp_sink: Sink) -> None:
    smtp_sink.refuse("554 no such player")
    with smtplib.SMTP(smtp_sink.hostname, smtp_sink.port, timeout=5) as relay:
        with pytest.raises(smtplib.SMTPDataError, match="no such player"):
            relay.send_message(write_letter("nobody@example.org"))
        smtp_sink.accept()
        relay.send_message(write_letter("anna@example.org"))
    assert len(smtp_sink.letters) == 1


def test_chromium_shows_a_page_and_runs_its_script(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content("<button onclick='this.textContent = 6 * 7'>roll</button>")
    page.click("button")
    assert page.inner_text("button") == "42"
    page.close()


STARTER = """
import sys, time
from tests.servers import {server}
with {server}():
    print("up", flush=True)
    time.sleep(60)
"""


@pytest.mark.usefixtures("redis_url", "postgres_url")  # skips where there are none
@pytest.mark.parametrize("server", one_of(["redis_server", "postgres_server"], "postgres_server"))
def test_a_server_stops_when_its_starter_is_killed(server: str) -> None:
    command = [sys.executable, "-c", STARTER.format(server=server)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"up\n"
        family = psutil.Process(starter.pid).children(recursive=True)
        starter.kill()
    assert family
    assert psutil.wait_procs(family, timeout=10)[1] == []


def test_a_server_that_is_ready_before_it_handles_signals_is_stopped(tmp_path: Path) -> None:
    slow = "import signal, time; time.sleep(0.3); signal.signal(signal.SIGINT, lambda *_: exit()); time.sleep(60)"
    (tmp_path / "own").mkdir()
    with run_guarded([sys.executable, "-c", slow], tmp_path / "own", lambda: None):
        pass
    assert not (tmp_path / "own").exists()
