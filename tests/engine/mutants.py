"""Mutants: forgeries of a log by a person who has the file, and for some of them also its seed.

Each mutant is a name and the text of a file that differs from the export. No mutant is another whole game, sealed with
the seed: that log would prove itself, and only receipts reveal it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from engine import canonical_json, chance, log
from tests.beacons import sign

Plain = dict[str, Any]
Mutation = Callable[[Plain, Random], None]
OTHER_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    2**40,
    "",
    "x",
    "start",
    "ff" * 32,
    [],
    {},
    ["x"],
    {"x": 1},
)


def make_mutants(text: bytes, random: Random, count: int) -> Iterator[tuple[str, str]]:
    """Yield `count` mutants of a log, every kind in turn."""
    plain = json.loads(text)
    kinds = [kind for kind in KINDS if _can_make(kind, plain)]
    made = 0
    while made < count:
        kind = kinds[made % len(kinds)]
        mutant = copy.deepcopy(plain)
        if kind in TEXT_KINDS:
            content = TEXT_KINDS[kind](json.dumps(mutant, ensure_ascii=False), random)
        else:
            KINDS[kind](mutant, random)
            content = json.dumps(mutant, ensure_ascii=False)
        made += 1
        if kind in TEXT_KINDS or mutant != plain:
            yield kind, content


def _can_make(kind: str, plain: Plain) -> bool:
    """Whether a mutant of this kind differs in a way that a verifier must find; only public draws have rounds.

    A name that is not sealed can be changed unnoticed, as the specification says.
    """
    opened = plain["entries"][0]["entry"]["events"][0]
    return (kind != "rename_table" or "table" in opened) and (not kind.endswith("_round") or "beacon" in opened)


def pick_place(plain: Plain, random: Random) -> tuple[Any, Any]:
    """Return a container inside the log, and the key of a value in it."""
    container: Any = random.choice(plain["entries"])
    key = random.choice(["digest", "whole", "entry", "entry", "entry", "entry"])
    while isinstance(container[key], dict | list) and container[key] and random.random() < 0.9:
        container = container[key]
        key = random.choice(sorted(container)) if isinstance(container, dict) else random.randrange(len(container))
    return container, key


def change_field(plain: Plain, random: Random) -> None:
    container, key = pick_place(plain, random)
    old = container[key]
    other: list[Any] = [value for value in OTHER_VALUES if value != old or type(value) is not type(old)]
    other += [old + 1, old - 1] if type(old) is int else [old[1:], old.upper()] if isinstance(old, str) and old else []
    container[key] = random.choice(other)


def drop_field(plain: Plain, random: Random) -> None:
    container, key = pick_place(plain, random)
    del container[key]


def add_field(plain: Plain, random: Random) -> None:
    link = random.choice(plain["entries"])
    inside = [plain, link, link["entry"], *link["entry"]["events"]]
    random.choice(inside)[random.choice(["note", "at2", "bot", "salt", "clock", "nonce"])] = random.choice(
        ["x", 1, False]
    )


def change_header(plain: Plain, random: Random) -> None:
    key = random.choice(["game", "commitment", "head", "seed", "seat", "format"])
    old = plain.get(key)
    other = ["kaiser", "highcard", "ab" * 32, 0, 1, None] + ([old.upper(), old[:-1]] if isinstance(old, str) else [])
    plain[key] = random.choice([value for value in other if value != old])


def rename_table(plain: Plain, random: Random) -> None:
    plain["table"] = random.choice(["u", "t2", "T", ""])


def clear_whole(plain: Plain, random: Random) -> None:
    random.choice(plain["entries"])["whole"] = False


def drop_entry(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(len(plain["entries"]))]


def double_entry(plain: Plain, random: Random) -> None:
    place = random.randrange(len(plain["entries"]))
    plain["entries"].insert(place, copy.deepcopy(plain["entries"][place]))


def swap_entries(plain: Plain, random: Random) -> None:
    one, other = random.sample(range(len(plain["entries"])), 2)
    entries = plain["entries"]
    entries[one], entries[other] = entries[other], entries[one]


def cut_log(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(len(plain["entries"])) :]


def make_rechained(mutation: Mutation) -> Mutation:
    """Return the same mutation with new numbers of entries and a head that fits."""

    def mutate_and_set_head(plain: Plain, random: Random) -> None:
        mutation(plain, random)
        for number, link in enumerate(plain["entries"]):
            if isinstance(link.get("entry"), dict):
                link["entry"]["seq"] = number
        set_head(plain)

    return mutate_and_set_head


def set_head(plain: Plain) -> None:
    try:
        plain["head"] = log.compute_head(link["digest"] for link in plain["entries"])
    except (KeyError, TypeError, ValueError):
        plain["head"] = log.GENESIS


def reseal(plain: Plain, first: int = 0) -> None:
    """Compute the digests from entry `first` on, and the head, as a forger with the seed can."""
    seed = bytes.fromhex(plain["seed"])
    for number, link in enumerate(plain["entries"][first:], first):
        link["entry"]["seq"] = number
        link["digest"] = log.compute_digest(seed, number, canonical_json.encode(link["entry"]))
    set_head(plain)


def find_start(plain: Plain) -> int:
    return next(n for n, link in enumerate(plain["entries"]) if link["entry"]["move"] == "start")


def list_drawing_entries(plain: Plain) -> list[Plain]:
    return [link["entry"] for link in plain["entries"] if any(draw[1] > 1 for draw in link["entry"]["draws"])]


def change_draw(plain: Plain, random: Random) -> None:
    """Change a draw, with digests that fit."""
    entry = random.choice(list_drawing_entries(plain))
    draw = random.choice([draw for draw in entry["draws"] if draw[1] > 1])
    draw[2] = (draw[2] + random.randrange(1, draw[1])) % draw[1]
    reseal(plain)


def sit_down_after_start(plain: Plain, random: Random) -> None:
    """Let a player sit down after the start, with later draws that follow from the new nonce."""
    after = random.randrange(find_start(plain) + 1, len(plain["entries"]))
    words = _list_nonces(plain)
    seat = random.randrange(len(words))
    words[seat] = "again"
    late = {"seq": 0, "at": 1, "seat": None, "move": f"sit {seat} again", "draws": [], "edition": 1}
    late["edition"] = plain["entries"][0]["entry"]["edition"]
    late["events"] = [{"type": "table.Sat", "seat": seat, "nonce": "again"}]
    plain["entries"].insert(after, {"digest": "", "whole": True, "entry": late})
    key = chance.derive_key(bytes.fromhex(plain["seed"]), [words[seat] for seat in sorted(words)])
    for number, link in enumerate(plain["entries"][after:], after):
        link["entry"]["draws"] = [
            [label, size, chance.compute_draw(key, number, place, size)]
            for place, (label, size, _) in enumerate(link["entry"]["draws"])
        ]
    reseal(plain)


def change_nonce(plain: Plain, random: Random) -> None:
    """Change a nonce to one with other draws; otherwise the log would be as good as the honest one."""
    link = plain["entries"][random.randrange(1, find_start(plain))]
    verb, seat, _ = link["entry"]["move"].split()
    words = _list_nonces(plain)
    for number in range(100):
        words[int(seat)] = f"mine{number}"
        if _compute_draws(plain, words) != [entry["draws"] for entry in list_drawing_entries(plain)]:
            break
    link["entry"]["move"] = f"{verb} {seat} {words[int(seat)]}"
    link["entry"]["events"][0]["nonce"] = words[int(seat)]
    reseal(plain)


def _list_nonces(plain: Plain) -> dict[int, str]:
    """Return the nonce of each seat."""
    seated = [link["entry"]["move"].split() for link in plain["entries"][1 : find_start(plain)]]
    return {int(seat): nonce for verb, seat, nonce in seated if verb in ("sit", "bot")}


def _compute_draws(plain: Plain, words: dict[int, str]) -> list[list[Any]]:
    """Return the draws of all entries that draw, computed with these nonces."""
    key = chance.derive_key(bytes.fromhex(plain["seed"]), [words[seat] for seat in sorted(words)])
    return [
        [
            [label, size, chance.compute_draw(key, entry["seq"], at, size)]
            for at, (label, size, _) in enumerate(entry["draws"])
        ]
        for entry in list_drawing_entries(plain)
    ]


def cut_and_reseal(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(1, len(plain["entries"])) :]
    reseal(plain)


def draw_before_start(plain: Plain, random: Random) -> None:
    entry = plain["entries"][random.randrange(find_start(plain))]["entry"]
    entry["draws"].append(["die", 1, 0])
    reseal(plain)


def change_table_event(plain: Plain, random: Random) -> None:
    """Add or change an event of the table itself, with digests that fit."""
    own = [e for link in plain["entries"] for e in link["entry"]["events"] if e["type"].startswith("table.")]
    link, event = random.choice(plain["entries"]), random.choice(own)
    events = link["entry"]["events"]
    if random.random() < 0.5:
        events.insert(random.randrange(len(events) + 1), copy.deepcopy(event))
    elif "seat" in event:
        event["seat"] += 1
    else:
        event["note"] = 1
    reseal(plain)


def set_time_back(plain: Plain, random: Random) -> None:
    """Date an entry before the one that it follows, with digests that fit."""
    number = random.randrange(1, len(plain["entries"]))
    plain["entries"][number]["entry"]["at"] = plain["entries"][number - 1]["entry"]["at"] - random.randrange(1, 900)
    reseal(plain)


def drop_header(plain: Plain, random: Random) -> None:
    """Remove a field of the whole log."""
    del plain[random.choice(sorted(plain))]


def add_field_and_reseal(plain: Plain, random: Random) -> None:
    """Add an unknown field to an entry, with digests that fit."""
    link = random.choice(plain["entries"])
    link["entry"]["note"] = "x"
    reseal(plain)


def exchange_seats(plain: Plain, random: Random) -> None:
    """Exchange the seats of all entries of two seats."""
    for link in plain["entries"]:
        if link["entry"]["seat"] in (0, 1):
            link["entry"]["seat"] = 1 - link["entry"]["seat"]
    if random.random() < 0.5:
        set_head(plain)


def change_edition(plain: Plain, random: Random) -> None:
    random.choice(plain["entries"][1:])["entry"]["edition"] += 1
    reseal(plain)


def remove_seed(plain: Plain, random: Random) -> None:
    """Present a finished log as one of a running table, whose entries cannot be checked."""
    plain["seed"] = None
    plain["seat"] = random.choice([None, 0])
    random.choice(plain["entries"])["entry"]["at"] += 1


def _list_rounds(plain: Plain) -> list[tuple[Plain, Plain]]:
    """Return each entry that names a round, with the entry that draws by it."""
    entries = [link["entry"] for link in plain["entries"]]
    named = {e["events"][0]["round"]: e for e in entries if e["events"][0]["type"] == "table.RoundNamed"}
    drawn = [e for e in entries if e["events"][0]["type"] == "table.RoundDrawn"]
    return [(named[entry["events"][0]["round"]], entry) for entry in drawn]


def _draw_by(plain: Plain, entry: Plain, number: int, signature: str) -> None:
    """Change the entry as if it drew by this round, with draws and digests that fit."""
    entry["move"] = f"round {number} {signature}"
    entry["events"][0] |= {"round": number, "signature": signature}
    words = _list_nonces(plain)
    key = chance.derive_key(bytes.fromhex(plain["seed"]), [words[seat] for seat in sorted(words)])
    if len(signature) == 96:
        round_key = chance.derive_round_key(key, signature)
        entry["draws"] = [
            [label, size, chance.compute_draw(round_key, entry["seq"], place, size)]
            for place, (label, size, _) in enumerate(entry["draws"])
        ]
    reseal(plain)


def use_later_round(plain: Plain, random: Random) -> None:
    """Draw by a later round, whose signature is public; name it in the first entry too, or not."""
    named, drawn = random.choice(_list_rounds(plain))
    number = drawn["events"][0]["round"] + random.randrange(1, 5)
    if random.random() < 0.5:
        named["events"][0]["round"] = number
    _draw_by(plain, drawn, number, sign(number))


def forge_round(plain: Plain, random: Random) -> None:
    """Draw by a signature that the beacon never made."""
    _, drawn = random.choice(_list_rounds(plain))
    signature = random.choice([sign(random.randrange(1, 10**6)), random.randbytes(48).hex(), "", "ff" * 48])
    _draw_by(plain, drawn, drawn["events"][0]["round"], signature)


def remove_round(plain: Plain, random: Random) -> None:
    """Remove the entry that names a round."""
    named, _ = random.choice(_list_rounds(plain))
    del plain["entries"][named["seq"]]
    reseal(plain)


def replace_round(plain: Plain, random: Random) -> None:
    """Go on without the beacon, although not all players have agreed."""
    named, drawn = random.choice(_list_rounds(plain))
    seat = random.randrange(2)
    drawn |= {"seat": seat, "move": random.choice(["sealed", "agree"])}
    agreement = {"type": random.choice(["table.SealAsked", "table.SealAgreed"]), "seat": seat}
    went = {"type": "table.WentSealed"} | ({} if named["seat"] is None else {"seat": named["seat"]})
    drawn["events"][:1] = [agreement, went]
    reseal(plain)


def repeat_field(text: str, random: Random) -> str:
    """Write a field twice: programs disagree which of them counts."""
    place = random.choice([at for at in range(len(text)) if text.startswith('"seq": ', at)])
    return f'{text[:place]}"seq": 0, {text[place:]}'


def add_fraction(text: str, random: Random) -> str:
    place = random.choice([at for at in range(len(text)) if text.startswith('"at": ', at)])
    end = text.index(",", place)
    return f"{text[:end]}{random.choice(['.0', 'e0'])}{text[end:]}"


def add_trailing_text(text: str, random: Random) -> str:
    return text + random.choice(["{}", "x", "]"])


PLAIN_KINDS: tuple[Mutation, ...] = (
    change_field,
    drop_field,
    add_field,
    drop_entry,
    double_entry,
    swap_entries,
    cut_log,
)
KINDS: dict[str, Mutation] = {kind.__name__: kind for kind in PLAIN_KINDS}
KINDS |= {f"{kind.__name__}_rechained": make_rechained(kind) for kind in PLAIN_KINDS}
KINDS |= {
    kind.__name__: kind
    for kind in (
        change_header,
        rename_table,
        clear_whole,
        make_rechained(clear_whole),
        change_draw,
        sit_down_after_start,
        change_nonce,
        cut_and_reseal,
        draw_before_start,
        change_table_event,
        add_field_and_reseal,
        exchange_seats,
        change_edition,
        set_time_back,
        drop_header,
        remove_seed,
        use_later_round,
        forge_round,
        remove_round,
        replace_round,
    )
}
TEXT_KINDS: dict[str, Callable[[str, Random], str]] = {
    "twice": repeat_field,
    "fraction": add_fraction,
    "trailing": add_trailing_text,
}
KINDS |= dict.fromkeys(TEXT_KINDS, drop_entry)
