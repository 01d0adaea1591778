"""Both verifiers find every mutant of every golden log, and complain of none that is as it was exported."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from engine import audit, catalogue, log
from engine.refusal import Refused
from service.beacon import signed
from tests.engine import second_verifier
from tests.engine.mutants import make_mutants
from tests.engine.test_golden import FILES, every_file

SHORT, LONG = 10, 1_500  # mutants of each golden log; there are at least seven of each game


def first_verdict(text: str) -> str:
    """Why our own audit does not take this log; nothing where it does."""
    try:
        export = log.parse_export(text.encode("utf-8", "surrogatepass"))
        game = catalogue.find(export.game, export.edition)
    except (msgspec.MsgspecError, ValueError, RecursionError, Refused) as refused:
        return str(refused)
    finding = audit.audit(game, export, verify_signature=signed).finding
    return finding.sentence if finding else ""


def missed(path, count):
    """The mutants of a golden log that one of the verifiers did not find."""
    random = Random(path.stem)
    for kind, text in make_mutants(path.read_bytes(), random, count):
        if not first_verdict(text):
            yield f"the audit passes {kind}"
        if second_verifier.verify(text)["sound"]:
            yield f"the second verifier passes {kind}"


@every_file
def test_every_mutant_is_found_by_both_verifiers(path):
    assert list(missed(path, SHORT)) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@every_file
def test_ten_thousand_mutants_of_each_game_are_found_by_both_verifiers(path):
    assert list(missed(path, LONG)) == []


@every_file
def test_the_second_verifier_complains_of_no_golden_log(path):
    text = path.read_text("utf-8")
    report = second_verifier.verify(text)
    assert (report["sound"], report["finding"]) == (True, None)
    assert report["head"] == log.parse_export(text.encode()).head
    assert report["proven"] == report["entries"]


def test_there_are_enough_golden_logs_for_ten_thousand_mutants_of_each_game():
    for name in catalogue.find_all():
        assert sum(path.parent.name == name for path in FILES) * LONG >= 10_000
