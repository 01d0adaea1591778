"""Each page template uses only the fields of its struct."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from msgspec import Struct

from service.text.languages import SOURCE
from service.text.templates import TEMPLATES
from service.web.rendering import Site, make_page_environment
from tests.templates import find_faults, find_long_lines

WEB = Path(__file__).parents[3] / "service" / "web"


def find_renderings() -> Iterator[tuple[str, type[Struct]]]:
    """Find each `render("x.html", page)` in the code; yield the template and the type of the page."""
    for path in sorted(WEB.rglob("*.py")):
        if "render(" not in path.read_text("utf-8"):
            continue
        module = importlib.import_module(".".join(path.relative_to(WEB.parents[1]).with_suffix("").parts))
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                for call in calls_of_render(function):
                    assert isinstance(call.args[0], ast.Constant), f"{path}: a template without a name"
                    yield str(call.args[0].value), type_of(call.args[1], function, module)


def calls_of_render(function: ast.FunctionDef) -> list[ast.Call]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "render"]


def type_of(page: ast.expr, function: ast.FunctionDef, module: ModuleType) -> type[Struct]:
    """Return the struct of an argument: the call is in the argument itself or assigned to its variable."""
    if isinstance(page, ast.Name):
        (page,) = (
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and ast.dump(node.targets[0]) == ast.dump(ast.Name(page.id, ast.Store()))
        )
    assert isinstance(page, ast.Call), ast.unparse(page)
    assert isinstance(page.func, ast.Name), ast.unparse(page)
    maker: Any = getattr(module, page.func.id)
    kind = maker if isinstance(maker, type) else get_type_hints(maker)["return"]
    assert issubclass(kind, Struct), f"{kind} is no struct"
    assert kind.__struct_config__.frozen, f"{kind} is not frozen"
    return kind


PAGES = dict(find_renderings())


@pytest.mark.parametrize("template", PAGES)
def test_a_template_uses_only_the_fields_of_its_struct(template: str) -> None:
    given = {"page": PAGES[template], "site": Site}
    assert find_faults(f"pages/{template}", given, make_page_environment(SOURCE)) == []


def test_every_page_has_a_struct() -> None:
    extended = {path.name for path in (TEMPLATES / "pages").iterdir() if "extends" in path.read_text("utf-8")}
    assert extended - set(PAGES) == set()


def test_no_line_of_a_template_is_long() -> None:
    assert find_long_lines(TEMPLATES) == []
