"""The structure of the project: which module may import which, and how large files and functions may be."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("engine", "service", "workers")
MAX_FILE_LINES = 400
LONGER_FILES = {  # up to MAX_LONGER_LINES, until a whole topic is moved out of them
    "engine/games/carcassonne/coordinates.py",
    *(f"templates/static/{name}" for name in ("choice-view.js", "depesche.css")),
}
MAX_LONGER_LINES = 450
MAX_FUNCTION_LINES = 40
EXAMPLES = ("service/commands/", "workers/commands/")  # these name games as examples
SOURCE_SUFFIXES = (".py", ".js", ".css", ".html")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Source(NamedTuple):
    """What tests ask of a module: its imports, the lines of its functions, where it lets msgspec inspect a type."""

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    function_lines: tuple[tuple[str, int], ...]
    inspections: tuple[int, ...]
    docstring: str | None


@functools.cache
def read_source(text: str) -> Source:
    """Parse a module, once for all tests."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Source(
        tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)),
        tuple((node.name, (node.end_lineno or 0) - node.lineno + 1) for node in functions),
        tuple(node.lineno for node in nodes if inspects_type(node)),  # type: ignore[attr-defined]
        ast.get_docstring(tree),
    )


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of every import: for `from engine import menu`, engine and engine.menu."""
    package = path.relative_to(ROOT).parent.parts
    for node in read_source(path.read_text("utf-8")).imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            above = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)}


def wrong_imports(path: Path) -> set[str]:
    """Return the imports of a file that break the layers workers -> service -> engine -> (msgspec)."""
    match path.relative_to(ROOT).parts[0]:
        case "engine":
            testing = {"pytest"} if name_of(path).startswith("engine/contract/") else set[str]()
            return tops(path) - sys.stdlib_module_names - {"msgspec", "engine"} - testing
        case "service":
            return tops(path) & {"workers", "tests"}
        case _:
            return tops(path) & {"tests"}


def test_imports_follow_the_layers() -> None:
    assert {name_of(path): wrong for path in sources(*OURS) if (wrong := wrong_imports(path))} == {}


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("engine/menu.py", "import service.tables.desk", {"service"}),
        ("engine/menu.py", "from flask import Flask", {"flask"}),
        ("engine/games/any/rules.py", "def late():\n    import sqlalchemy", {"sqlalchemy"}),
        ("engine/menu.py", "import re, msgspec.json\nfrom engine import chance", set()),
        ("service/desk.py", "from workers import referee", {"workers"}),
        ("service/commands/worker.py", "from workers import referee", {"workers"}),
        ("service/cli.py", "def main():\n    import workers.commands.run", {"workers"}),
        ("workers/post.py", "from service import desk\nfrom engine import table", set()),
    ],
)
def test_a_planted_wrong_import_is_reported(
    file: str, line: str, wrong: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_: line)
    assert wrong_imports(ROOT / file) == wrong


# From the bottom up: a module imports only modules of lower layers, or of its own layer.
LAYERS = (
    ("engine",),
    (
        "service.internet",
        "service.settings",
        "service.links",
        "service.memory",
        "service.numbers",
        "service.wakeups",
        "service.monitoring",
        "service.timing",
    ),
    ("service.text",),
    ("service.store",),
    ("service.app",),
    ("service.people",),
    ("service.notify",),
    ("service.tables",),
    ("service.accounts", "service.hosting"),
    ("service.web", "workers.jobs", "workers.process_pool"),
    ("service.commands", "service.contract", "service.cli", "service"),
    ("workers.incoming",),
    ("workers.outgoing",),
    ("workers",),
    ("workers.commands",),
)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def layer_of(module: str) -> int:
    """Return the layer of the longest prefix in LAYERS; `service` itself is the factory of the web application."""
    layers = {name: layer for layer, names in enumerate(LAYERS) for name in names}
    prefixes = [".".join(module.split(".")[:length]) for length in range(module.count(".") + 1, 0, -1)]
    return next(layers[name] for name in prefixes if name in layers and (name != "service" or module == "service"))


@functools.cache
def map_imports() -> dict[str, set[str]]:
    """Map each module to the modules of the project that it imports, also for type checking only."""
    paths = {module_of(path): path for path in sources(*OURS) if "/migrations/" not in name_of(path)}
    return {
        module: {other for name in imports(path) if (other := find_module(name, paths))}
        for module, path in paths.items()
    }


def find_module(name: str, paths: Mapping[str, Path]) -> str | None:
    """Return the module that an import loads; a package only if its `__init__.py` defines the name."""
    package, _, last = name.rpartition(".")
    if name in paths:
        return name if paths[name].name != "__init__.py" else None
    return package if package in paths and last in paths[package].read_text("utf-8") else None


def test_modules_import_from_lower_layers_only() -> None:
    up = {
        (module, other)
        for module, others in map_imports().items()
        for other in others
        if layer_of(other) > layer_of(module)
    }
    assert up == set()


def test_no_imports_form_a_cycle() -> None:
    order = TopologicalSorter({module: others - {module} for module, others in map_imports().items()})
    order.prepare()  # raises CycleError and names the circle


def test_no_two_modules_and_no_two_public_classes_share_a_name() -> None:
    paths = [path for path in sources("service", "workers") if "/migrations/" not in name_of(path)]
    modules = Counter(path.stem for path in paths if path.name != "__init__.py")
    classes = Counter(node.name for path in paths for node in public(path) if isinstance(node, ast.ClassDef))
    assert [name for names in (modules, classes) for name, count in names.items() if count > 1] == []


def games() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "engine/games").glob("*/__init__.py"))


@pytest.mark.parametrize("game", games())
def test_no_game_imports_another(game: str) -> None:
    others = tuple(f"engine.games.{other}" for other in games() if other != game)
    for path in sources(f"engine/games/{game}"):
        assert [name for name in imports(path) if name.startswith(others)] == [], name_of(path)


@pytest.mark.parametrize("game", games())
def test_only_a_games_own_folders_mention_it(game: str) -> None:
    homes = (f"engine/games/{game}/", f"templates/games/{game}/", *EXAMPLES)
    files = [path for folder in (*OURS, "templates") for path in (ROOT / folder).rglob("*") if path.is_file()]
    mentions = [
        name_of(path)
        for path in files
        if path.suffix not in (".pyc", ".jinja", ".po", ".mo", ".md", ".pot")
        and not name_of(path).startswith(homes)
        and re.search(rf"\b{re.escape(game)}(?![a-z])", path.read_text("utf-8", errors="replace").casefold())
    ]
    assert mentions == []


def test_no_test_lists_the_games() -> None:
    """A test for all games asks the catalogue, so that it holds for the next game as well."""
    assert [where for path in sources("tests") for where in lists_of_games(path)] == []


def lists_of_games(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if not all(game in text for game in games()):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            named = {one.value for one in node.elts if isinstance(one, ast.Constant)}
            if named >= set(games()):
                yield f"{name_of(path)}:{node.lineno}"


def test_no_file_is_too_long() -> None:
    files = [
        path for folder in (*OURS, "templates") for path in (ROOT / folder).rglob("*") if path.suffix in SOURCE_SUFFIXES
    ]
    lengths = {
        name_of(path): len(path.read_text("utf-8").splitlines()) for path in files if path.suffix in SOURCE_SUFFIXES
    }
    long = {name: length for name, length in lengths.items() if length > MAX_FILE_LINES}
    assert {
        name: length for name, length in long.items() if name not in LONGER_FILES or length > MAX_LONGER_LINES
    } == {}


def test_no_function_is_too_long() -> None:
    lengths = {
        f"{name_of(path)}:{function}": length
        for path in sources(*OURS)
        if "/migrations/versions/" not in name_of(path)  # a migration is a list of tables, not a thought
        for function, length in read_source(path.read_text("utf-8")).function_lines
    }
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES} == {}


def test_every_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in sources(*OURS) if not read_source(path.read_text("utf-8")).docstring] == []


def inspects_type(node: ast.AST) -> bool:
    """Return whether a node lets msgspec inspect a type: a decoder, or a conversion to a type."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("msgspec"), attr="convert")):
            return True
        case ast.Call(func=ast.Attribute(attr="Decoder"), args=args, keywords=words):
            return bool(args) or any(word.arg == "type" for word in words)
        case ast.Call(func=ast.Attribute(attr="decode"), keywords=words):
            return any(word.arg == "type" for word in words)
        case ast.ImportFrom(module="msgspec", names=names):
            return any(alias.name in ("convert", "json") for alias in names)
        case ast.ImportFrom(module="msgspec.json"):
            return True
    return False


def test_msgspec_inspects_types_in_one_module_only() -> None:
    """It ended the whole process: see `engine/canonical_json.py`."""
    wrong = [
        f"{name_of(path)}:{line}"
        for path in sources(*OURS)
        for line in read_source(path.read_text("utf-8")).inspections
        if name_of(path) != "engine/canonical_json.py"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("msgspec.convert(told, Clock, strict=False)", True),
        ("msgspec.json.decode(text, type=Clock)", True),
        ("msgspec.json.Decoder(Clock)", True),
        ("from msgspec.json import decode", True),
        ("from msgspec import Struct, convert", True),
        ("msgspec.json.Decoder(float_hook=whole)", False),
        ("make_decoder(Clock).decode(text)", False),
        ("from msgspec import Struct", False),
    ],
)
def test_a_planted_type_inspection_is_reported(line: str, wrong: bool) -> None:
    assert bool(read_source(line).inspections) is wrong


CONTRACT = set(
    "META Options State Event View objection setup menu decide upkeep evolve view hear redeal standing".split()
) | {"outlook", "prune"}
DOCUMENTED_BY_CONTRACT = "engine/games/"
MAX_UNDOCUMENTED_LINES = 8


def public(path: Path) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def has_about(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return any(ast.unparse(line).startswith("about = ") for line in node.body)


def test_public_names_of_the_engine_have_docstrings() -> None:
    """Every public function and class has a docstring, but for what its name and a few lines say already.

    The contract is documented once, in engine/game.py; a box of a game describes itself in `about`.
    """
    undocumented = [
        f"{name_of(path)}:{node.name}"
        for path in sources("engine")
        for node in public(path)
        if not ast.get_docstring(node)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_UNDOCUMENTED_LINES
        and not node.name.startswith("test_")
        and not (name_of(path).startswith(DOCUMENTED_BY_CONTRACT) and (node.name in CONTRACT or has_about(node)))
    ]
    assert undocumented == []


def test_only_one_module_says_that_a_person_has_proven_an_address() -> None:
    makers = {name_of(path) for path in sources("service", "workers") if "ProvenPerson(" in path.read_text("utf-8")}
    assert makers == {"service/people/proof.py"}
