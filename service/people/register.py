"""The people in the database, and the names, addresses and texts that they type: cleaned, or refused with a reason.

Names are compared as readers see them: letters of other scripts that look alike are the same (UTS #39 of Unicode).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from engine.refusal import Refused, is_printable
from service.numbers import parse_int
from service.store.schema import people, seats

MAX_NAME_CHARS = 40
MAX_NONCE_CHARS = 40
# Of Unicode: control, format, surrogate, private use, and not assigned.
INVISIBLE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn")
# What a mail program might show as a link: an @, a scheme, “www.”, “evil.com”, numbers as of a machine, or a path.
LINK = re.compile(
    r"@|://|\b(?:https?|mailto|tel|sms|data|javascript):|www\.|[\w\s]\.[^\W\d_]{2,}|\d\.\d+\.\d|[/\\]\w",
    re.IGNORECASE,
)
INVISIBLE_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters, marks and signs that show nothing
MAX_MARKS_PER_LETTER = 2
PRODUCT = "Depesche"
RESERVED_NAMES = (
    *("the house", "this server", "the server", "server", "host", "admin", "administrator", "support", "postmaster"),
    *("das haus", "dieser server", "der server", "het huis", "deze server", "de server"),
    *("la maison", "ce serveur", "le serveur"),
)
# Capitals of these look like Latin ones, and so do these small letters to a reader who does not know the script.
SMALL_CAPITALS = str.maketrans("вкмнтікμτβηχ", "bkmhtikmtbnx")
# Scripts that one word may mix: Japanese, Korean and Chinese are written so.
SCRIPTS_TOGETHER = (
    {"HAN", "HIRAGANA", "KATAKANA"},
    {"HAN", "HANGUL"},
    {"HAN", "BOPOMOFO"},
)
LEFT_TO_RIGHT = "\u200e"  # the mark around letters that are written from right to left
OF_NO_SCRIPT = {"COMMON", "INHERITED", "UNKNOWN"}
# The digits and signs that are written instead of letters, as in “D3p3sche”; 0 and 1 look like letters anyway.
INSTEAD_OF_LETTERS = str.maketrans("3456789$@€¢£", "easgtbgsaecl")
# The Unicode names of “ᴅ”, “ɛ”, “🅳”, “🇩” and “đ”.
ORNATE_LETTER = re.compile(
    r"(?:LATIN|SYMBOL)(?: SMALL| CAPITAL)? LETTER(?: SMALL CAPITAL| OPEN)? ([A-Z])(?: WITH .*)?$"
)


def clean_name(text: str) -> str:
    """Return the name in the form that letters show; raise Refused if it is not only a name."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Refused("Please give every player a name.")
    if any(_is_invisible(letter) for letter in name):
        raise Refused("A name can have letters, digits and spaces, but no control characters.")
    if len(name) > MAX_NAME_CHARS:
        raise Refused(
            "A name can have at most {most} letters; “{name}” is longer.", most=MAX_NAME_CHARS, name=name[:20]
        )
    if not is_name(name):
        raise Refused("A name is no address and no link, and does not mix alphabets; please write it plainly.")
    refuse_reserved(name)
    return name


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in INVISIBLE_CATEGORIES or letter in INVISIBLE_LETTERS


def is_name(name: str) -> bool:
    """Return whether this is only a name: no address, no link, no word of mixed alphabets, no heap of accents."""
    plain = straighten_dots(unicodedata.normalize("NFKC", name))
    if LINK.search(plain) or _stacks_marks(name):
        return False
    return not any(mixes_scripts(word) for word in plain.split())


def refuse_reserved(name: str, *own: str) -> None:
    """Raise Refused if a reader could take this name for the server's; `own` are further names of the server."""
    seen = _reduce_to_letters(name)
    contains_product = _reduce_to_letters(PRODUCT) in seen
    is_reserved = any(seen == _reduce_to_letters(reserved) for reserved in (*RESERVED_NAMES, *own))
    if contains_product or is_reserved:
        raise Refused("The name “{name}” belongs to this server; please choose another one.", name=name)


@functools.lru_cache(maxsize=256)  # each name is compared with the same few names of the server
def _reduce_to_letters(name: str) -> str:
    """Reduce a name to the looks of its letters: no accents, no hyphens, no digits instead of letters."""
    seen = unicodedata.normalize("NFD", fold_name(simplify_letters(name)))
    return "".join(letter for letter in seen if letter.isalnum())


def _stacks_marks(name: str) -> bool:
    """Return whether one letter has so many marks that they reach into other lines."""
    marks_in_a_row = 0
    for letter in unicodedata.normalize("NFD", name):  # each mark follows its letter
        marks_in_a_row = marks_in_a_row + 1 if unicodedata.combining(letter) else 0
        if marks_in_a_row > MAX_MARKS_PER_LETTER:
            return True
    return False


JOINERS = "\n\u200c\u200d"  # line ends, and the joiners in words and emoji
EMPTY_LINES = re.compile(r"\n{3,}")
MAX_ADDRESS_CHARS = 254  # RFC 5321; its local part has 64, and each label of its domain 63
ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?){1,10}"
)


def clean_address(text: str) -> str:
    """Return an e-mail address in its stored form; raise Refused if it is none."""
    address = text.strip()
    local, _, domain = address.rpartition("@")
    has_dot_at_end = local.startswith(".") or local.endswith(".")  # an e-mail to it could not be written
    if not _is_address(address) or has_dot_at_end:
        shown = "".join(letter if letter.isprintable() else "?" for letter in address[:60])
        raise Refused("“{address}” is not an e-mail address; it should look like anna@example.org.", address=shown)
    return f"{local}@{domain.rstrip('.').lower()}"


def _is_address(text: str) -> bool:
    """Return whether this looks like an address; its domain has a dot, unless it is this machine."""
    _local, _, written_domain = text.rpartition("@")
    domain = written_domain.rstrip(".").casefold()
    is_whole = "." in domain or domain == "localhost"
    return len(text) <= MAX_ADDRESS_CHARS and is_whole and ".." not in text and bool(ADDRESS.fullmatch(text))


def name_mailbox(address: str) -> str:
    """Return a name for the mailbox of an address: the same with dots, capitals and a part after a plus."""
    local, _, domain = address.casefold().rpartition("@")
    before_plus, _, _after_plus = local.partition("+")
    without_dots = before_plus.replace(".", "")
    return f"{without_dots or local}@{domain}"


def clean_text(text: str) -> str:
    """Return a text with at most one empty line in a row; raise Refused if it has control characters."""
    lines = unicodedata.normalize("NFC", text).replace("\t", " ").splitlines()
    written = EMPTY_LINES.sub("\n\n", "\n".join(line.rstrip() for line in lines).strip())
    if not all(is_printable(letter) or letter in JOINERS for letter in written):
        raise Refused("Please write in letters, digits and signs, without control characters.")
    return written


def clean_nonce(text: str, otherwise: str) -> str:
    """Return a player's word for the dice as one token; `otherwise` if the player typed none."""
    printable = "".join(letter for letter in text if letter.isprintable())
    word = "-".join(printable.split())
    return word[:MAX_NONCE_CHARS] or otherwise


def find_or_create_person(connection: Connection, address: str, name: str, at: int, language: str = "en") -> int:
    """Return the number of the person with this address; add the person if there is none.

    Set the language of a person who has proven nothing yet, and has neither chosen one nor taken a seat.
    """
    # `key_share`: others may still add rows of this person, but a transaction that deletes the person waits.
    by_address = select(people.c.id).where(people.c.address == address).with_for_update(read=True, key_share=True)
    number = connection.execute(by_address).scalar_one_or_none()
    if number is not None:
        has_seat = exists().where(seats.c.person == number, seats.c.status != "invited")
        of_newcomer = (people.c.id == number, people.c.confirmed_at.is_(None), ~people.c.chose, ~has_seat)
        connection.execute(update(people).where(*of_newcomer, people.c.language != language).values(language=language))
        return int(number)
    row = {
        "address": address,
        "mailbox": name_mailbox(address),
        "name": name,
        "language": language,
        "chose": False,
        "since": at,
    }
    try:
        with connection.begin_nested():
            return int(connection.execute(insert(people).returning(people.c.id), row).scalar_one())
    except IntegrityError:  # another request inserted the person in this moment
        return int(connection.execute(by_address).scalar_one())


def find_person(connection: Connection, number: str) -> Any:
    """Return the row of the person with this number, as written in a token; None if there is none."""
    query = select(people).where(people.c.id == parse_int(number))
    return connection.execute(query).one_or_none()


def clear_bounce(connection: Connection, person: int) -> None:
    """Record that letters reach this person: a mail came from the address, or a link in a letter was used."""
    bounced = update(people).where(people.c.id == person, people.c.bounced_at.is_not(None))
    connection.execute(bounced.values(bounced_at=None, bounce=""))


def find_address(db: Connection, person: int) -> str:
    """Return the address of this person."""
    return str(db.execute(select(people.c.address).where(people.c.id == person)).scalar_one())


def make_deleted_address(person: int) -> str:
    """Return the text that replaces the address of a deleted person; no real address looks like it."""
    return f"#{person}"


def is_deleted(person: Any) -> bool:
    """Return whether this row is what is left of a deleted person."""
    return bool(person.address == make_deleted_address(person.id))


def delete_person(connection: Connection, person: int) -> None:
    """Delete a person's data; the number stays, so that old links never lead to another person."""
    empty = {"name": "", "mailbox": "", "calendar": "", "letter_settings": "", "bounce": "", "since": 0}
    never = {"confirmed_at": None, "bounced_at": None, "signed_at": None}
    ended = {"sessions": people.c.sessions + 1, "feeds_open": False}
    new_address = make_deleted_address(person)
    own = update(people).where(people.c.id == person)
    connection.execute(own.values(address=new_address, language="en", **empty, **never, **ended))


class Lookalikes(Struct, frozen=True):
    """The replacement of each letter, the same for all letters that look alike; and the signs that look like a dot.

    `dots` are at the foot of the line like a full stop, `raised_dots` in its middle.
    """

    by_letter: dict[str, str]
    dots: frozenset[str]
    raised_dots: frozenset[str]


def fold_name(name: str) -> str:
    """Reduce a name to its looks: two names that a reader could confuse give the same text."""
    seen = _replace_lookalikes(unicodedata.normalize("NFKC", name).translate(SMALL_CAPITALS)).casefold()
    seen = _replace_lookalikes(seen).casefold()  # the small letters have lookalikes of their own
    return "".join(seen.replace("i", "l").split())  # i, I and l are one letter


def mixes_scripts(word: str) -> bool:
    """Return whether the letters of a word are of scripts that no language mixes."""
    from confusable_homoglyphs import categories  # its tables take megabytes that most processes never need

    scripts = {categories.alias(letter) for letter in word if letter.isalpha()} - OF_NO_SCRIPT
    return len(scripts) > 1 and not any(scripts <= together for together in SCRIPTS_TOGETHER)


def straighten_dots(name: str) -> str:
    """Return the name with an ordinary dot for each sign that looks like one, or that browsers take for one.

    A dot in the middle of the line counts between Latin letters, as in “evil·com”; but Catalan writes l·l, and Japanese
    separates names by it.
    """
    signs = _load_lookalikes()
    plain = "".join("." if letter in signs.dots else letter for letter in name)
    straight = ""
    for place, letter in enumerate(plain):
        is_dot = letter in signs.raised_dots and _is_between_latin(plain, place)
        straight += "." if is_dot else letter
    return straight


def _is_between_latin(text: str, place: int) -> bool:
    """Return whether a sign is between Latin letters, but not between two l; a digit may come before it, too."""
    if place == 0 or place == len(text) - 1:
        return False
    before, after = text[place - 1].casefold(), text[place + 1].casefold()
    is_latin_before = before.isascii() and before.isalnum()
    is_latin_after = after.isascii() and after.isalpha()
    is_catalan = before == after == "l"
    return is_latin_before and is_latin_after and not is_catalan


def simplify_letters(text: str) -> str:
    """Return a text with plain Latin letters for those with ornaments, and for the digits and signs written instead."""
    return "".join(_simplify(letter) for letter in unicodedata.normalize("NFKD", text)).translate(INSTEAD_OF_LETTERS)


def _simplify(letter: str) -> str:
    """Return the plain letter that the Unicode name of a Latin letter with ornaments has; any other as it is."""
    match = ORNATE_LETTER.search(unicodedata.name(letter, ""))
    return match[1].casefold() if match else letter


def _replace_lookalikes(text: str) -> str:
    """Return a text with one and the same letter for all that look like it."""
    by_letter = _load_lookalikes().by_letter
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(by_letter.get(letter, letter) for letter in decomposed))


@functools.cache
def _load_lookalikes() -> Lookalikes:
    """Load the table of Unicode, and keep what is needed of it: the whole takes six megabytes."""
    from confusable_homoglyphs.utils import load

    # The table has for each text a list of those that look like it, each under the name `c`.
    pairs = [
        (key.strip(LEFT_TO_RIGHT), other["c"].strip(LEFT_TO_RIGHT))
        for key, others in load("confusables.json").items()
        for other in others
    ]
    dots = {other for letter, other in pairs if letter == "." and not other.isdecimal()}
    by_letter = _choose_replacements(pairs)
    middle_dot = by_letter["·"]
    raised = {letter for letter, replacement in by_letter.items() if replacement == middle_dot}
    # Browsers take “。” for a dot. The table lacks “⸳”. It has the Arabic zeros “٠” and “۰” as full stops, but they are
    # digits: only between Latin letters do they count as dots, as the raised dots do.
    return Lookalikes(by_letter, frozenset({"。", *dots}), frozenset({*"·⸳٠۰", *raised}))


def _choose_replacements(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the replacement of each letter that looks like others: a letter, or several such as “rn” for “m”.

    Texts of several letters get no replacement, because names are replaced letter by letter.
    """
    near = defaultdict[str, set[str]](set)
    for letter, other in pairs:
        near[letter].add(other)
        near[other].add(letter)
    chosen = dict[str, str]()
    for start in near:
        if start not in chosen:
            group = _collect_lookalikes(near, start)
            chosen |= dict.fromkeys(group, min(group, key=_rank_replacement))
    return {letter: other for letter, other in chosen.items() if len(letter) == 1}


def _rank_replacement(text: str) -> tuple[bool, bool, bool, str]:
    """Return the rank of a text as the replacement of those that look like it; the lowest rank is the best.

    A pair such as “rn” comes before “m”, because a text of two letters cannot be replaced letter by letter. Then ASCII
    comes before other signs, and letters before others.
    """
    is_single = len(text) == 1
    is_foreign = not text.isascii()
    is_no_letter = not text.isalpha()
    return is_single, is_foreign, is_no_letter, text


def _collect_lookalikes(near: dict[str, set[str]], start: str) -> set[str]:
    """Return all texts that look like this one, directly or through others."""
    group = {start}
    waiting = [start]
    while waiting:
        for other in near[waiting.pop()] - group:
            group.add(other)
            waiting.append(other)
    return group
