"""The test vectors are as their script writes them, and both verifiers agree with the index."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest

from engine import audit, log
from engine.refusal import Refused
from service.internet.beacon import is_signed
from tests.engine import highcard, second_verifier
from tests.vectors import make

INDEX = json.loads((make.FOLDER / "vectors.json").read_text("utf-8"))
every_vector = pytest.mark.parametrize("vector", INDEX, ids=lambda vector: vector["file"])


def test_the_files_are_as_their_script_writes_them():
    written = {str(path.relative_to(make.FOLDER)): path.read_text("utf-8") for path in make.FOLDER.rglob("*.json")}
    assert written == make.make_files()


@every_vector
def test_the_audit_agrees_with_the_index(vector):
    raw = (make.FOLDER / vector["file"]).read_bytes()
    try:
        finding = audit.audit(highcard, log.parse_export(raw), verify_signature=is_signed).finding
    except (msgspec.MsgspecError, UnicodeError, ValueError, Refused):
        assert not vector["sound"]
        return
    assert (finding is None) == vector["sound"], finding
    if finding:
        assert (finding.kind, finding.seq) == ("tampering", vector["entry"]), finding


@every_vector
def test_the_second_verifier_agrees_with_the_index(vector):
    report = second_verifier.verify((make.FOLDER / vector["file"]).read_text("utf-8"))
    assert report["sound"] == vector["sound"], report["finding"]
    if not vector["sound"] and report["finding"]["check"] != "read":
        assert report["finding"]["seq"] == vector["entry"], report["finding"]


def test_the_steps_of_the_finished_log_are_right():
    """They are computed again, without code of the engine."""
    contents = json.loads((make.FOLDER / "finished_worked_out.json").read_text("utf-8"))
    finished = json.loads((make.FOLDER / "sound/finished.json").read_text("utf-8"))
    seed, head = bytes.fromhex(contents["seed"]), bytes(32)
    words = [len(word.encode()).to_bytes(2, "big") + word.encode() for word in contents["nonces"]]
    assert contents["key"] == hashlib.sha256(b"depesche key 1" + seed + b"".join(words)).hexdigest()
    for number, (entry, link) in enumerate(zip(contents["entries"], finished["entries"], strict=True)):
        salt = hashlib.sha256(b"depesche salt 1" + seed + number.to_bytes(8, "big"))
        assert entry["salt"] == salt.hexdigest()
        body = json.dumps(link["entry"], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        assert entry["canonical"] == body
        digest = hashlib.sha256(salt.digest() + body.encode())
        assert entry["digest"] == link["digest"] == digest.hexdigest()
        head = hashlib.sha256(head + digest.digest()).digest()
        assert entry["hash"] == head.hex()
    assert contents["receipt"].endswith(finished["head"])


def test_the_second_verifier_hashes_and_writes_like_python():
    for text in ("", "abc", "é" * 100, "x" * 1000, "ab" * 32):
        assert second_verifier.ask(sha256=text) == hashlib.sha256(text.encode()).hexdigest()
    value = {"\U0001d11e": 1, "\uff5e": 2, "é": [True, None, -5, '\u2028\x7f\x01\n"\\/'], "": {}}
    text = json.dumps(value)
    assert second_verifier.ask(json=text) == json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )


def test_a_report_before_the_end_distinguishes_proven_and_unproven_entries():
    contents = {}
    for name in ("seat_0", "spectator", "unsalted"):
        raw = (make.FOLDER / f"sound/running_{name}.json").read_bytes()
        report = audit.audit(highcard, log.parse_export(raw))
        assert second_verifier.verify(raw)["proven"] == report.proven
        contents[name] = " ".join(audit.describe(report))
    assert "5 entries are proven to be what was sealed. NOT PROVEN: what the other 1 show" in contents["seat_0"]
    assert "NOT PROVEN: what the entries say" in contents["unsalted"]
    assert "does not seal the name of its table" in contents["unsalted"]


def test_salts_prove_the_entries_that_a_reader_knows():
    raw = json.loads((make.FOLDER / "sound/running_seat_0.json").read_text("utf-8"))
    for link in raw["entries"]:
        link["entry"]["at"] += 1
    text = json.dumps(raw)
    assert audit.audit(highcard, log.parse_export(text.encode())).finding
    assert not second_verifier.verify(text)["sound"]
