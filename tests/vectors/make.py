"""Writes the test vectors: small logs with everything worked out, and a broken log for each rule of the format.

    python -m tests.vectors.make

`vectors.json` names every file, whether it is sound, and at which entry it breaks. The logs are games of High Card, the
game that `engine/README.md` builds; nobody needs to know its rules to check them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from py_arkworks_bls12381 import Scalar

from engine import canonical_json, chance, log, open_command
from tests.beacons import BEACON, sign
from tests.engine import highcard, ledger
from tests.engine.ledger import SEED, Ledger
from tests.engine.mutants import chain, drawn_anew, resealed

FOLDER = Path(__file__).parent
Plain = dict[str, Any]


def played(moves: int = 1_000_000) -> Ledger:
    """A game for two, with an é and an astral letter in the nonces, so that bytes and their order matter."""
    table = Ledger(highcard)
    table.do(None, open_command.make_open_command(highcard, 2, SEED, {"cards": "2"}, {"pace": "86400"}, ledger.NAME))
    table.do(None, "sit 0 émile")
    table.do(None, "bot 1 𝄞-ﬁ")
    table.do(None, "start")
    return ledger.play_on(table, Random(3), moves)


def awaiting() -> Ledger:
    """A table with public luck, where two people sit and the first shuffle waits for its round."""
    table = Ledger(highcard)
    table.do(None, open_command.make_open_command(highcard, 2, SEED, {"cards": "2"}, {}, ledger.NAME, BEACON))
    table.do(None, "sit 0 anna")
    table.do(None, "sit 1 berta")
    table.do(None, "start")
    return table


def public() -> Ledger:
    return ledger.play_on(ledger.lit(awaiting()), Random(3))


def went_sealed() -> Ledger:
    """The beacon does not come; one player asks to go on without it, the other agrees."""
    table = awaiting()
    table.do(0, "sealed")
    table.do(1, "agree")
    return ledger.play_on(table, Random(3))


def plainly(export: Any) -> Plain:
    """An export as its file holds it."""
    found: Plain = json.loads(msgspec.json.encode(export))
    return found


def nameless() -> Plain:
    """The same log as it was before names were sealed."""
    plain = plainly(played().export())
    first = plain["entries"][0]["entry"]
    first["move"] = first["move"].replace(f" table.name={ledger.NAME}", "")
    del first["events"][0]["table"]
    resealed(plain)
    return plain


def unsalted() -> Plain:
    """A copy for a spectator as it was before salts."""
    plain, old = plainly(played(2).export()), nameless()["entries"][0]
    plain["entries"][0] = old
    for link in plain["entries"]:
        link.pop("salt", None)
    chain(plain)
    return plain


def sound() -> dict[str, Plain]:
    return {
        "finished": plainly(played().export()),
        "finished_nameless": nameless(),
        "public_finished": plainly(public().export()),
        "public_went_sealed": plainly(went_sealed().export()),
        "public_awaiting": plainly(awaiting().export(0)),
        "running_seat_0": plainly(played(2).export(0)),
        "running_seat_1": plainly(played(2).export(1)),
        "running_spectator": plainly(played(2).export()),
        "running_unsalted": unsalted(),
    }


def worked_out() -> Plain:
    """Every step to the head of `finished`, written out."""
    table = played()
    nonces = [seat.nonce for seat in table.table.seats]
    key = chance.derive_key(SEED, nonces)
    entries, head = [], log.GENESIS
    for entry in table.entries:
        body = canonical_json.encode(entry)
        digest = log.digest(SEED, entry.seq, body)
        head = log.extend_head(head, digest)
        draws = [_draw(key, entry.seq, number, draw) for number, draw in enumerate(entry.draws)]
        salt = log.derive_salt(SEED, entry.seq).hex()
        entries.append({"canonical": body.decode(), "salt": salt, "digest": digest, "hash": head, "draws": draws})
    return {
        "seed": SEED.hex(),
        "commitment": chance.commit(SEED),
        "nonces": nonces,
        "key": key.hex(),
        "entries": entries,
        "receipt": f"Receipt after {len(entries)} entries: {head}",
    }


def _draw(key: bytes, entry: int, number: int, draw: chance.Draw) -> Plain:
    material = key + entry.to_bytes(8, "big") + number.to_bytes(4, "big")
    return {"label": draw.label, "size": draw.size, "material": material.hex(), "result": draw.result}


Breaking = Callable[[Plain], None]


def entry(number: int, resealing: bool = True, **fields: Any) -> Breaking:
    """An entry with other fields, the whole log sealed anew or not."""

    def broken(plain: Plain) -> None:
        plain["entries"][number]["entry"].update(fields)
        if resealing:
            resealed(plain)

    return broken


def event(number: int, **fields: Any) -> Breaking:
    def broken(plain: Plain) -> None:
        plain["entries"][number]["entry"]["events"][0].update(fields)
        resealed(plain)

    return broken


def header(**fields: Any) -> Breaking:
    return lambda plain: plain.update(fields)


def link(number: int, **fields: Any) -> Breaking:
    return lambda plain: plain["entries"][number].update(fields)


def without(*numbers: int, sealed: bool = False) -> Breaking:
    def broken(plain: Plain) -> None:
        plain["entries"] = [link for number, link in enumerate(plain["entries"]) if number not in numbers]
        resealed(plain) if sealed else chain(plain)

    return broken


def swapped(plain: Plain) -> None:
    entries = plain["entries"]
    entries[4], entries[5] = entries[5], entries[4]
    chain(plain)


def draw(plain: Plain) -> None:
    plain["entries"][3]["entry"]["draws"][2][2] ^= 1
    resealed(plain)


def second_end(plain: Plain) -> None:
    plain["entries"].append(copy.deepcopy(plain["entries"][-1]))
    resealed(plain)


EARLY = [["die", 1, 0]]
NAMED, DRAWN = 3, 4  # the entries of a log with public luck that name a round, and that draw by it


def redrawn(plain: Plain, key: bytes) -> None:
    """The draws of the shuffle as they are by this key, and the whole log sealed anew; the cards stay as they were."""
    entry = plain["entries"][DRAWN]["entry"]
    entry["draws"] = [
        [label, size, chance.compute_draw(key, DRAWN, place, size)]
        for place, (label, size, _) in enumerate(entry["draws"])
    ]
    resealed(plain)


def table_key() -> bytes:
    return chance.derive_key(SEED, ["anna", "berta"])


def drawn_by(number: int, signature: str, named: int | None = None) -> Breaking:
    """The shuffle by another round or another signature, consistently; and the other round named, too."""

    def broken(plain: Plain) -> None:
        entry = plain["entries"][DRAWN]["entry"]
        entry["move"] = f"round {number} {signature}"
        entry["events"][0] |= {"round": number, "signature": signature}
        if named is not None:
            plain["entries"][NAMED]["entry"]["events"][0]["round"] = named
        redrawn(plain, chance.derive_round_key(table_key(), signature))

    return broken


def round_missing(plain: Plain) -> None:
    """The shuffle as at a table with sealed luck, with no round at all."""
    del plain["entries"][NAMED]
    entry = plain["entries"][NAMED]["entry"]
    entry["move"] = "start"
    del entry["events"][0]
    resealed(plain)


def sealed_without_agreement(plain: Plain) -> None:
    """One player says so, and the other was not asked."""
    entry = plain["entries"][DRAWN]["entry"]
    entry |= {"seat": 0, "move": "sealed"}
    entry["events"][:1] = [{"type": "table.SealAsked", "seat": 0}, {"type": "table.WentSealed"}]
    redrawn(plain, table_key())


def beacon_taken_out(plain: Plain) -> None:
    del plain["entries"][0]["entry"]["events"][0]["beacon"]
    resealed(plain)


ROUND = BEACON.next_round(1003)

# Of a finished log with public luck.
BROKEN_PUBLIC: dict[str, tuple[int, Breaking]] = {
    "public_another_round": (DRAWN, drawn_by(ROUND + 1, sign(ROUND + 1))),
    "public_later_round_named": (NAMED, drawn_by(ROUND + 1, sign(ROUND + 1), named=ROUND + 1)),
    "public_earlier_round_named": (NAMED, drawn_by(ROUND - 1, sign(ROUND - 1), named=ROUND - 1)),
    "public_another_signature": (DRAWN, drawn_by(ROUND, sign(ROUND + 1))),
    "public_another_key": (DRAWN, drawn_by(ROUND, sign(ROUND, Scalar.from_be_bytes_mod_order(b"another")))),
    "public_signature_in_capitals": (DRAWN, drawn_by(ROUND, sign(ROUND).upper())),
    "public_no_point_of_the_curve": (DRAWN, drawn_by(ROUND, "ab" * 48)),
    "public_round_missing": (NAMED, round_missing),
    "public_sealed_without_agreement": (DRAWN, sealed_without_agreement),
    "public_beacon_taken_out": (NAMED, beacon_taken_out),
}

# Of a finished log: what breaks it, and the entry at which it shows first.
BROKEN: dict[str, tuple[int, Breaking]] = {
    "cut_off": (4, without(5, 6, 7)),
    "cut_off_and_sealed": (4, without(5, 6, 7, sealed=True)),
    "entry_missing": (4, without(4)),
    "entries_swapped": (4, swapped),
    "something_after_the_end": (8, second_end),
    "sits_down_after_the_start": (5, lambda plain: drawn_anew(plain, Random(1))),
    "another_name": (0, header(table="u")),
    "another_game": (0, header(game="kaiser")),
    "another_format": (0, header(format="depesche-log-2")),
    "another_head": (7, header(head=log.GENESIS)),
    "another_commitment": (0, header(commitment="ab" * 32)),
    "another_seed": (0, header(seed="ab" * 32)),
    "seed_in_capitals": (0, header(seed=SEED.hex().upper())),
    "seed_kept_back": (0, header(seed=None)),
    "seed_beside_a_seat": (0, header(seat=1)),
    "unknown_field": (0, header(note="x")),
    "unknown_field_of_a_link": (4, link(4, note="x")),
    "unknown_field_of_an_entry": (4, entry(4, note="x")),
    "unknown_field_of_an_event": (1, event(1, note="x")),
    "default_written_out": (1, event(1, bot=False)),
    "not_whole_beside_the_seed": (4, link(4, whole=False)),
    "salt_beside_the_seed": (4, link(4, salt="ab" * 32)),
    "digest_in_capitals": (4, link(4, digest="AB" * 32)),
    "another_digest": (4, link(4, digest="ab" * 32)),
    "draws_before_the_start": (1, entry(1, draws=EARLY)),
    "draws_for_the_table": (0, entry(0, draws=EARLY)),
    "another_draw": (3, draw),
    "another_nonce": (1, event(1, nonce="anna")),
    "another_seat_sits": (1, event(1, seat=1)),
    "another_edition": (5, entry(5, edition=2)),
    "two_blanks_in_a_move": (1, entry(1, move="sit  0 émile")),
    "a_seat_that_is_not_there": (4, entry(4, seat=7)),
    "a_seat_below_nought": (4, entry(4, seat=-1)),
    "time_as_a_text": (4, entry(4, at="1004")),
    "events_missing": (4, entry(4, events=[])),
    "option_not_ordered": (0, event(0, options={"cards": 3})),
}


def broken_texts() -> dict[str, tuple[int, str]]:
    """Breaks that JSON itself cannot hold, and those of copies without a seed."""
    finished = json.dumps(sound()["finished"], ensure_ascii=False)
    mine, salted = sound()["running_seat_0"], sound()["running_seat_0"]
    mine["entries"][3]["entry"]["draws"] = EARLY
    salted["entries"][1]["entry"]["at"] += 1
    bare = sound()["running_seat_0"]
    del bare["entries"][1]["salt"]
    return {
        "told_twice": (0, finished.replace('"at": 1004', '"at": 1, "at": 1004')),
        "time_with_a_fraction": (0, finished.replace('"at": 1004', '"at": 1004.0')),
        "half_a_character": (0, finished.replace("émile", "\\ud834")),
        "something_behind": (0, finished + "{}"),
        "cut_entry_with_draws": (3, json.dumps(mine, ensure_ascii=False)),
        "altered_before_the_end": (1, json.dumps(salted, ensure_ascii=False)),
        "salt_kept_back": (1, json.dumps(bare, ensure_ascii=False)),
    }


def files() -> dict[str, str]:
    """Every file by its name."""
    found = {f"sound/{name}.json": _text(plain) for name, plain in sound().items()}
    index = [{"file": name, "sound": True} for name in found]
    broken = {}
    for name, (seq, breaking) in BROKEN.items():
        plain = copy.deepcopy(sound()["finished"])
        breaking(plain)
        broken[name] = (seq, _text(plain))
    for name, (seq, breaking) in BROKEN_PUBLIC.items():
        plain = copy.deepcopy(sound()["public_finished"])
        breaking(plain)
        broken[name] = (seq, _text(plain))
    for name, (seq, text) in (broken | broken_texts()).items():
        found[f"broken/{name}.json"] = text
        index.append({"file": f"broken/{name}.json", "sound": False, "entry": seq})
    found["finished_worked_out.json"] = json.dumps(worked_out(), ensure_ascii=False, indent=1) + "\n"
    found["vectors.json"] = json.dumps(index, indent=1) + "\n"
    return found


def _text(plain: Plain) -> str:
    return json.dumps(plain, ensure_ascii=False).replace('{"digest"', '\n{"digest"') + "\n"


def main() -> None:
    for name, text in files().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
