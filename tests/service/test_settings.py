"""Settings: from the environment, with the command line above it."""

from __future__ import annotations

import argparse

import pytest

from engine.refusal import Refused
from service import settings
from service.commands import run


def test_nothing_set_is_the_embedded_service():
    assert settings.read({}) == settings.Settings()


def test_a_service_is_visited_where_it_listens_unless_it_has_an_address_of_its_own():
    assert settings.read({"DEPESCHE_PORT": "9000"}).address == "http://127.0.0.1:9000"
    assert settings.read({"DEPESCHE_HOST": "0.0.0.0"}).address == "http://127.0.0.1:8765"
    own = {"DEPESCHE_PORT": "9000", "DEPESCHE_ADDRESS": "https://games.example.org"}
    assert settings.read(own).address == "https://games.example.org"


def test_the_command_line_stands_above_the_environment_and_leaves_the_address(monkeypatch):
    monkeypatch.setenv("DEPESCHE_PORT", "9000")
    monkeypatch.setenv("DEPESCHE_ADDRESS", "https://games.example.org")
    found = run._settings(argparse.Namespace(port=9001, host=None))
    assert (found.port, found.address) == (9001, "https://games.example.org")


def test_a_number_that_is_none_is_refused_in_a_sentence():
    with pytest.raises(Refused, match="DEPESCHE_PORT has to be a number like 8765"):
        settings.read({"DEPESCHE_PORT": "high"})


def test_the_secret_is_made_once(tmp_path):
    chosen = settings.Settings(folder=tmp_path / "new")
    secret = settings.keep_secret(chosen)
    assert len(secret) == 64
    assert settings.keep_secret(chosen) == secret
    assert settings.keep_secret(settings.Settings(secret="said by the host")) == "said by the host"


def test_the_sender_may_have_a_name():
    named = settings.read({"DEPESCHE_SENDER": "The Club <table@example.org>"})
    assert (named.sender_name, named.sender_address, named.mail_host) == (
        "The Club",
        "table@example.org",
        "example.org",
    )
    assert settings.read({"DEPESCHE_SENDER": "table@example.org"}).sender_name == "Depesche"


@pytest.mark.parametrize("sender", ["Depesche", "a@b@c <x>", "two words@example.org"])
def test_a_sender_that_is_no_address_is_refused(sender):
    with pytest.raises(Refused, match="DEPESCHE_SENDER has to be an address such as"):
        settings.read({"DEPESCHE_SENDER": sender})
