"""Mutants: forgeries of a log by a person who has the file, and for some of them also its seed.

Each is a name and the text of a file that is not what was exported. None is the work of a forger who seals
another whole game with the seed: such a log proves itself, and only receipts tell.
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
STRANGE: tuple[Any, ...] = (None, True, False, 0, 1, -1, 7, 2**40, "", "x", "start", "ff" * 32, [], {}, ["x"], {"x": 1})


def mutants(text: bytes, random: Random, count: int) -> Iterator[tuple[str, str]]:
    """So many mutants of a log, every kind in turn."""
    plain = json.loads(text)
    kinds = [kind for kind in KINDS if _fits(kind, plain)]
    made = 0
    while made < count:
        kind = kinds[made % len(kinds)]
        mutant = copy.deepcopy(plain)
        if kind in TEXTS:
            written = TEXTS[kind](json.dumps(mutant, ensure_ascii=False), random)
        else:
            KINDS[kind](mutant, random)
            written = json.dumps(mutant, ensure_ascii=False)
        made += 1
        if kind in TEXTS or mutant != plain:
            yield kind, written


def _fits(kind: str, plain: Plain) -> bool:
    """A name that is sealed nowhere can be changed unseen; the specification says so. Only public luck has rounds."""
    opened = plain["entries"][0]["entry"]["events"][0]
    return (kind != "renamed" or "table" in opened) and (not kind.startswith("round_") or "beacon" in opened)


def any_place(plain: Plain, random: Random) -> tuple[Any, Any]:
    """Some value inside: what holds it, and under which key."""
    spot: Any = random.choice(plain["entries"])
    key = random.choice(["digest", "whole", "entry", "entry", "entry", "entry"])
    while isinstance(spot[key], dict | list) and spot[key] and random.random() < 0.9:
        spot = spot[key]
        key = random.choice(sorted(spot)) if isinstance(spot, dict) else random.randrange(len(spot))
    return spot, key


def field_changed(plain: Plain, random: Random) -> None:
    spot, key = any_place(plain, random)
    old = spot[key]
    other: list[Any] = [value for value in STRANGE if value != old or type(value) is not type(old)]
    other += [old + 1, old - 1] if type(old) is int else [old[1:], old.upper()] if isinstance(old, str) and old else []
    spot[key] = random.choice(other)


def field_dropped(plain: Plain, random: Random) -> None:
    spot, key = any_place(plain, random)
    del spot[key]


def field_added(plain: Plain, random: Random) -> None:
    link = random.choice(plain["entries"])
    inside = [plain, link, link["entry"], *link["entry"]["events"]]
    random.choice(inside)[random.choice(["note", "at2", "bot", "salt", "clock", "nonce"])] = random.choice(
        ["x", 1, False]
    )


def header_changed(plain: Plain, random: Random) -> None:
    key = random.choice(["game", "commitment", "head", "seed", "seat", "format"])
    old = plain.get(key)
    other = ["kaiser", "highcard", "ab" * 32, 0, 1, None] + ([old.upper(), old[:-1]] if isinstance(old, str) else [])
    plain[key] = random.choice([value for value in other if value != old])


def renamed(plain: Plain, random: Random) -> None:
    plain["table"] = random.choice(["u", "t2", "T", ""])


def whole_flag(plain: Plain, random: Random) -> None:
    random.choice(plain["entries"])["whole"] = False


def dropped(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(len(plain["entries"]))]


def doubled(plain: Plain, random: Random) -> None:
    place = random.randrange(len(plain["entries"]))
    plain["entries"].insert(place, copy.deepcopy(plain["entries"][place]))


def swapped(plain: Plain, random: Random) -> None:
    one, other = random.sample(range(len(plain["entries"])), 2)
    entries = plain["entries"]
    entries[one], entries[other] = entries[other], entries[one]


def cut(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(len(plain["entries"])) :]


def rechained(mutation: Mutation) -> Mutation:
    """The same, with the entries numbered anew and a head that fits."""

    def forged(plain: Plain, random: Random) -> None:
        mutation(plain, random)
        for number, link in enumerate(plain["entries"]):
            if isinstance(link.get("entry"), dict):
                link["entry"]["seq"] = number
        chain(plain)

    return forged


def chain(plain: Plain) -> None:
    try:
        plain["head"] = log.compute_head(link["digest"] for link in plain["entries"])
    except (KeyError, TypeError, ValueError):
        plain["head"] = log.GENESIS


def resealed(plain: Plain, first: int = 0) -> None:
    """A forger with the seed: every digest from here on, and the head, fit."""
    seed = bytes.fromhex(plain["seed"])
    for number, link in enumerate(plain["entries"][first:], first):
        link["entry"]["seq"] = number
        link["digest"] = log.digest(seed, number, canonical_json.encode(link["entry"]))
    chain(plain)


def start_of(plain: Plain) -> int:
    return next(n for n, link in enumerate(plain["entries"]) if link["entry"]["move"] == "start")


def drawing(plain: Plain) -> list[Plain]:
    return [link["entry"] for link in plain["entries"] if any(draw[1] > 1 for draw in link["entry"]["draws"])]


def drawn_otherwise(plain: Plain, random: Random) -> None:
    """Another draw, and every seal made to fit."""
    entry = random.choice(drawing(plain))
    draw = random.choice([draw for draw in entry["draws"] if draw[1] > 1])
    draw[2] = (draw[2] + random.randrange(1, draw[1])) % draw[1]
    resealed(plain)


def drawn_anew(plain: Plain, random: Random) -> None:
    """A player sits down after the start, and all later draws follow from his word."""
    after = random.randrange(start_of(plain) + 1, len(plain["entries"]))
    words = _words(plain)
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
    resealed(plain)


def another_nonce(plain: Plain, random: Random) -> None:
    """Another word for the dice: one that gives other dice, or the log would be as good as the honest one."""
    link = plain["entries"][random.randrange(1, start_of(plain))]
    verb, seat, _ = link["entry"]["move"].split()
    words = _words(plain)
    for number in range(100):
        words[int(seat)] = f"mine{number}"
        if _drawn(plain, words) != [entry["draws"] for entry in drawing(plain)]:
            break
    link["entry"]["move"] = f"{verb} {seat} {words[int(seat)]}"
    link["entry"]["events"][0]["nonce"] = words[int(seat)]
    resealed(plain)


def _words(plain: Plain) -> dict[int, str]:
    """The nonce of each seat."""
    seated = [link["entry"]["move"].split() for link in plain["entries"][1 : start_of(plain)]]
    return {int(seat): nonce for verb, seat, nonce in seated if verb in ("sit", "bot")}


def _drawn(plain: Plain, words: dict[int, str]) -> list[list[Any]]:
    """The draws of all entries that draw, had these been the nonces."""
    key = chance.derive_key(bytes.fromhex(plain["seed"]), [words[seat] for seat in sorted(words)])
    return [
        [
            [label, size, chance.compute_draw(key, entry["seq"], at, size)]
            for at, (label, size, _) in enumerate(entry["draws"])
        ]
        for entry in drawing(plain)
    ]


def cut_and_sealed(plain: Plain, random: Random) -> None:
    del plain["entries"][random.randrange(1, len(plain["entries"])) :]
    resealed(plain)


def drawn_early(plain: Plain, random: Random) -> None:
    entry = plain["entries"][random.randrange(start_of(plain))]["entry"]
    entry["draws"].append(["die", 1, 0])
    resealed(plain)


def at_the_table(plain: Plain, random: Random) -> None:
    """An event of the table itself is added, dropped or changed, and everything sealed anew."""
    own = [e for link in plain["entries"] for e in link["entry"]["events"] if e["type"].startswith("table.")]
    link, event = random.choice(plain["entries"]), random.choice(own)
    events = link["entry"]["events"]
    if random.random() < 0.5:
        events.insert(random.randrange(len(events) + 1), copy.deepcopy(event))
    elif "seat" in event:
        event["seat"] += 1
    else:
        event["note"] = 1
    resealed(plain)


def resealed_field(plain: Plain, random: Random) -> None:
    """A field that no entry has, sealed with the seed."""
    link = random.choice(plain["entries"])
    link["entry"]["note"] = "x"
    resealed(plain)


def reseated(plain: Plain, random: Random) -> None:
    """The entries of two seats change hands."""
    for link in plain["entries"]:
        if link["entry"]["seat"] in (0, 1):
            link["entry"]["seat"] = 1 - link["entry"]["seat"]
    if random.random() < 0.5:
        chain(plain)


def edition(plain: Plain, random: Random) -> None:
    random.choice(plain["entries"][1:])["entry"]["edition"] += 1
    resealed(plain)


def seedless(plain: Plain, random: Random) -> None:
    """The finished log is passed off as one of a running table, whose entries nobody can check."""
    plain["seed"] = None
    plain["seat"] = random.choice([None, 0])
    random.choice(plain["entries"])["entry"]["at"] += 1


def _rounds(plain: Plain) -> list[tuple[Plain, Plain]]:
    """Each entry that names a round, with the one that draws by it."""
    entries = [link["entry"] for link in plain["entries"]]
    named = {e["events"][0]["round"]: e for e in entries if e["events"][0]["type"] == "table.RoundNamed"}
    drawn = [e for e in entries if e["events"][0]["type"] == "table.RoundDrawn"]
    return [(named[entry["events"][0]["round"]], entry) for entry in drawn]


def _drawn_by(plain: Plain, entry: Plain, number: int, signature: str) -> None:
    """The entry as if it had drawn by this round, with all draws and seals made to fit."""
    entry["move"] = f"round {number} {signature}"
    entry["events"][0] |= {"round": number, "signature": signature}
    words = _words(plain)
    key = chance.derive_key(bytes.fromhex(plain["seed"]), [words[seat] for seat in sorted(words)])
    if len(signature) == 96:
        lit = chance.derive_round_key(key, signature)
        entry["draws"] = [
            [label, size, chance.compute_draw(lit, entry["seq"], place, size)]
            for place, (label, size, _) in enumerate(entry["draws"])
        ]
    resealed(plain)


def round_later(plain: Plain, random: Random) -> None:
    """A later round, whose signature everybody can have, in the hope that it draws better; the name too, or not."""
    named, drawn = random.choice(_rounds(plain))
    number = drawn["events"][0]["round"] + random.randrange(1, 5)
    if random.random() < 0.5:
        named["events"][0]["round"] = number
    _drawn_by(plain, drawn, number, sign(number))


def round_forged(plain: Plain, random: Random) -> None:
    """A signature that the beacon never made, out of which the wished draws come."""
    _, drawn = random.choice(_rounds(plain))
    signature = random.choice([sign(random.randrange(1, 10**6)), random.randbytes(48).hex(), "", "ff" * 48])
    _drawn_by(plain, drawn, drawn["events"][0]["round"], signature)


def round_left_out(plain: Plain, random: Random) -> None:
    """The entry that names a round is gone, as if nobody had had to wait."""
    named, _ = random.choice(_rounds(plain))
    del plain["entries"][named["seq"]]
    resealed(plain)


def round_sealed(plain: Plain, random: Random) -> None:
    """The table goes on without the beacon, and not all have agreed to that."""
    named, drawn = random.choice(_rounds(plain))
    seat = random.randrange(2)
    drawn |= {"seat": seat, "move": random.choice(["sealed", "agree"])}
    asked = {"type": random.choice(["table.SealAsked", "table.SealAgreed"]), "seat": seat}
    went = {"type": "table.WentSealed"} | ({} if named["seat"] is None else {"seat": named["seat"]})
    drawn["events"][:1] = [asked, went]
    resealed(plain)


def twice(text: str, random: Random) -> str:
    """A field told twice: which of them counts, readers disagree."""
    place = random.choice([at for at in range(len(text)) if text.startswith('"seq": ', at)])
    return f'{text[:place]}"seq": 0, {text[place:]}'


def fraction(text: str, random: Random) -> str:
    place = random.choice([at for at in range(len(text)) if text.startswith('"at": ', at)])
    end = text.index(",", place)
    return f"{text[:end]}{random.choice(['.0', 'e0'])}{text[end:]}"


def trailing(text: str, random: Random) -> str:
    return text + random.choice(["{}", "x", "]"])


PLAIN_KINDS: tuple[Mutation, ...] = (field_changed, field_dropped, field_added, dropped, doubled, swapped, cut)
KINDS: dict[str, Mutation] = {kind.__name__: kind for kind in PLAIN_KINDS}
KINDS |= {f"{kind.__name__}_rechained": rechained(kind) for kind in PLAIN_KINDS}
KINDS |= {
    kind.__name__: kind
    for kind in (
        header_changed,
        renamed,
        whole_flag,
        rechained(whole_flag),
        drawn_otherwise,
        drawn_anew,
        another_nonce,
        cut_and_sealed,
        drawn_early,
        at_the_table,
        resealed_field,
        reseated,
        edition,
        seedless,
        round_later,
        round_forged,
        round_left_out,
        round_sealed,
    )
}
TEXTS: dict[str, Callable[[str, Random], str]] = {"twice": twice, "fraction": fraction, "trailing": trailing}
KINDS |= dict.fromkeys(TEXTS, dropped)
