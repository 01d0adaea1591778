"""The documentation names only paths, functions, settings and commands that exist, and its links lead somewhere."""

from __future__ import annotations

import argparse
import ast
import functools
import re
import shlex
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import fields

from service import cli
from service.commands.terminal import Misuse
from service.settings import VARIABLES, Settings

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "engine", "requirements", "service", "templates", "tests", "workers")
TOP_PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "service/deploy/README.md",
    "service/deploy/SIZING.md",
)
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("engine/*.md"), *(ROOT / name for name in TOP_PAGES)])
LINKED_PAGES = [*PAGES, *ROOT.glob("templates/help/*.md")]
NAMES_OF_OTHERS = ("HttpOnly", "SignHeaders", "commit_delay", "max_connections")  # cookies, OpenDKIM, PostgreSQL
METRIC = re.compile(r"^depesche_(\w+?)(?:_total)?$")
EXAMPLE_GAME, NEW_GAME = "lantern_race", "service/commands/new_game_files"
NOT_SOURCES = ("tests/test_docs.py", "tests/plain_words.toml")  # they hold names that do not exist

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?<![\w/.<-])(?:{'|'.join(FOLDERS)})/[\w./<>*@-]*")
DOTTED_NAME = re.compile(r"^((?:engine|service|workers)(?:\.\w+)+)(?:\(.*\))?$")
NAME_IN_FILE = re.compile(r"^([\w/.]+\.py):(\w+)(?:\.(\w+))?$")
FILE = re.compile(r"^[\w.<*-][\w./<>*-]*\.(?:py|html|txt|toml|md|js|mjs|json|svg|service|yaml)$")
IDENTIFIER = re.compile(r"^(?:\w+\.)*([A-Za-z_]*(?:_|[a-z][A-Z])\w*)(?:\([\w, ]*\))?$|^(\w+)\([\w, ]*\)$")
WORD = re.compile(r"\b[A-Za-z_]\w+\b")
SETTING = re.compile(r"\bDEPESCHE_[A-Z_]*[A-Z]")
SETTING_ROW = re.compile(r"^\| `(DEPESCHE_\w+)` \| ([^|]*) \|", re.MULTILINE)
TARGET = re.compile(r"(?:`|    )make ([a-z-]+)")
COMMAND = re.compile(r"(?:`|    |/)depesche ([a-z][a-z-]*)")
COMMAND_LINE = re.compile(r"^    (?:\.?[\w/.-]*/)?depesche (.+)$", re.MULTILINE)


@functools.cache
def list_files() -> tuple[str, ...]:
    """List every file in the folders of the project, and every folder, relative to the root."""
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    return tuple(path.relative_to(ROOT).as_posix() for path in (*below, *ROOT.glob("*"), *ROOT.glob(".ci/*")))


def exists(name: str) -> bool:
    """Return whether a file or folder has this name, or this end of its name; `<...>` matches any one name.

    The files of the example game are those that `depesche new-game` writes.
    """
    pattern = re.sub(r"<[^>]*>", "*", name.rstrip("/."))
    in_new_game = pattern.replace(EXAMPLE_GAME, "NAME")
    patterns = {pattern, f"*/{pattern}", f"{NEW_GAME}/{in_new_game}", f"{NEW_GAME}/{in_new_game}.in"}
    return any(fnmatch(path, one) for path in list_files() for one in patterns)


@functools.cache
def list_names(path: str) -> frozenset[str]:
    """List what a module and its classes define; what a class defines is also listed as `Class.name`."""
    tree, names = ast.parse((ROOT / path).read_text("utf-8")), set[str]()
    for node in ast.walk(tree):
        names.update(name_nodes(node))
        if isinstance(node, ast.ClassDef):
            names.update(f"{node.name}.{name}" for child in node.body for name in name_nodes(child))
    return frozenset(names)


def name_nodes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(name)):
            yield name


@functools.cache
def list_words() -> frozenset[str]:
    """List every word in the code and its tests: a name that is gone is in none of them."""
    suffixes = (".py", ".py.in", ".js", ".mjs", ".html", ".svg", ".txt", ".toml")
    sources = [path for path in list_files() if path.endswith(suffixes) and path not in NOT_SOURCES]
    return frozenset[str]().union(*(WORD.findall((ROOT / path).read_text("utf-8")) for path in sources))


@functools.cache
def list_commands() -> frozenset[str]:
    actions = cli.make_parser()._actions
    return frozenset(name for one in actions if isinstance(one, argparse._SubParsersAction) for name in one.choices)


@functools.cache
def list_targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@functools.cache
def list_anchors(page: Path) -> frozenset[str]:
    """List the anchors that a code host makes of the headings of a page."""
    headings = HEADING.findall(page.read_text("utf-8"))
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


def is_defined(path: list[str]) -> bool:
    """Return whether a path such as `engine.menu.parse_partial` is a module, or a name in one."""
    for length in range(len(path), 0, -1):
        module = "/".join(path[:length])
        files = [file for file in (f"{module}.py", f"{module}/__init__.py") if (ROOT / file).is_file()]
        if files:
            return length == len(path) or ".".join(path[length:]) in list_names(files[0])
    return False


def find_dead_links(page: Path, text: str) -> Iterator[str]:
    for target in LINK.findall(CODE.sub("code", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and anchor not in list_anchors(linked):
            yield f"the link to {target} names no heading of that page"


def find_missing_names(text: str) -> Iterator[str]:
    """Yield what a page names that does not exist."""
    yield from (f"there is no {name}" for name in PATH.findall(text) if not exists(name))
    for code in CODE.findall(text):
        if in_file := NAME_IN_FILE.match(code):
            path, name, member = in_file.groups()
            if not (ROOT / path).is_file():
                yield f"there is no {path}"
            elif (f"{name}.{member}" if member else name) not in list_names(path):
                yield f"{path} does not define {code.partition(':')[2]}"
        elif FILE.match(code):
            if not exists(code):
                yield f"there is no {code}"
        elif (dotted := DOTTED_NAME.match(code)) and not is_defined(dotted[1].split(".")):
            yield f"nothing is called {dotted[1]}"
        elif (identifier := IDENTIFIER.match(code)) and not code.startswith("DEPESCHE_"):
            name = METRIC.sub(r"\1", identifier[1] or identifier[2])
            if not {name, name.removesuffix("_seconds")} & list_words() and name not in NAMES_OF_OTHERS:
                yield f"nothing is called {name}"
    yield from (f"there is no setting {name}" for name in SETTING.findall(text) if not is_setting(name))
    yield from (f"there is no `make {name}`" for name in TARGET.findall(text) if name not in list_targets())
    yield from (f"there is no `depesche {name}`" for name in COMMAND.findall(text) if name not in list_commands())


def find_wrong_commands(text: str) -> Iterator[str]:
    """Yield the commands in blocks of code that the command line does not accept."""
    for line in COMMAND_LINE.findall(text):
        try:
            cli.make_parser().parse_args(shlex.split(line.partition(" > ")[0], comments=True))
        except (Misuse, SystemExit):
            yield f"depesche does not accept: {line}"


def is_setting(name: str) -> bool:
    return name.removesuffix("_FILE") in VARIABLES or name == "DEPESCHE_NO_SKIPS"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_everything_that_a_page_names_exists(page: Path) -> None:
    faults = list(find_missing_names(page.read_text("utf-8")))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("page", LINKED_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    faults = list(find_dead_links(page, page.read_text("utf-8")))
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("page", [*LINKED_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_in_a_block_of_code_is_accepted(page: Path) -> None:
    faults = list(find_wrong_commands(page.read_text("utf-8")))
    assert not faults, "\n".join(faults)


def test_a_planted_command_is_reported() -> None:
    assert list(
        find_wrong_commands("    depesche backup  # without a file\n    depesche doctor --male you@example.org")
    )
    assert not list(find_wrong_commands("    /opt/depesche/bin/depesche backup new  # a file"))


@pytest.mark.parametrize("name", ["service/deploy/README.md", "docs/programs.md"])
def test_every_block_of_code_is_valid_shell(name: str) -> None:
    tokens = MarkdownIt().parse((ROOT / name).read_text("utf-8"))
    blocks = [token.content for token in tokens if token.type == "code_block" or token.info == "sh"]
    assert blocks
    for block in blocks:
        if not block.startswith("{"):  # an answer
            check = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True)
            assert check.returncode == 0, block + check.stderr


def test_the_page_for_hosts_lists_every_setting_with_its_default() -> None:
    text = (ROOT / "docs" / "hosting.md").read_text("utf-8")
    assert not VARIABLES - set(re.findall(r"`(DEPESCHE_\w+)`", text))
    defaults = {f"DEPESCHE_{field.name.upper()}": field.default for field in fields(Settings)}
    simple = {name: default for name, default in defaults.items() if isinstance(default, int | float)}
    rows = {name: default for name, default in SETTING_ROW.findall(text) if name in simple}
    assert len(rows) > 12
    assert rows == {name: format_default(simple[name]) for name in rows}


def format_default(default: float) -> str:
    return {True: "on", False: "off"}[default] if isinstance(default, bool) else str(default).removesuffix(".0")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("see `engine/manu.py`", "there is no engine/manu.py"),
        ("    engine/gamez/   games", "there is no engine/gamez/"),
        ("see `manu.py`", "there is no manu.py"),
        ("see `engine/menu.py:parse_mvoe`", "engine/menu.py does not define parse_mvoe"),
        ("see `service/store/batch.py:Batch.flash`", "service/store/batch.py does not define Batch.flash"),
        ("call `parse_mvoe`", "nothing is called parse_mvoe"),
        ("call `engine.menu.narow(menu)`", "nothing is called engine.menu.narow"),
        ("see `engine.manu`", "nothing is called engine.manu"),
        ("call `judging.jugde_it(locked)`", "nothing is called jugde_it"),
        ("a `TableRoe`", "nothing is called TableRoe"),
        ("watch `depesche_wake_downs_total`", "nothing is called wake_downs"),
        ("set DEPESCHE_ADRESS", "there is no setting DEPESCHE_ADRESS"),
        ("    make tset", "there is no `make tset`"),
        ("run `depesche docter`", "there is no `depesche docter`"),
    ],
)
def test_a_planted_name_is_reported(text: str, fault: str) -> None:
    assert fault in list(find_missing_names(text))


@pytest.mark.parametrize("target", ["nowhere.md", "#nothing", "architecture.md#nothing"])
def test_a_planted_link_is_reported(target: str) -> None:
    page = ROOT / "docs" / "architecture.md"
    assert list(find_dead_links(page, f"[here]({target})"))
    assert not list(
        find_dead_links(page, "[here](#processes) [there](glossary.md#glossary) [site](https://example.org)")
    )
