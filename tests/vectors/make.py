"""Writes the test vectors: small logs with every step written out, and a broken log for each rule of the format.

    python -m tests.vectors.make

`vectors.json` lists every file, whether it is sound, and the first entry with a fault. The logs are games of High Card,
the game that `engine/README.md` builds; its rules are not needed to check them.
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

from engine import canonical_json, chance, log, options
from tests.beacons import BEACON, sign
from tests.engine import highcard, ledger
from tests.engine.ledger import SEED, Ledger
from tests.engine.mutants import reseal, set_head, sit_down_after_start

FOLDER = Path(__file__).parent
Plain = dict[str, Any]


def play(moves: int = 1_000_000) -> Ledger:
    """Play a game for two; an é and an astral letter in the nonces make bytes and their order matter."""
    table = Ledger(highcard)
    table.do(None, options.make_open_command(highcard, 2, SEED, {"cards": "2"}, {"pace": "86400"}, ledger.NAME))
    table.do(None, "sit 0 émile")
    table.do(None, "bot 1 𝄞-ﬁ")
    table.do(None, "start")
    return ledger.play_on(table, Random(3), moves)


def play_until_round() -> Ledger:
    """Open a table with a beacon for two people, whose first shuffle waits for its round."""
    table = Ledger(highcard)
    table.do(None, options.make_open_command(highcard, 2, SEED, {"cards": "2"}, {}, ledger.NAME, BEACON))
    table.do(None, "sit 0 anna")
    table.do(None, "sit 1 berta")
    table.do(None, "start")
    return table


def play_public() -> Ledger:
    """Play a game with a beacon."""
    return ledger.play_on(ledger.draw_awaited_round(play_until_round()), Random(3))


def play_without_beacon() -> Ledger:
    """Play a game without its beacon: one player asks to go on without it, and the other agrees."""
    table = play_until_round()
    table.do(0, "sealed")
    table.do(1, "agree")
    return ledger.play_on(table, Random(3))


def export_plain(export: Any) -> Plain:
    """Return an export as plain values."""
    plain: Plain = json.loads(msgspec.json.encode(export))
    return plain


def make_nameless() -> Plain:
    """Return the same log as if it were older than sealed names."""
    plain = export_plain(play().export())
    first = plain["entries"][0]["entry"]
    first["move"] = first["move"].replace(f" table.name={ledger.NAME}", "")
    del first["events"][0]["table"]
    reseal(plain)
    return plain


def make_unsalted() -> Plain:
    """Return a copy for a spectator as if it were older than salts."""
    plain, old = export_plain(play(2).export()), make_nameless()["entries"][0]
    plain["entries"][0] = old
    for link in plain["entries"]:
        link.pop("salt", None)
    set_head(plain)
    return plain


def make_sound() -> dict[str, Plain]:
    """Return the logs without a fault."""
    return {
        "finished": export_plain(play().export()),
        "finished_nameless": make_nameless(),
        "public_finished": export_plain(play_public().export()),
        "public_went_sealed": export_plain(play_without_beacon().export()),
        "public_awaiting": export_plain(play_until_round().export(0)),
        "running_seat_0": export_plain(play(2).export(0)),
        "running_seat_1": export_plain(play(2).export(1)),
        "running_spectator": export_plain(play(2).export()),
        "running_unsalted": make_unsalted(),
    }


def work_out() -> Plain:
    """Return every step to the head of `finished`."""
    table = play()
    nonces = [seat.nonce for seat in table.table.seats]
    key = chance.derive_key(SEED, nonces)
    entries, head = [], log.GENESIS
    for entry in table.entries:
        body = canonical_json.encode(entry)
        digest = log.compute_digest(SEED, entry.seq, body)
        head = log.extend_head(head, digest)
        draws = [_work_out_draw(key, entry.seq, number, draw) for number, draw in enumerate(entry.draws)]
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


def _work_out_draw(key: bytes, entry: int, number: int, draw: chance.Draw) -> Plain:
    material = key + entry.to_bytes(8, "big") + number.to_bytes(4, "big")
    return {"label": draw.label, "size": draw.size, "material": material.hex(), "result": draw.result}


Break = Callable[[Plain], None]


def change_entry(number: int, with_seed: bool = True, **fields: Any) -> Break:
    """Return a change of an entry's fields, with digests that fit or not."""

    def break_it(plain: Plain) -> None:
        plain["entries"][number]["entry"].update(fields)
        if with_seed:
            reseal(plain)

    return break_it


def change_event(number: int, **fields: Any) -> Break:
    def break_it(plain: Plain) -> None:
        plain["entries"][number]["entry"]["events"][0].update(fields)
        reseal(plain)

    return break_it


def change_header(**fields: Any) -> Break:
    return lambda plain: plain.update(fields)


def change_link(number: int, **fields: Any) -> Break:
    return lambda plain: plain["entries"][number].update(fields)


def drop_entries(*numbers: int, sealed: bool = False) -> Break:
    def break_it(plain: Plain) -> None:
        plain["entries"] = [link for number, link in enumerate(plain["entries"]) if number not in numbers]
        reseal(plain) if sealed else set_head(plain)

    return break_it


def swap_entries(plain: Plain) -> None:
    entries = plain["entries"]
    entries[4], entries[5] = entries[5], entries[4]
    set_head(plain)


def change_draw(plain: Plain) -> None:
    plain["entries"][3]["entry"]["draws"][2][2] ^= 1
    reseal(plain)


def add_second_end(plain: Plain) -> None:
    plain["entries"].append(copy.deepcopy(plain["entries"][-1]))
    reseal(plain)


EARLY_DRAWS = [["die", 1, 0]]
NAMING_ENTRY = 3  # of a log with a beacon: it names a round
DRAWING_ENTRY = 4  # it draws by that round


def redraw(plain: Plain, key: bytes) -> None:
    """Compute the draws of the shuffle with this key, with digests that fit; the cards do not change."""
    entry = plain["entries"][DRAWING_ENTRY]["entry"]
    entry["draws"] = [
        [label, size, chance.compute_draw(key, DRAWING_ENTRY, place, size)]
        for place, (label, size, _) in enumerate(entry["draws"])
    ]
    reseal(plain)


def derive_table_key() -> bytes:
    return chance.derive_key(SEED, ["anna", "berta"])


def draw_by(number: int, signature: str, named: int | None = None) -> Break:
    """Return a change of the shuffle to another round or signature; and of the named round, if it is given."""

    def break_it(plain: Plain) -> None:
        entry = plain["entries"][DRAWING_ENTRY]["entry"]
        entry["move"] = f"round {number} {signature}"
        entry["events"][0] |= {"round": number, "signature": signature}
        if named is not None:
            plain["entries"][NAMING_ENTRY]["entry"]["events"][0]["round"] = named
        redraw(plain, chance.derive_round_key(derive_table_key(), signature))

    return break_it


def remove_round(plain: Plain) -> None:
    """Shuffle as at a table without a beacon, with no round."""
    del plain["entries"][NAMING_ENTRY]
    entry = plain["entries"][NAMING_ENTRY]["entry"]
    entry["move"] = "start"
    del entry["events"][0]
    reseal(plain)


def seal_without_agreement(plain: Plain) -> None:
    """Go on without the beacon, although only one player wants it."""
    entry = plain["entries"][DRAWING_ENTRY]["entry"]
    entry |= {"seat": 0, "move": "sealed"}
    entry["events"][:1] = [{"type": "table.SealAsked", "seat": 0}, {"type": "table.WentSealed"}]
    redraw(plain, derive_table_key())


def remove_beacon(plain: Plain) -> None:
    del plain["entries"][0]["entry"]["events"][0]["beacon"]
    reseal(plain)


ROUND = BEACON.find_next_round(1003)

# Changes of a finished log with a beacon.
PUBLIC_BREAKS: dict[str, tuple[int, Break]] = {
    "public_another_round": (DRAWING_ENTRY, draw_by(ROUND + 1, sign(ROUND + 1))),
    "public_later_round_named": (NAMING_ENTRY, draw_by(ROUND + 1, sign(ROUND + 1), named=ROUND + 1)),
    "public_earlier_round_named": (NAMING_ENTRY, draw_by(ROUND - 1, sign(ROUND - 1), named=ROUND - 1)),
    "public_another_signature": (DRAWING_ENTRY, draw_by(ROUND, sign(ROUND + 1))),
    "public_another_key": (DRAWING_ENTRY, draw_by(ROUND, sign(ROUND, Scalar.from_be_bytes_mod_order(b"another")))),
    "public_signature_in_capitals": (DRAWING_ENTRY, draw_by(ROUND, sign(ROUND).upper())),
    "public_no_point_of_the_curve": (DRAWING_ENTRY, draw_by(ROUND, "ab" * 48)),
    "public_round_missing": (NAMING_ENTRY, remove_round),
    "public_sealed_without_agreement": (DRAWING_ENTRY, seal_without_agreement),
    "public_beacon_taken_out": (NAMING_ENTRY, remove_beacon),
}

# Changes of a finished log, and the first entry with a fault.
BREAKS: dict[str, tuple[int, Break]] = {
    "cut_off": (4, drop_entries(5, 6, 7)),
    "cut_off_and_sealed": (4, drop_entries(5, 6, 7, sealed=True)),
    "entry_missing": (4, drop_entries(4)),
    "entries_swapped": (4, swap_entries),
    "something_after_the_end": (8, add_second_end),
    "sits_down_after_the_start": (5, lambda plain: sit_down_after_start(plain, Random(1))),
    "another_name": (0, change_header(table="u")),
    "another_game": (0, change_header(game="kaiser")),
    "another_format": (0, change_header(format="depesche-log-2")),
    "another_head": (7, change_header(head=log.GENESIS)),
    "another_commitment": (0, change_header(commitment="ab" * 32)),
    "another_seed": (0, change_header(seed="ab" * 32)),
    "seed_in_capitals": (0, change_header(seed=SEED.hex().upper())),
    "seed_kept_back": (0, change_header(seed=None)),
    "seed_beside_a_seat": (0, change_header(seat=1)),
    "unknown_field": (0, change_header(note="x")),
    "unknown_field_of_a_link": (4, change_link(4, note="x")),
    "unknown_field_of_an_entry": (4, change_entry(4, note="x")),
    "unknown_field_of_an_event": (1, change_event(1, note="x")),
    "default_written_out": (1, change_event(1, bot=False)),
    "not_whole_beside_the_seed": (4, change_link(4, whole=False)),
    "salt_beside_the_seed": (4, change_link(4, salt="ab" * 32)),
    "digest_in_capitals": (4, change_link(4, digest="AB" * 32)),
    "another_digest": (4, change_link(4, digest="ab" * 32)),
    "draws_before_the_start": (1, change_entry(1, draws=EARLY_DRAWS)),
    "draws_for_the_table": (0, change_entry(0, draws=EARLY_DRAWS)),
    "another_draw": (3, change_draw),
    "another_nonce": (1, change_event(1, nonce="anna")),
    "another_seat_sits": (1, change_event(1, seat=1)),
    "another_edition": (5, change_entry(5, edition=2)),
    "dated_before_the_last_one": (5, change_entry(5, at=1_003)),
    "seat_of_the_copy_missing": (0, lambda plain: plain.pop("seat")),
    "two_blanks_in_a_move": (1, change_entry(1, move="sit  0 émile")),
    "a_seat_that_is_not_there": (4, change_entry(4, seat=7)),
    "a_seat_below_nought": (4, change_entry(4, seat=-1)),
    "time_as_a_text": (4, change_entry(4, at="1004")),
    "events_missing": (4, change_entry(4, events=[])),
    "option_not_ordered": (0, change_event(0, options={"cards": 3})),
}


def make_broken_texts() -> dict[str, tuple[int, str]]:
    """Return broken texts that cannot be made from plain values, and broken copies without a seed."""
    finished = json.dumps(make_sound()["finished"], ensure_ascii=False)
    mine, salted = make_sound()["running_seat_0"], make_sound()["running_seat_0"]
    mine["entries"][3]["entry"]["draws"] = EARLY_DRAWS
    salted["entries"][1]["entry"]["at"] += 1
    bare = make_sound()["running_seat_0"]
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


def make_files() -> dict[str, str]:
    """Return the content of every file by its name."""
    contents = {f"sound/{name}.json": _format(plain) for name, plain in make_sound().items()}
    index = [{"file": name, "sound": True} for name in contents]
    break_it = {}
    for name, (seq, break_log) in BREAKS.items():
        plain = copy.deepcopy(make_sound()["finished"])
        break_log(plain)
        break_it[name] = (seq, _format(plain))
    for name, (seq, break_log) in PUBLIC_BREAKS.items():
        plain = copy.deepcopy(make_sound()["public_finished"])
        break_log(plain)
        break_it[name] = (seq, _format(plain))
    for name, (seq, text) in (break_it | make_broken_texts()).items():
        contents[f"broken/{name}.json"] = text
        index.append({"file": f"broken/{name}.json", "sound": False, "entry": seq})
    contents["finished_worked_out.json"] = json.dumps(work_out(), ensure_ascii=False, indent=1) + "\n"
    contents["vectors.json"] = json.dumps(index, indent=1) + "\n"
    return contents


def _format(plain: Plain) -> str:
    return json.dumps(plain, ensure_ascii=False).replace('{"digest"', '\n{"digest"') + "\n"


def main() -> None:
    for name, text in make_files().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
