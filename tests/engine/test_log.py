"""The bytes of an entry, its digest and the chain, computed again without the engine's code."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import canonical_json, log
from engine.chance import Draw
from engine.log import Entry
from engine.table_events import (
    Sat,
)
from tests.engine import highcard
from tests.engine.ledger import SEED, open_table, start_table

text = st.text(st.characters(codec="utf-8"))
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | text
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=20)


def encode_with_json(value):
    """Return canonical JSON as Python's own library writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


@settings(max_examples=30)
@given(st.dictionaries(text, values))
def test_canonical_json_is_that_of_pythons_library(value):
    assert canonical_json.encode(value) == encode_with_json(value)


def test_an_entry_and_its_plain_form_have_the_same_bytes():
    for entry in start_table(highcard, 3).entries:
        body = canonical_json.encode(entry)
        assert canonical_json.encode(canonical_json.decode_object(body)) == body == encode_with_json(json.loads(body))
        assert canonical_json.encode(log.make_entry_decoder(highcard).decode(body)) == body


def test_the_bytes_of_an_entry_never_change():
    entry = Entry(2, 1700000000, None, "sit 0 émile", (Draw("die", 6, 5),), (Sat(0, "émile"),), 1)
    assert canonical_json.encode(entry).decode() == (
        '{"at":1700000000,"draws":[["die",6,5]],"edition":1,'
        '"events":[{"nonce":"émile","seat":0,"type":"table.Sat"}],"move":"sit 0 émile","seat":null,"seq":2}'
    )


@given(st.binary(min_size=32, max_size=32), st.lists(st.binary(max_size=50), min_size=1, max_size=10))
def test_digests_and_chain_are_sha_256(seed, bodies):
    head = bytes(32)
    heads = []
    for seq, body in enumerate(bodies):
        salt = hashlib.sha256(b"depesche salt 1" + seed + seq.to_bytes(8, "big")).digest()
        digest = hashlib.sha256(salt + body).digest()
        head = hashlib.sha256(head + digest).digest()
        assert log.compute_digest(seed, seq, body) == digest.hex()
        heads.append(head.hex())
    digests = [log.compute_digest(seed, seq, body) for seq, body in enumerate(bodies)]
    assert log.compute_heads(digests) == tuple(heads)
    assert log.compute_head(digests) == heads[-1]
    assert log.compute_head(digests[1:], log.extend_head(log.GENESIS, digests[0])) == heads[-1]


def test_the_head_of_an_empty_chain_is_32_zero_bytes():
    assert log.compute_head([]) == log.GENESIS == "00" * 32


def test_every_field_of_an_entry_is_sealed():
    entry = open_table(highcard, 2).entries[1]
    sealed = log.compute_digest(SEED, 1, canonical_json.encode(entry))
    others = [
        msgspec.structs.replace(entry, **{name: value})
        for name, value in {
            "seq": 2,
            "at": 0,
            "seat": 1,
            "move": "sit 0 x",
            "draws": (Draw("d", 2, 0),),
            "events": (),
            "edition": 2,
        }.items()
    ]
    assert sealed not in {log.compute_digest(SEED, 1, canonical_json.encode(other)) for other in others}
    assert log.compute_digest(SEED, 2, canonical_json.encode(entry)) != sealed


def test_an_export_can_be_parsed():
    export = start_table(highcard, 2).export(0)
    assert msgspec.json.decode(msgspec.json.encode(export), type=log.Export) == export
    with pytest.raises(msgspec.ValidationError, match="format"):
        msgspec.convert(msgspec.to_builtins(export) | {"format": "depesche-log-9"}, log.Export)


def test_equal_entries_have_different_digests():
    assert len({log.compute_digest(SEED, seq, b"{}") for seq in range(100)}) == 100
