"""Reads the box for players in the form for a new table: addresses in any form, bots, and free seats."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache

from msgspec.structs import replace

from engine.refusal import Refused
from service.people import register
from service.tables.opening import Invitee, Strength
from service.text.languages import LANGUAGES, Sentence, translate

MAX_CHARS = 2_000
MAX_QUOTED_CHARS = 40  # of words that a refusal repeats
BOT, FREE_SEAT = Sentence("bot"), Sentence("free seat")
LEVELS: dict[Strength, Sentence] = {
    "easy": Sentence("easy"),
    "normal": Sentence("normal"),
    "strong": Sentence("strong"),
}
PART = re.compile(r'(?:"[^"]*"|[^",;\n])+')  # a comma between quotes belongs to a name
ADDRESS = re.compile(r'[^\s<>()\[\]",;:]+@[^\s<>()\[\]",;:]+')
ENDINGS = ("", "e", "er", "ne")  # of adjectives
AROUND_NAME = " \t\r<>()[]\"'.:-*•·"


def parse(text: str) -> list[Invitee]:
    """Parse the guests that a person typed or pasted; raise Refused for words that name no guest."""
    guests = (guest for part in PART.findall(text[:MAX_CHARS]) for guest in _parse_part(part))
    return list(_distinguish(list(_drop_repeats(guests))))


def suggest_name(address: str) -> str:
    """Make a name of an address: “kim.smith@example.org” gives “Kim Smith”; “?” if that would be no name."""
    words = re.split(r"[._+-]+", address.partition("@")[0])
    name = " ".join(word.capitalize() for word in words if word)[: register.MAX_NAME_CHARS].strip()
    return name if name and register.is_name(name) else "?"


def append_line(text: str, line: str) -> str:
    """Add a line to the text in the box, which may be empty."""
    text = text.rstrip()
    return f"{text}\n{line}" if text else line


def _parse_part(part: str) -> Iterator[Invitee]:
    """Parse what is between two commas or line ends: addresses with their names, a bot, or a free seat."""
    part = part.replace("mailto:", " ")
    matches = list(ADDRESS.finditer(part))
    if not matches:
        yield from _parse_words(part.strip(AROUND_NAME))
        return
    begin = 0  # of the name that comes before the next address
    for match in matches[:-1]:
        yield _make_guest(part[begin : match.start()], match[0])
        begin = match.end()
    last = matches[-1]
    yield _make_guest(part[begin : last.start()], last[0], part[last.end() :])


def _make_guest(before: str, address: str, after: str = "") -> Invitee:
    """Make a person of an address and the name before it; after it may be a language, or the name if none is before."""
    name, rest = before.strip(AROUND_NAME), after.strip(AROUND_NAME)
    language = _list_languages().get(rest.casefold(), "")
    if not name and not language:
        name = rest
    only_address = address.strip("'.")  # ADDRESS finds the signs beside it too
    return Invitee(name, only_address, who="person", language=language)


def _parse_words(words: str) -> Iterator[Invitee]:
    """Parse words without an address: none, a free seat, or a bot; raise Refused for all others."""
    if not words:
        return
    if words.casefold() in _list_translations(FREE_SEAT.sentence):
        yield Invitee(name="", who="anybody")
        return
    words_for_bot, words_of_name = _list_translations(BOT.sentence), list[str]()
    is_bot = False
    level: Strength = ""
    for word in re.split(r"[\s()]+", words):
        if word.casefold() in words_for_bot:
            is_bot = True
        elif _find_level(word):
            level = level or _find_level(word)  # the first one counts
        else:
            words_of_name.append(word)
    if not is_bot:
        raise Refused(
            "Please add an e-mail address for “{name}”, such as: Kim <kim@example.org>", name=words[:MAX_QUOTED_CHARS]
        )
    yield Invitee(" ".join(words_of_name).strip(), who="bot", level=level)


def _find_level(word: str) -> Strength:
    """Return the level that a word of any language means, also with an ending (“starker” is strong); empty if none."""
    for name, level in _list_levels().items():
        if word.casefold() in [name + ending for ending in ENDINGS]:
            return level
    return ""


def _drop_repeats(guests: Iterable[Invitee]) -> Iterator[Invitee]:
    """Keep one guest of each address, with the name if one of them has it; keep all bots and free seats."""
    by_address = dict[str, Invitee]()
    for number, guest in enumerate(guests):
        key = guest.address.casefold() or str(number)  # without an address, each is a guest of its own
        if key not in by_address or not by_address[key].name:
            by_address[key] = guest
    yield from by_address.values()


def _distinguish(guests: Sequence[Invitee]) -> Iterator[Invitee]:
    """Give a unique name to each person and bot without one; “Bot 2” is the second of all bots."""
    folded_names = {register.fold_name(one.name) for one in guests}
    bot_count = 0
    for guest in guests:
        if guest.who == "bot":
            bot_count += 1
        if guest.name or guest.who == "anybody":
            yield guest
            continue
        proposed = f"Bot {bot_count}" if guest.who == "bot" else suggest_name(guest.address)
        name = _make_unique(proposed, folded_names)
        folded_names.add(register.fold_name(name))
        yield replace(guest, name=name)


def _make_unique(name: str, folded_names: Container[str]) -> str:
    """Return the name; if it is the same as one of these, with the first number from 2 on that makes it a new one."""
    unique = name
    number = 1
    while register.fold_name(unique) in folded_names:
        number += 1
        unique = f"{name} {number}"
    return unique


@cache
def _list_translations(word: str) -> frozenset[str]:
    """Return the translations of a word into all languages, each of which a form in any language may have."""
    return frozenset(translate(language, Sentence(word)).casefold() for language in LANGUAGES)


@cache
def _list_levels() -> dict[str, Strength]:
    """Return the levels of bots by the words for them, in all languages."""
    return {translate(language, word).casefold(): level for level, word in LEVELS.items() for language in LANGUAGES}


@cache
def _list_languages() -> dict[str, str]:
    """Return the code of each language by its code and by its name."""
    return {word.casefold(): code for code, name in LANGUAGES.items() for word in (code, name)}
