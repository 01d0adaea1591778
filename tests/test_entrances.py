"""Every way in has an entry in `entrances.toml` that is true, and the threat model names tests that exist."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from engine import catalogue
from service import create_app, web
from service.app import App
from service.people import limits
from service.settings import Settings
from service.tables import talk
from service.text.move_words import make_vocabulary
from tests import apps
from workers.incoming import mail_moves
from workers.incoming.mail_commands import STOP
from workers.incoming.move_parser import COMMAND_VERBS, EVERYDAY_VERBS, SERVER_VERBS

ROOT = Path(__file__).parents[1]
ENTRANCES = tomllib.loads((ROOT / "tests" / "entrances.toml").read_text("utf-8"))["entrance"]
VIEWS: dict[str, dict[str, Any]] = {view: one for one in ENTRANCES for view in one.get("views", "").split()}
PROOFS = {"none", "link", "token", "session", "host", "local", "mail"}
LIMITS = {
    "opens": {*web.OPENING_VIEWS},
    "moves": {*web.MOVE_VIEWS, *web.HINT_VIEWS, *web.SEAT_VIEWS},
    "stop": {web.STOP_VIEW},
    "pictures": {*web.PICTURE_VIEWS},
}
MAIL_LIMITS = {
    "mail": mail_moves.MAX_MOVES,
    "questions": limits.MAX_QUESTIONS_PER_HOUR,
    "remarks": talk.MAX_REMARKS_AN_HOUR,
    "opens": Settings().opens_per_hour,
    "answers": Settings().answers_per_hour,
}
TEST_NAME = re.compile(r"`?(tests/[\w/]+\.py)::(\w+)`?")
SAMPLES = {
    "name": "kaiser",
    "key": "x",
    "spoken": "en",
    "example": "x",
    "when": "before",
    "filename": "x",
    "table": "x",
}
BODIES = {
    "api.sit": {"nonce": "x"},
    "api.submit": {"move": "x", "key": "x"},
}
STRANGER = {"REMOTE_ADDR": "192.0.2.7"}
WRONG = "a" * 32


@pytest.fixture
def flask_app(app: App) -> Flask:
    apps.start_table(app)
    return create_app(app)


def list_mistakes(text: str) -> list[str]:
    """Return the tests that a text names and that do not exist."""
    names = TEST_NAME.findall(text)
    assert names
    return [
        f"{path}::{name}"
        for path, name in names
        if not (ROOT / path).exists() or f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]


def test_every_page_operation_and_command_has_one_entry(flask_app: Flask) -> None:
    views = [view for one in ENTRANCES for view in one.get("views", "").split()]
    commands = [command for one in ENTRANCES for command in one.get("commands", "").split()]
    assert Counter(views) == Counter({rule.endpoint for rule in flask_app.url_map.iter_rules()})
    verbs = make_vocabulary(catalogue.find("kaiser"), ()).table.verbs
    assert Counter(commands) == Counter({*verbs, *COMMAND_VERBS, *SERVER_VERBS, *EVERYDAY_VERBS, STOP, "move", "say"})
    assert {one["proof"] for one in ENTRANCES} == PROOFS


def test_the_limits_are_those_of_the_code() -> None:
    for limit, views in LIMITS.items():
        assert {view for view, one in VIEWS.items() if one["limit"] == limit} == views


def test_each_command_by_mail_has_a_limit_in_the_code() -> None:
    for one in ENTRANCES:
        if one["proof"] == "mail":
            assert MAIL_LIMITS[one["limit"]] > 0


def test_every_entry_names_a_test_that_exists() -> None:
    assert list_mistakes("\n".join(one["test"] for one in ENTRANCES)) == []


def test_the_threat_model_names_tests_that_exist() -> None:
    assert list_mistakes((ROOT / "docs" / "threat-model.md").read_text("utf-8")) == []


def test_without_its_proof_no_page_answers(flask_app: Flask) -> None:
    """Each page that asks for a proof is called with a wrong one, from elsewhere; none says or does anything."""
    client, adapter, answers = flask_app.test_client(), flask_app.url_map.bind("localhost"), dict[str, int]()
    for rule in flask_app.url_map.iter_rules():
        if VIEWS[rule.endpoint]["proof"] == "none":
            continue
        words = {name: SAMPLES.get(name, WRONG if name in ("link", "token") else 1) for name in rule.arguments}
        method = next((one for one in ("POST", "PUT") if one in (rule.methods or ())), "GET")
        path = adapter.build(rule.endpoint, words, method=method)
        given: dict[str, Any] = {"json": BODIES[rule.endpoint]} if rule.endpoint in BODIES else {}
        answers[rule.endpoint] = client.open(path, method=method, environ_overrides=STRANGER, **given).status_code
    expected = {"link": {404}, "token": {404}, "host": {404}, "local": {404}, "session": {303, 422}}
    wrong = {view: code for view, code in answers.items() if code not in expected[VIEWS[view]["proof"]]}
    assert wrong == {}


@pytest.mark.parametrize("proof", ["link", "token"])
def test_a_proof_is_in_the_address(flask_app: Flask, proof: str) -> None:
    rules = [rule for rule in flask_app.url_map.iter_rules() if VIEWS[rule.endpoint]["proof"] == proof]
    assert rules
    assert all(proof in rule.arguments for rule in rules)
