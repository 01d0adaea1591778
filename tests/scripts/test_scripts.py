"""The scripts of the pages: their own tests in Node, on menus fresh from the engine, and how pages load them."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from service.text.templates import TEMPLATES
from service.web import compression
from tests import sampling
from tests.node import node
from tests.scripts import menus

HERE = Path(__file__).parent
STATIC = TEMPLATES / "static"
IMPORT = re.compile(r'^(?:import|export)\b[^;]*?"\./([^"]+)";', re.MULTILINE)
SCRIPT = re.compile(r"<script type=\"module\" src=\"\{\{ url_for\('static', filename='([^']+)'\) \}\}\">")
PRELOADS = re.compile(r'{% set modules = \(([^)]*)\) %}.*{% include "pages/preload.html" %}', re.DOTALL)
DEFINITION = re.compile(
    r"""
    (?P<types> ^\ *(?:/\*\*[^\n]*)?\*/\n )?
    (?: ^ (?:export\ )? (?:async\ )? function \ (?P<name>\w+) \([^)]+\)
      | ^ (?:export\ )? const\ (?P<arrow>\w+) \ =\ (?:async\ )? \([^)]+\)\ =>
      | ^ \ \ (?:async\ )? (?!if|for|while|switch) (?P<method>\w+) \([^)]+\)\ \{
    )""",
    re.MULTILINE | re.VERBOSE,
)
TIME_LIMIT_S = 60
EVERY = 6  # of the games with their options each sixth one
TESTED_BY = {"menu.js": "choice.js"}

# Faults as somebody could make them, and the test that finds them.
FAULTS = {
    "a chosen place stays lit where nothing is turned": (
        "choice.js",
        "chosen && findGhostEntry(state) !== null &&",
        "chosen &&",
    ),
    "what could begin the move is lit later too": (
        "choice.js",
        "findNext(entry, tokens, early).includes(token)",
        "findNext(entry, [], early).includes(token)",
    ),
    "a spot with several tokens is not joined to those before": (
        "choice.js",
        "const tokens = [...state.tokens, ...words.slice(overlap)];",
        "const tokens = [...state.tokens, ...words];",
    ),
    "a token without a spot has no button": ("choice.js", "&& !hasSpot(token)", "&& hasSpot(token)"),
    "any beginning of a row is taken": ("menu.js", "tokens.every((token,", "tokens.some((token,"),
    "a move is whole too early": ("menu.js", "one.length === other.length && ", ""),
    "what is outside counts as seen": ("stage.js", "<= room / 2", "<= room"),
    "what is framed spills over the edge": ("stage.js", "MARGIN_PX = 34", "MARGIN_PX = -34"),
    "a moved view stays where the choice is outside": ("stage.js", "&& canTouch(stage, moved, boxes)", ""),
    "a zoom runs away from the finger": ("stage.js", "1 / view.scale - 1 / scale", "1 / scale - 1 / view.scale"),
    "a view leaves the drawing": ("stage.js", "x: clamp(view.x, x, x + width)", "x: view.x"),
    "the thing further away is meant": (
        "targets.js",
        "near.sort((one, other) => one.far - other.far)",
        "near.sort((one, other) => other.far - one.far)",
    ),
}
FIRST_FAULTS = {  # `make test` plants these, `make release-check` all
    "any beginning of a row is taken",
    "what is outside counts as seen",
    "a view leaves the drawing",
}


def run_node_tests(files: Iterable[Path]) -> subprocess.CompletedProcess[str]:
    words = [node(), "--test", *map(str, files)]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIME_LIMIT_S)


def copy_scripts(folder: Path) -> tuple[Path, Path]:
    """Return copies of the scripts and of their tests, laid out as in the project."""
    scripts, tests = folder / "templates/static", folder / "tests/scripts"
    shutil.copytree(STATIC, scripts, ignore=lambda _, names: [one for one in names if not one.endswith(".js")])
    shutil.copytree(HERE, tests, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return scripts, tests


@pytest.mark.parametrize("fresh", sampling.one_of([False, True], False))
def test_the_scripts_as_they_are_sent_pass_their_tests_on_menus_of_every_game(tmp_path: Path, fresh: bool) -> None:
    """In `make test` on the menus of the file, before a release on those of games that are played for this test."""
    scripts, tests = copy_scripts(tmp_path)
    for path in scripts.glob("*.js"):
        path.write_bytes(compression.shorten_script(path.read_bytes()))
    if fresh:
        all_menus = [*menus.menus(menus.all_cases()[::EVERY], 3), *menus.list_rare()]
        (tests / "menus.json").write_text(json.dumps(all_menus), "utf-8")
    done = run_node_tests(sorted(tests.glob("*.test.mjs")))
    assert done.returncode == 0, done.stdout


def test_no_text_in_a_script_goes_over_several_lines() -> None:
    lines = [(path.name, line) for path in STATIC.glob("*.js") for line in path.read_text("utf-8").splitlines()]
    assert [(name, line) for name, line in lines if line.count("`") % 2] == []


@pytest.mark.parametrize("style", sorted(path.name for path in STATIC.glob("*.css")))
def test_a_style_is_sent_without_comments_and_layout_and_with_all_its_rules(style: str) -> None:
    text = (STATIC / style).read_text("utf-8")
    assert [one for one in re.findall(r'"[^"\n]*"', text) if re.search(r"[{};]|/\*", one)] == []
    short = compression.shorten_style(text.encode()).decode()
    assert "/*" not in short
    assert len(short) < len(text)
    assert [short.count(sign) for sign in "{}:,"] == [re.sub(r"(?s)/\*.*?\*/", "", text).count(sign) for sign in "{}:,"]
    assert "".join(short.split()) == "".join(re.sub(r"(?s)/\*.*?\*/", "", text).split())


@pytest.mark.parametrize(
    "fault", [fault if fault in FIRST_FAULTS else pytest.param(fault, marks=pytest.mark.release) for fault in FAULTS]
)
def test_a_planted_fault_is_found(tmp_path: Path, fault: str) -> None:
    name, right, wrong = FAULTS[fault]
    scripts, tests = copy_scripts(tmp_path)
    source = (scripts / name).read_text("utf-8")
    assert source.count(right) == 1, right
    (scripts / name).write_text(source.replace(right, wrong), "utf-8")
    done = run_node_tests([tests / f"{TESTED_BY.get(name, name).removesuffix('.js')}.test.mjs"])
    assert done.returncode == 1, done.stdout


@pytest.mark.parametrize("script", sorted(path.name for path in STATIC.glob("*.js")))
def test_functions_of_scripts_say_the_types_of_their_parameters(script: str) -> None:
    found = DEFINITION.finditer((STATIC / script).read_text("utf-8"))
    assert [one["name"] or one["arrow"] or one["method"] for one in found if not one["types"]] == []


def imports_of(name: str) -> set[str]:
    """Return all modules that a script needs, and those that they need."""
    found, new = set[str](), {name}
    while new:
        found |= new
        new = {one for path in new for one in IMPORT.findall((STATIC / path).read_text("utf-8"))} - found
    return found


@pytest.mark.parametrize("page", [path.name for path in sorted((TEMPLATES / "pages").glob("*.html"))])
def test_a_page_preloads_what_its_scripts_import(page: str) -> None:
    template = (TEMPLATES / "pages" / page).read_text("utf-8")
    scripts = set(SCRIPT.findall(template))
    needed = set[str]().union(*(imports_of(name) for name in scripts)) - scripts
    preloaded = [name for names in PRELOADS.findall(template) for name in re.findall(r'"([^"]+)"', names)]
    assert sorted(preloaded) == sorted(needed)
