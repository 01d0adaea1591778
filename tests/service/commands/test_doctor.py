"""`depesche doctor` says what is ill, and what is hardly meant."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from service import cli
from service.commands.doctor import LATE, oddities
from service.house import House
from service.settings import Settings
from service.store.schema import letters
from service.tables import opening


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEPESCHE_FOLDER", str(tmp_path))
    return tmp_path


def test_an_embedded_house_is_well(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert said.count("well:") == 2
    assert "ILL" not in said
    assert "odd" not in said


def test_it_only_looks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == 0
    assert "not there yet; the first start makes it" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_programs_are_told_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in told} <= {"well", "odd"}
    assert any(one["what"].startswith("database") for one in told)


def test_a_mail_server_that_is_not_there_is_ill(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPESCHE_SMTP", "smtp://127.0.0.1:1")
    assert cli.main(["doctor"]) == 1
    assert "ILL:  mail server" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (Settings(require_authentication=True), "every answer is refused"),
        (Settings(smtp="smtp://mail", sender="a@b.org"), "their links lead to http://127.0.0.1:8765"),
        (Settings(smtp="smtp://mail", sender="a@b.org", address="http://b.org"), "use https"),
        (Settings(smtp="smtp://mail", address="https://b.org"), "nobody can answer"),
    ],
)
def test_settings_that_are_hardly_meant_are_odd(settings: Settings, word: str) -> None:
    assert [word in oddity for oddity in oddities(settings)] == [True]


def test_sensible_settings_are_not_odd() -> None:
    assert not list(oddities(Settings(smtp="smtp://mail", address="https://b.org", sender="a@b.org")))


def test_letters_that_nobody_sends_are_noticed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from service.tables.opening import Invited

    house = House(Settings(folder=folder, smtp="smtp://127.0.0.1:1", confirm=False))
    house.open()
    opening.open_table(house, "kaiser", {}, [Invited("Anna", "anna@example.org"), Invited("Bot 1")])
    with house.store.writing() as connection:
        connection.execute(update(letters).values(due_at=house.now() - LATE - 1))
    house.close()
    assert cli.main(["doctor"]) == 0
    assert "odd:  letters that nobody sends: 1;" in capsys.readouterr().out
