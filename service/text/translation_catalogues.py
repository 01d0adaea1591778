"""Collects the sentences that have to be translated; `make catalogues` brings the catalogues up to date.

Messages come from templates, from sentences and refusals in Python code, and from the boxes of games. Those of a game
belong to a domain with its name, so that each game can be translated alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from engine import catalogue
from engine.game import Game
from engine.options import describe
from service.text.languages import COMMON, LANGUAGES, SOURCE, get_catalogue_path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("engine", "service", "workers")
FOR_HOSTS = (  # printed in a terminal, in English
    "service/internet/beacon.py",
    "service/commands/",
    "service/settings.py",
    "service/store/connection.py",
    "service/store/maintenance.py",
    "service/store/server_facts.py",
    "service/tables/transfer.py",
    "workers/commands/",
)
REFUSALS = ("Refused", "Unknown", "TransferredAway", "NotInstalled", "Garbled", "ForbiddenAddress", "Unreachable")
SENTENCE_CALLS = (*REFUSALS, "Sentence", "_")  # what is called with a sentence as its first argument
JINJA = {"extensions": "jinja2.ext.do,jinja2.ext.loopcontrols", "trim_blocks": "true", "lstrip_blocks": "true"}
WIDTH = 110
HEADER = """{comment}
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plurals}\\n"

"""


def collect_messages() -> dict[str, Catalog]:
    """Collect all messages, by domain."""
    catalogs = {domain: Catalog() for domain in (COMMON, *catalogue.find_all())}
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in (".html", ".txt", ".svg"):
            _add_template(catalogs[_get_domain(path)], path)
    for path in sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        if not path.relative_to(ROOT).as_posix().startswith(FOR_HOSTS):
            for sentence in _iter_sentences(path):
                catalogs[_get_domain(path)].add(sentence)
    for name, home in catalogue.get_package_folders().items():
        _add_package(catalogs[name], home)
    for name, game in catalogue.find_all().items():
        for text in dict.fromkeys(_iter_box_texts(game)):
            catalogs[name].add(text)
    return catalogs


def _add_package(catalog: Catalog, home: Path) -> None:
    """Add the messages of an installed game, from its templates and from its rules."""
    for path in sorted((home / "templates").rglob("*")):
        if path.suffix in (".html", ".txt", ".svg"):
            _add_template(catalog, path)
    for path in sorted(home.rglob("*.py")):
        for sentence in _iter_sentences(path):
            catalog.add(sentence)


def _get_domain(path: Path) -> str:
    """Return the domain of a file: that of a game for `engine/games/NAME/...` and `templates/games/NAME/...`."""
    match path.relative_to(ROOT).parts:
        case (_, "games", name, *_) if name in catalogue.find_all():
            return name
    return COMMON


def _add_template(catalog: Catalog, path: Path) -> None:
    for _, message, comments, context in extract_from_file("jinja2.ext:babel_extract", path, options=JINJA):
        catalog.add(message, auto_comments=comments, context=context)


def iter_messages(path: Path) -> Iterator[str | tuple[str, ...]]:
    """Yield the messages in a template or a Python file; a message with a plural is a tuple."""
    if path.suffix == ".py":
        yield from _iter_sentences(path)
        return
    for _, message, _, _ in extract_from_file("jinja2.ext:babel_extract", path, options=JINJA):
        yield message


def _iter_sentences(path: Path) -> Iterator[str | tuple[str, str]]:
    """Yield the sentences in Python code: those of refusals, and the arguments of `gettext` and `ngettext`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="ngettext") | ast.Attribute(attr="ngettext"), args=[one, many, *_]):
                yield from zip(_iter_texts(one), _iter_texts(many), strict=True)
            case ast.Call(func=ast.Name(id=name), args=[sentence, *_]) if name in SENTENCE_CALLS:
                yield from _iter_texts(sentence)
            case ast.Call(func=ast.Attribute(attr="gettext"), args=[sentence, *_]):
                yield from _iter_texts(sentence)


def _iter_texts(sentence: ast.expr) -> Iterator[str]:
    """Yield the text of a literal, and both texts of a conditional expression."""
    literals = (sentence.body, sentence.orelse) if isinstance(sentence, ast.IfExp) else (sentence,)
    for literal in literals:
        if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
            yield literal.value


def _iter_box_texts(game: Game) -> Iterator[str]:
    """Yield the texts of a game's box as pages show them: title, description, options and their values."""
    yield game.META.title
    yield game.META.about
    yield from game.META.about_options.values()
    for option in describe(game.META.options):
        yield option.label
        yield option.about
        if option.kind == "word":
            yield from (value.replace("_", " ") for value in option.values if not value.isdecimal())


def load_catalogue(language: str, domain: str) -> Catalog:
    """Load a catalogue from its file; an empty one if there is no file."""
    path = get_catalogue_path(language, domain)
    if not path.exists():
        return Catalog(language, header_comment=f"# {LANGUAGES[language]}. Glossary:")
    with path.open("rb") as file:
        return read_po(file, language, domain)


def find_untranslated(language: str, domain: str, template: Catalog) -> list[str]:
    """Return the messages of a template that have no translation, or an uncertain one (`fuzzy`)."""
    translated = load_catalogue(language, domain)
    return [
        get_english(message) for message in template if message.id and not _is_translated(translated.get(message.id))
    ]


def _is_translated(message: Message | None) -> bool:
    """Return whether there is a certain translation; a message with a plural needs all its forms."""
    if message is None or message.fuzzy:
        return False
    return all(message.string) if isinstance(message.string, (list, tuple)) else bool(message.string)


def get_english(message: Message) -> str:
    """Return the English text of a message, or the singular of one with a plural."""
    return str(message.id if isinstance(message.id, str) else message.id[0])


def update_catalogue(language: str, domain: str, template: Catalog) -> None:
    """Write a catalogue with exactly these messages: it keeps translations, and leaves new messages empty."""
    old, fresh = load_catalogue(language, domain), Catalog(language)
    for message in template:
        if message.id:  # the header of a catalogue is a message without one
            fresh.add(message.id, _find_translation(old, message))
    path = get_catalogue_path(language, domain)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = HEADER.format(comment=old.header_comment, language=language, plurals=fresh.plural_forms)
    with path.open("wb") as file:
        file.write(head.encode())
        write_po(file, fresh, width=WIDTH, no_location=True, omit_header=True)


def _find_translation(catalog: Catalog, message: Message) -> Any:
    """Return the translation of a message; None if there is none, or if the message got or lost a plural since."""
    before = catalog.get(message.id)
    return before.string if before is not None and before.pluralizable == message.pluralizable else None


def update_catalogues(domains: Sequence[str] = ()) -> int:
    """Bring these catalogues up to date, or all; print each missing translation and return how many are missing."""
    catalogs = collect_messages()
    missing = 0
    for language in LANGUAGES:
        if language == SOURCE:
            continue
        for domain, catalog in catalogs.items():
            if domains and domain not in domains:
                continue
            update_catalogue(language, domain, catalog)
            for text in find_untranslated(language, domain, catalog):
                missing += 1
                print(f"{language}/{domain}: {text}")
    return missing


if __name__ == "__main__":
    sys.exit(1 if update_catalogues() else 0)
