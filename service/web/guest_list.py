"""The box for players of the form for a new table: addresses in any form, bots and free seats become guests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from msgspec.structs import replace

from engine.refusal import Refused
from service.people import register
from service.tables.opening import Invitee, Strength
from service.text.languages import LANGUAGES, translate

MAX_CHARS = 2_000
# Words in the form of refusals, which can be translated into any language.
BOT, FREE_SEAT = Refused("bot"), Refused("free seat")
LEVELS = {"easy": Refused("easy"), "normal": Refused("normal"), "strong": Refused("strong")}
PART = re.compile(r'(?:"[^"]*"|[^",;\n])+')  # a comma between quotes belongs to a name
ADDRESS = re.compile(r'[^\s<>()\[\]",;:]+@[^\s<>()\[\]",;:]+')
ENDINGS = ("e", "er", "ne")  # of adjectives
AROUND_NAME = " \t\r<>()[]\"'.:-*•·"


def parse(text: str) -> list[Invitee]:
    """Parse the guests that a person typed or pasted; raise Refused for words that name no guest."""
    guests = (guest for part in PART.findall(text[:MAX_CHARS]) for guest in _parse_part(part))
    return list(_distinguish(list(_drop_repeats(guests))))


def suggest_name(address: str) -> str:
    """Make a name of the part of an address before the @: “kim.smith@example.org” gives “Kim Smith”."""
    words = re.split(r"[._+-]+", address.partition("@")[0])
    name = " ".join(word.capitalize() for word in words if word)[: register.MAX_NAME_CHARS].strip()
    return name if name and register.is_name(name) else "?"


def append_line(text: str, line: str) -> str:
    """Add a line to what is in the box."""
    return "\n".join(filter(None, [text.rstrip(), line]))


def _parse_part(part: str) -> Iterator[Invitee]:
    """Parse what is between two commas or line ends: addresses with their names, a bot, or a free seat."""
    part = part.replace("mailto:", " ")
    matches = list(ADDRESS.finditer(part))
    if not matches:
        yield from _parse_words(part.strip(AROUND_NAME))
        return
    begins = [0, *(match.end() for match in matches)]
    rest = part[begins[-1] :]
    for begin, match in zip(begins, matches, strict=False):
        name = part[begin : match.start()].strip(AROUND_NAME)
        yield _make_guest(match[0].strip("'."), name, rest.strip(AROUND_NAME) if match is matches[-1] else "")


def _make_guest(address: str, name: str, rest: str) -> Invitee:
    """A person; what comes after the address is the language of the letters, or else the name."""
    language = _list_languages().get(rest.casefold(), "")
    return Invitee(name or ("" if language else rest), address, who="person", language=language)


def _parse_words(words: str) -> Iterator[Invitee]:
    """Parse words without an address."""
    if not words:
        return
    if words.casefold() in _list_translations(FREE_SEAT):
        yield Invitee("", who="anybody")
        return
    bots, split = _list_translations(BOT), re.split(r"[\s()]+", words)
    if not bots.intersection(map(str.casefold, split)):
        raise Refused("Please add an e-mail address for “{name}”, such as: Kim <kim@example.org>", name=words[:40])
    name = " ".join(word for word in split if word.casefold() not in bots and not _find_level(word)).strip()
    yield Invitee(name, who="bot", level=next(filter(None, map(_find_level, split)), ""))


def _find_level(word: str) -> Strength:
    """Return the level that a word of any language means, also with an ending: “starker” means strong."""
    folded = word.casefold()
    return next(
        (level for one, level in _list_levels().items() if folded in (one, *(one + end for end in ENDINGS))), ""
    )


def _drop_repeats(guests: Iterable[Invitee]) -> Iterator[Invitee]:
    """Keep one guest of each address, with the name if one of them has it; keep all bots and free seats."""
    seen = dict[str, Invitee]()
    for number, guest in enumerate(guests):
        key = guest.address.casefold() or str(number)
        if key not in seen or not seen[key].name:
            seen[key] = guest
    yield from seen.values()


def _distinguish(guests: Sequence[Invitee]) -> Iterator[Invitee]:
    """Number the bots, and give a unique name to each person without a name."""
    names, bots = {register.fold_name(one.name) for one in guests}, 0
    for guest in guests:
        bots += guest.who == "bot"
        if guest.name or guest.who == "anybody":
            yield guest
            continue
        name = f"Bot {bots}" if guest.who == "bot" else suggest_name(guest.address)
        candidates = (name, *(f"{name} {number}" for number in range(2, MAX_CHARS)))
        unique = next(one for one in candidates if register.fold_name(one) not in names)
        names.add(register.fold_name(unique))
        yield replace(guest, name=unique)


@cache
def _list_translations(word: Refused) -> frozenset[str]:
    """List a word in all languages; each is read in the form of every language."""
    return frozenset(translate(language, word).casefold() for language in LANGUAGES)


@cache
def _list_levels() -> dict[str, Strength]:
    """List the words for the levels of bots in all languages."""
    levels: tuple[Strength, ...] = ("easy", "normal", "strong")
    return {translate(language, LEVELS[level]).casefold(): level for level in levels for language in LANGUAGES}


@cache
def _list_languages() -> dict[str, str]:
    """List the codes and names of the languages."""
    return {word.casefold(): code for code, name in LANGUAGES.items() for word in (code, name)}
