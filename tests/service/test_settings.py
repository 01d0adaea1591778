"""Settings: from the environment, with the command line above it."""

from __future__ import annotations

import argparse

import pytest

from engine import catalogue
from engine.refusal import Refused
from service import cli, settings
from workers.commands import run


def test_nothing_set_is_the_embedded_service():
    assert settings.load_settings({}) == settings.Settings()


def test_a_service_is_visited_where_it_listens_unless_it_has_an_address_of_its_own():
    assert settings.load_settings({"DEPESCHE_PORT": "9000"}).address == "http://127.0.0.1:9000"
    assert settings.load_settings({"DEPESCHE_HOST": "0.0.0.0"}).address == "http://127.0.0.1:8765"
    own = {"DEPESCHE_PORT": "9000", "DEPESCHE_ADDRESS": "https://games.example.org"}
    assert settings.load_settings(own).address == "https://games.example.org"


def test_the_command_line_overrides_the_environment_and_leaves_the_address(monkeypatch):
    monkeypatch.setenv("DEPESCHE_PORT", "9000")
    monkeypatch.setenv("DEPESCHE_ADDRESS", "https://games.example.org")
    loaded = run.load_settings(argparse.Namespace(port=9001, host=None))
    assert (loaded.port, loaded.address) == (9001, "https://games.example.org")


def test_a_number_that_is_none_is_refused_in_a_sentence():
    with pytest.raises(Refused, match="DEPESCHE_PORT has to be a number like 8765"):
        settings.load_settings({"DEPESCHE_PORT": "high"})


def test_the_secret_is_made_once(tmp_path):
    chosen = settings.Settings(folder=tmp_path / "new")
    secret = settings.load_secret(chosen)
    assert len(secret) == 64
    assert settings.load_secret(chosen) == secret
    assert settings.load_secret(settings.Settings(secret="said by the host")) == "said by the host"


def test_the_sender_may_have_a_name():
    named = settings.load_settings({"DEPESCHE_SENDER": "The Club <table@example.org>"})
    assert (named.sender_name, named.sender_address, named.mail_host) == (
        "The Club",
        "table@example.org",
        "example.org",
    )
    assert settings.load_settings({"DEPESCHE_SENDER": "table@example.org"}).sender_name == "Depesche"


@pytest.mark.parametrize("sender", ["Depesche", "a@b@c <x>", "two words@example.org"])
def test_a_sender_that_is_no_address_is_refused(sender):
    with pytest.raises(Refused, match="DEPESCHE_SENDER has to be an address such as"):
        settings.load_settings({"DEPESCHE_SENDER": sender})


@pytest.mark.parametrize("name", ["secret", "database", "smtp", "imap", "redis", "metrics", "games", "port", "confirm"])
def test_any_setting_may_be_in_a_file(tmp_path, name):
    words = {
        "secret": "a house for tests",
        "database": "postgresql+psycopg://depesche:word@db/depesche",
        "smtp": "smtp+tls://user:word@mail.example.org:587",
        "imap": "imaps://user:word@mail.example.org/INBOX",
        "redis": "redis://:word@cache/0",
        "metrics": "word",
        "games": "liars_dice",
        "port": "9000",
        "confirm": "off",
    }
    file = tmp_path / name
    file.write_text(f"{words[name]}\n")
    loaded = settings.load_settings({f"DEPESCHE_{name.upper()}_FILE": str(file)})
    assert loaded == settings.load_settings({f"DEPESCHE_{name.upper()}": words[name]})
    assert loaded != settings.Settings()


def test_a_setting_that_is_said_twice_is_refused(tmp_path):
    (tmp_path / "secret").write_text("another secret altogether")
    twice = {"DEPESCHE_SECRET": "a house for tests", "DEPESCHE_SECRET_FILE": str(tmp_path / "secret")}
    with pytest.raises(Refused, match="DEPESCHE_SECRET and DEPESCHE_SECRET_FILE are both set; keep one of them"):
        settings.load_settings(twice)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"x" * 70_000, "is too long"),
        ("é".encode() * 40_000, "is too long"),
        (b"x" + b" " * 70_000, "is too long"),
        (b"\xff", "no text"),
    ],
)
def test_a_file_without_a_value_is_refused(tmp_path, content, why):
    if content is not None:
        (tmp_path / "smtp").write_bytes(content)
    with pytest.raises(Refused, match=f"DEPESCHE_SMTP_FILE names .*{why}") as refused:
        settings.load_settings({"DEPESCHE_SMTP_FILE": str(tmp_path / "smtp")})
    assert "xxxx" not in str(refused.value)


def test_a_file_for_an_unknown_setting_is_refused():
    with pytest.raises(Refused, match=r"no setting DEPESCHE_SECRETS_FILE\. Did you mean DEPESCHE_SECRET_FILE\?"):
        settings.load_settings({"DEPESCHE_SECRETS_FILE": "/etc/depesche/secret"})


def test_the_command_line_overrides_a_file_too(monkeypatch, tmp_path):
    (tmp_path / "port").write_text("9000")
    monkeypatch.setenv("DEPESCHE_PORT_FILE", str(tmp_path / "port"))
    assert run.load_settings(argparse.Namespace(port=9001, host=None)).port == 9001
    assert run.load_settings(argparse.Namespace(port=None, host=None)).port == 9000


def test_games_named_in_a_file_are_known_to_every_command(monkeypatch, tmp_path, capsys):
    (tmp_path / "games").write_text("No/Game")
    monkeypatch.setenv("DEPESCHE_GAMES_FILE", str(tmp_path / "games"))
    assert cli.main(["doctor"]) == 1
    assert "DEPESCHE_GAMES lists names of games such as liars_dice, not “No/Game”" in capsys.readouterr().out


def test_a_name_that_leaves_no_room_for_a_plus_address_is_refused() -> None:
    long = {"DEPESCHE_SENDER": "games-of-our-board-game-club@example.org", "DEPESCHE_ANSWER_TO": "plus"}
    with pytest.raises(Refused, match="too long for plus addresses, which take 17 characters"):
        settings.load_settings(long)
    assert settings.load_settings({**long, "DEPESCHE_ANSWER_TO": "play"}).answer_place == "play"


@pytest.mark.parametrize("command", ["games", "doctor", "audit x"])
def test_every_command_refuses_an_allowed_game_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("DEPESCHE_GAMES", "no_such_game")
    assert cli.main(command.split()) == cli.MISUSE
    assert "DEPESCHE_GAMES names no_such_game, but no installed package brings it" in capsys.readouterr().err


def test_an_installed_game_that_is_not_allowed_says_how_to_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "find_installed", lambda: {"lantern_race": None})
    with pytest.raises(Refused, match="add it to DEPESCHE_GAMES, such as DEPESCHE_GAMES=lantern_race"):
        catalogue.find("lantern_race")
