"""Find names, docstrings and comments that are not in plain words.

`python -m tests.plain_words [PATH...]` prints each offender as `path:line: kind name -> hint`, and a count for each
folder. Without a path it checks the whole program; with `--texts` the phrases of templates and documentation instead,
and with `--nouns` the functions whose name begins with no verb.
The words, and the exceptions with their reasons, are in `plain_words.toml`.
"""

import ast
import functools
import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = ("engine", "service", "workers")
TEXT_FOLDERS = ("templates", "docs", "README.md", "engine/README.md", "service/deploy")
TEXT_SUFFIXES = (".md", ".html", ".txt")
CONFIG: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
COMMENT = re.compile(r"(?:^|\s)# (.+)$")
PROSE = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): hint for pattern, hint in CONFIG["prose"].items()}
UNITS = {re.compile(pattern, re.IGNORECASE): tuple(suffixes) for pattern, suffixes in CONFIG["units"].items()}
VALUES = {re.compile(pattern): tuple(suffixes) for pattern, suffixes in CONFIG["values"].items()}
FIRST = frozenset(CONFIG["first"]["words"].split())
IRREGULAR = frozenset(CONFIG["participles"]["irregular"].split())
VERBS = frozenset(CONFIG["verbs"]["words"].split())
VERBS_BEFORE_NOUNS = frozenset(CONFIG["verbs"]["before_nouns"].split())
NO_PARTICIPLES = frozenset(CONFIG["participles"]["others"].split())
DOCSTRING_FIRST = frozenset(CONFIG["docstring"]["first"].split())
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\n|\n\* ")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Name(NamedTuple):
    """An identifier at the place that defines it."""

    kind: str
    name: str
    line: int


class Offender(NamedTuple):
    """A name or a text that is not plain, and what to write instead."""

    path: str
    line: int
    kind: str
    name: str
    hint: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind} {self.name} -> {self.hint}"


def split_words(name: str) -> list[str]:
    """Split a snake_case or CamelCase name into words in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def is_participle(word: str) -> bool:
    regular = len(word) > 4 and word.endswith(("ed", "ing"))
    return word in IRREGULAR or (regular and word not in NO_PARTICIPLES)


def check_name(kind: str, name: str) -> str | None:
    """Return what to write instead of this name, or None if it is plain."""
    words, bare, names = split_words(name), name.strip("_").lower(), CONFIG["names"]
    for hints in (names.get(kind, {}), names["exact"]):
        if bare in hints:
            return str(hints[bare])
    for word in words:
        if word in names["words"]:
            return str(names["words"][word])
    first = words[0] if words else ""
    if kind == "function" and first in FIRST:
        return f"begin with a verb, not with `{first}`"
    if kind == "function" and is_participle(first):
        return f"begin with a verb, not with `{first}`; a predicate is `is_…`, `has_…`, `can_…`"
    if kind in ("class", "constant") and len(words) == 1 and (is_participle(first) or first in FIRST):
        return "name the thing with a noun"
    return None


def check_prose(text: str) -> Iterator[tuple[str, str]]:
    """Yield each phrase to avoid in a text, and what to write instead."""
    for pattern, hint in PROSE.items():
        for match in pattern.finditer(text):
            yield match.group(), hint


def check_docstring(text: str) -> Iterator[tuple[str, str]]:
    """Check the phrases, the first word and the length of the sentences of a docstring."""
    yield from check_prose(text)
    first = split_words(text.split()[0]) if text.split() else []
    if first and first[0] in DOCSTRING_FIRST:
        yield first[0], "begin with a verb (Return ..., Send ...) or with the thing's name"
    for sentence in SENTENCE_END.split(text):
        if len(sentence.split()) > CONFIG["docstring"]["longest_sentence"]:
            yield f"{len(sentence.split())} words", "make two sentences of it"


def is_event(node: ast.ClassDef) -> bool:
    """Return whether a class is a tagged struct: its name and fields are written into logs."""
    return any(keyword.arg == "tag" for keyword in node.keywords)


def kind_of_function(node: Function) -> str:
    """Return "property" for a function that is read like a noun: a property, a context manager, a fixture."""
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    nouns = ("property", "contextmanager", "fixture", "either_database")
    return "property" if any(noun in decorators for noun in nouns) else "function"


def list_names(node: ast.AST, kind: str = "constant") -> Iterator[Name]:
    """Yield the names defined below a node; `kind` is what a name that is bound there directly would be."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.ClassDef():
                error = any("Error" in ast.unparse(base) or "Exception" in ast.unparse(base) for base in child.bases)
                if not is_event(child):
                    yield Name("exception" if error else "class", child.name, child.lineno)
                yield from list_names(child, "event" if is_event(child) else "field")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield Name(kind_of_function(child), child.name, child.lineno)
                arguments = child.args
                for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    yield Name("parameter", argument.arg, argument.lineno)
                yield from list_names(child, "variable")
            case ast.Name(ctx=ast.Store()) if kind != "event":
                bound = "variable" if kind == "constant" and not child.id.isupper() else kind
                yield Name(bound, child.id, child.lineno)
            case _:
                yield from list_names(child, kind)


def list_stored_names(tree: ast.Module) -> Iterator[Name]:
    """Yield the names of database tables and columns, and of metrics, which are strings in the code."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name("Table" | "Column" as kind), args=[ast.Constant(str(name)), *_]):
                yield Name(kind.lower(), name, node.lineno)
            case ast.Dict(keys=keys, values=[ast.Call(func=ast.Name("Meter" | "Metric")), *_]):
                yield from (Name("metric", str(ast.literal_eval(key)), node.lineno) for key in keys if key)


def list_docstrings(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield line, owner and text of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, getattr(node, "name", "module"), text


def list_comments(tree: ast.Module, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment; lines inside a string of several lines have none."""
    inside = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and (node.end_lineno or 0) > node.lineno
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    for number, line in enumerate(lines, 1):
        match = COMMENT.search(line) if "# " in line and number not in inside else None
        if match:
            yield number, match.group(1)


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, or arithmetic of numbers and constants that begins with one."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def check_units(tree: ast.Module, lines: list[str], comments: dict[int, str]) -> Iterator[tuple[int, str, str]]:
    """Yield the numbers at the top of a module whose comment or value has a unit that their name lacks."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case _:
                continue
        if node.value is None or not is_number(node.value) or not name.isupper():
            continue
        alone = lines[node.lineno - 2].startswith("#") if node.lineno > 1 else False
        comment = comments.get(node.lineno) or (comments.get(node.lineno - 1, "") if alone else "")
        units = [suffixes for pattern, suffixes in UNITS.items() if pattern.match(comment)]
        units += [suffixes for pattern, suffixes in VALUES.items() if pattern.search(ast.unparse(node.value))]
        if units and not name.endswith(units[0]) and name not in ("DAY", "HOUR"):
            yield node.lineno, name, f"end with {' or '.join(units[0])}"


def is_verb(words: Sequence[str]) -> bool:
    """Return whether a name with these words begins with a verb; `seat` is a noun, `seat_player` begins with a verb."""
    return words[0] in VERBS or (words[0] in VERBS_BEFORE_NOUNS and len(words) > 1)


def is_predicate(node: Function, first: str) -> bool:
    """Return whether a function answers yes or no and is named like `fits_beside` or `carries_acrobats`."""
    answers = node.returns is not None and ast.unparse(node.returns) in ("bool", "ColumnElement[bool]")
    stems = {first.removesuffix("s"), first.removesuffix("es"), first.removesuffix("ies") + "y"}
    return answers and first.endswith("s") and not stems.isdisjoint(VERBS | VERBS_BEFORE_NOUNS)


def find_noun_functions(path: str, tree: ast.Module) -> Iterator[Offender]:
    """Yield the functions whose name begins with no verb."""
    for node in ast.walk(tree):
        if not isinstance(node, Function) or kind_of_function(node) != "function":
            continue
        words = split_words(node.name)
        if node.name.startswith(("__", "test_")) or not words or is_verb(words) or is_predicate(node, words[0]):
            continue
        yield Offender(path, node.lineno, "noun", node.name, "begin with a verb, or make it a property")


def is_excepted(path: str, kind: str, name: str) -> bool:
    return any(
        fnmatch(path, one["path"])
        and kind in one.get("kinds", (kind,))
        and any(fnmatch(name.lower(), pattern.lower()) for pattern in one["names"])
        for one in CONFIG["exceptions"]
    )


def check_source(path: str, source: str, tree: ast.Module | None = None) -> Iterator[Offender]:
    """Yield everything in one module that is not in plain words; `path` is relative to the root of the project."""
    tree, lines = tree or ast.parse(source), source.splitlines()
    stem = Path(path).stem
    module = [] if stem == "__init__" else [Name("module", stem, 1)]
    for kind, name, line in dict.fromkeys([*module, *list_names(tree), *list_stored_names(tree)]):
        if name.startswith("__"):
            continue
        if name.startswith("test_"):
            for phrase, hint in check_prose(name.replace("_", " ")):
                yield Offender(path, line, "test", f"{name} “{phrase}”", hint)
        elif hint_of_name := check_name(kind, name):
            yield Offender(path, line, kind, name, hint_of_name)
    for line, owner, text in list_docstrings(tree):
        for phrase, hint in check_docstring(text):
            yield Offender(path, line, "docstring", f"{owner} “{phrase}”", hint)
    comments = dict(list_comments(tree, lines))
    for line, comment in comments.items():
        for phrase, hint in check_prose(comment):
            yield Offender(path, line, "comment", f"“{phrase}”", hint)
    for line, name, hint in check_units(tree, lines, comments):
        yield Offender(path, line, "unit", name, hint)


def check_lines(path: str, text: str) -> Iterator[Offender]:
    """Yield each phrase to avoid in a file that is not Python: a README, a page of the documentation."""
    for number, line in enumerate(text.splitlines(), 1):
        for phrase, hint in check_prose(line):
            yield Offender(path, number, "text", f"“{phrase}”", hint)


def check_file(file: Path, nouns: bool = False) -> list[Offender]:
    return [one for one in check_whole_file(file) if (one.kind == "noun") is nouns]


@functools.cache
def check_whole_file(file: Path) -> tuple[Offender, ...]:
    path, text = file.resolve().relative_to(ROOT).as_posix(), file.read_text("utf-8")
    if file.suffix == ".py":
        tree = ast.parse(text)
        offenders = itertools.chain(check_source(path, text, tree), find_noun_functions(path, tree))
    else:
        offenders = itertools.chain(check_lines(path, text))
    return tuple(one for one in offenders if not is_excepted(path, one.kind, one.name))


def list_files(paths: Iterable[str | Path], suffixes: Sequence[str] = (".py",)) -> Iterator[Path]:
    """Yield the files with these suffixes at or below the paths, except migrations, which are lists of tables."""
    for path in map(Path, paths):
        files = sorted(file for file in path.rglob("*") if file.suffix in suffixes) if path.is_dir() else [path]
        yield from (file for file in files if "/migrations/versions/" not in file.as_posix())


def find_offenders(paths: Iterable[str | Path], suffixes: Sequence[str] = (".py",)) -> list[Offender]:
    return [one for file in list_files(paths, suffixes) for one in check_file(file)]


def main(arguments: list[str]) -> None:
    """Print the offenders below the paths given, or in the whole program, and count them for each folder."""
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if "--texts" in arguments:
        offenders = find_offenders(paths or [ROOT / folder for folder in TEXT_FOLDERS], TEXT_SUFFIXES)
    else:
        files = list_files(paths or [ROOT / folder for folder in FOLDERS])
        offenders = [one for file in files for one in check_file(file, nouns="--nouns" in arguments)]
    for one in offenders:
        print(one)
    counts = Counter(Path(one.path).parent.as_posix() for one in offenders)
    for folder, count in sorted(counts.items()):
        print(f"{count:5} {folder}")
    kinds = Counter(one.kind for one in offenders)
    print(f"{len(offenders):5} in all: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
