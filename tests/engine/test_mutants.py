"""Both verifiers find every mutant of every golden log, and report no fault of the logs."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from engine import audit, catalogue, log
from engine.refusal import Refused
from service.internet.beacon import is_signed
from tests.engine import second_verifier
from tests.engine.mutants import make_mutants
from tests.engine.test_golden import FILES, every_file, name_file
from tests.sampling import one_in

MUTANTS_PER_LOG, SOAK_MUTANTS_PER_LOG = 10, 1_500  # mutants of each golden log; there are at least seven of each game


def audit_text(text: str) -> str:
    """Return the fault that the audit finds; empty if it finds none."""
    try:
        export = log.parse_export(text.encode("utf-8", "surrogatepass"))
        game = catalogue.find(export.game, export.edition)
    except (msgspec.MsgspecError, ValueError, RecursionError, Refused) as refused:
        return str(refused)
    finding = audit.audit(game, export, verify_signature=is_signed).finding
    return finding.sentence if finding else ""


def find_missed(path, count):
    """Yield the mutants of a golden log that one of the verifiers does not find."""
    random = Random(path.stem)
    for kind, text in make_mutants(path.read_bytes(), random, count):
        if not audit_text(text):
            yield f"the audit passes {kind}"
        if second_verifier.verify(text)["sound"]:
            yield f"the second verifier passes {kind}"


@pytest.mark.parametrize("path", one_in(4, FILES), ids=name_file)
def test_every_mutant_is_found_by_both_verifiers(path):
    assert list(find_missed(path, MUTANTS_PER_LOG)) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@every_file
def test_ten_thousand_mutants_of_each_game_are_found_by_both_verifiers(path):
    assert list(find_missed(path, SOAK_MUTANTS_PER_LOG)) == []


@every_file
def test_the_second_verifier_finds_no_fault_of_golden_logs(path):
    text = path.read_text("utf-8")
    report = second_verifier.verify(text)
    assert (report["sound"], report["finding"]) == (True, None)
    assert report["head"] == log.parse_export(text.encode()).head
    assert report["proven"] == report["entries"]


def test_there_are_enough_golden_logs_for_ten_thousand_mutants_of_each_game():
    for name in catalogue.find_all():
        assert sum(path.parent.name == name for path in FILES) * SOAK_MUTANTS_PER_LOG >= 10_000
