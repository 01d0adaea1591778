"""The guide for hosts explains every line of the doctor that asks for something, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from service.commands import mail_records
from workers.commands import checkups, doctor

GUIDE = Path(__file__).parents[3] / "docs" / "hosting.md"
MODULES = (doctor, checkups, mail_records)
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
GAP = "…"  # what differs from server to server


def list_lines(source: str) -> set[str]:
    """List the lines that the functions of a module can print, except those that say ok."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {line for function in functions for line in iter_lines(function)}


def iter_lines(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name("make_warning" | "make_failure"), args=[_, what, *_]):
                yield from resolve(what, function)
            case ast.Call(func=ast.Name("CheckResult"), args=[ast.Constant("look"), _, what, *_]):
                yield from resolve(what, function)
            case ast.Call(func=ast.Name("try_check"), args=[_, name, *_]):
                yield from (f"{line}: {GAP}" for line in resolve(name, function))


def resolve(text: ast.expr, function: ast.FunctionDef) -> Iterator[str]:
    """Yield the texts that an expression can have; a variable has every text that the function gives to it."""
    match text:
        case ast.Constant(str(words)):
            yield words
        case ast.JoinedStr(parts):
            yield "".join(part.value if isinstance(part, ast.Constant) else GAP for part in parts)
        case ast.Name(name):
            assigned = [value for key, value in iter_assignments(function) if key == name]
            assert assigned, f"{function.name} gives no text to {name}"
            for value in assigned:
                yield from resolve(value, function)
        case _:
            raise AssertionError(f"{function.name}: {ast.unparse(text)} is no text; write the line where it is found")


def iter_assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(names)], value=ast.Tuple(values)):
                pairs = zip(names, values, strict=True)
                yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def list_explained_lines() -> set[str]:
    section = GUIDE.read_text("utf-8").partition("\n## Troubleshooting\n")[2].partition("\n## ")[0]
    return set(ROW.findall(section))


def test_every_line_is_explained_and_no_other() -> None:
    lines = set[str]().union(*(list_lines(Path(str(module.__file__)).read_text("utf-8")) for module in MODULES))
    assert len(lines) > 30
    assert lines == list_explained_lines()


def test_a_line_that_is_planted_is_noticed() -> None:
    planted = 'def check(name):\n    what = f"disk {name} is full"\n    yield make_warning("disk", what, "")\n'
    assert list_lines(planted) == {"disk … is full"}
