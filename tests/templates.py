"""Hold templates to what they are given: each name is passed in, each attribute is a field of a known type.

`find_faults("mail/letter.txt", {"letter": Letter})` follows a template into its loops, macros, imports, includes and
the template that it extends. Attributes are resolved against the annotations of structs; where the type is not known,
any attribute may be used.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from jinja2 import nodes
from msgspec import Struct

from service.text.templates import TEMPLATES, get_environment

LONGEST_LINE = 120
SAME_ITEMS = {"list", "sort", "reverse", "unique", "select", "reject", "selectattr", "rejectattr", "default", "trim"}
BY_ATTRIBUTE = {"selectattr", "rejectattr"}


class Macro(NamedTuple):
    """A macro, the template that defines it, and the names it finds there."""

    node: nodes.Macro | nodes.CallBlock
    template: str
    scope: Scope


class Scope:
    """Names with their types, inside an outer scope."""

    def __init__(self, names: Mapping[str, Any], outer: Scope | None = None) -> None:
        self.names, self.outer = dict(names), outer

    def find(self, name: str) -> Any:
        """Return the type of a name; raise KeyError if it is not defined here or further out."""
        if name in self.names:
            return self.names[name]
        if self.outer is None:
            raise KeyError(name)
        return self.outer.find(name)

    def nest(self, names: Mapping[str, Any] | None = None) -> Scope:
        return Scope(names or {}, self)


def find_faults(template: str, given: Mapping[str, Any], environment: jinja2.Environment | None = None) -> list[str]:
    """List the names that a template uses and is not given, and the attributes that their types do not have.

    `given` has the type of each name, `Any` if it is not known. The environment's own names are always given.
    """
    checker = Checker(environment or get_environment())
    checker.check_template(template, Scope(given))
    return list(dict.fromkeys(checker.faults))


def find_long_lines(folder: Path) -> list[str]:
    """List the lines of templates below a folder that are longer than 120 characters.

    In Markdown, a row of a table and a picture are one line each.
    """
    return [
        f"{path.relative_to(TEMPLATES)}:{number}: {len(line)} characters"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".html", ".svg", ".txt", ".md")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE and not (path.suffix == ".md" and line.startswith(("| ", "![")))
    ]


def parse(environment: jinja2.Environment, template: str) -> nodes.Template:
    assert environment.loader
    source, _, _ = environment.loader.get_source(environment, template)
    return environment.parse(source, template)


class Checker:
    """Walks through a template with the types of its names, and collects faults."""

    def __init__(self, environment: jinja2.Environment) -> None:
        self.environment = environment
        self.faults: list[str] = []
        self.template = ""
        self.called = set[tuple[int, tuple[str, ...]]]()
        self.parsed: dict[str, nodes.Template] = {}

    def check_template(self, name: str, scope: Scope) -> Scope:
        """Check a whole template; return the scope with the names that it defines."""
        if name not in self.parsed:
            self.parsed[name] = parse(self.environment, name)
        before, self.template = self.template, name
        self.check_all(order_statements(self.parsed[name]), scope)
        self.check_uncalled_macros(scope)
        self.template = before
        return scope

    def check_uncalled_macros(self, scope: Scope) -> None:
        """Check each macro once with parameters of unknown types, for the names around it."""
        for macro in [one for one in scope.names.values() if isinstance(one, Macro)]:
            self.check_macro(macro, {})

    def check_all(self, statements: Iterable[nodes.Node], scope: Scope) -> None:
        for statement in statements:
            self.check(statement, scope)

    def check(self, node: nodes.Node, scope: Scope) -> None:
        """Check a statement, and add the names that it defines to the scope."""
        match node:
            case nodes.For():
                self.check_loop(node, scope)
            case nodes.Assign():
                self.bind(node.target, self.infer(node.node, scope), scope)
            case nodes.AssignBlock():
                self.check_all(node.body, scope.nest())
                self.bind(node.target, str, scope)
            case nodes.Macro():
                scope.names[node.name] = Macro(node, self.template, scope)
            case nodes.CallBlock():
                self.infer(node.call, scope)
                self.check_macro(Macro(node, self.template, scope), {})
            case nodes.With():
                values = [self.infer(value, scope) for value in node.values]
                inner = scope.nest()
                for target, value in zip(node.targets, values, strict=True):
                    self.bind(target, value, inner)
                self.check_all(node.body, inner)
            case nodes.Block() | nodes.Scope():
                self.check_all(node.body, scope.nest())
            case nodes.Extends() | nodes.Include() | nodes.Import() | nodes.FromImport():
                self.check_other_template(node, scope)
            case nodes.Expr():
                self.infer(node, scope)
            case _:
                self.check_all(node.iter_child_nodes(), scope)

    def check_loop(self, node: nodes.For, scope: Scope) -> None:
        items = self.infer(node.iter, scope)
        inner = scope.nest({"loop": Any})
        self.bind(node.target, item_of(items), inner)
        if node.test:
            self.infer(node.test, inner)
        self.check_all(node.body, inner)
        self.check_all(node.else_, scope.nest())

    def check_other_template(
        self, node: nodes.Extends | nodes.Include | nodes.Import | nodes.FromImport, scope: Scope
    ) -> None:
        """Check a template that this one extends, includes or imports, if its name is a constant."""
        name = node.template.value if isinstance(node.template, nodes.Const) else None
        if not isinstance(name, str):
            return
        with_context = isinstance(node, nodes.Extends) or node.with_context
        other = self.check_template(name, scope.nest() if with_context else Scope({}))
        if isinstance(node, nodes.Import):
            scope.names[node.target] = other
        elif isinstance(node, nodes.FromImport):
            for one in node.names:
                original, alias = one if isinstance(one, tuple) else (one, one)
                scope.names[alias] = other.names.get(original, Any)

    def check_macro(self, macro: Macro, arguments: Mapping[str, Any]) -> None:
        """Check the body of a macro with the types that it is called with; each combination is checked once."""
        parameters = {one.name: arguments.get(one.name, Any) for one in macro.node.args}
        key = (id(macro.node), tuple(map(str, parameters.values())))
        if key in self.called:
            return
        self.called.add(key)
        before, self.template = self.template, macro.template
        inner = macro.scope.nest({"caller": Any, "varargs": Any, "kwargs": Any, **parameters})
        self.check_all(macro.node.body, inner)
        self.template = before

    def bind(self, target: nodes.Node, value: Any, scope: Scope) -> None:
        """Give the names of an assignment's left side their types."""
        if isinstance(target, nodes.Name):
            scope.names[target.name] = value
        elif isinstance(target, nodes.Tuple):
            parts = typing.get_args(value) if typing.get_origin(value) is tuple else ()
            fixed = len(parts) == len(target.items) and Ellipsis not in parts
            for place, part in enumerate(target.items):
                self.bind(part, parts[place] if fixed else item_of(value), scope)

    def infer(self, node: nodes.Node, scope: Scope) -> Any:
        """Return the type of an expression, `Any` if it is not known, and note the faults in it."""
        match node:
            case nodes.Name():
                return self.look_up(node, scope)
            case nodes.Getattr():
                return self.member(self.infer(node.node, scope), node.attr, node)
            case nodes.Getitem():
                self.infer(node.arg, scope)
                return self.item(self.infer(node.node, scope), node)
            case nodes.Call():
                return self.call(node, scope)
            case nodes.Filter():
                return self.filter(node, scope)
            case nodes.CondExpr():
                ways = [self.infer(one, scope) for one in (node.expr1, node.expr2) if one is not None]
                self.infer(node.test, scope)
                return ways[0] if len(ways) == 1 or ways[0] == ways[1] else Any
            case nodes.Const():
                return type(node.value)
            case nodes.Tuple():
                return tuple[tuple(self.infer(one, scope) for one in node.items)]  # type: ignore[misc]  # made here
            case _:
                for child in node.iter_child_nodes():
                    self.infer(child, scope)
                return Any

    def look_up(self, node: nodes.Name, scope: Scope) -> Any:
        try:
            return scope.find(node.name)
        except KeyError:
            if node.name not in self.environment.globals:
                self.add_fault(node, f"`{node.name}` is not given")
            return Any

    def call(self, node: nodes.Call, scope: Scope) -> Any:
        """Check a call; a macro is checked with the types of its arguments."""
        function = self.infer(node.node, scope)
        arguments = [self.infer(one, scope) for one in node.args]
        words = {one.key: self.infer(one.value, scope) for one in node.kwargs}
        for more in (node.dyn_args, node.dyn_kwargs):
            if more is not None:
                self.infer(more, scope)
        if isinstance(function, Macro):
            names = [one.name for one in function.node.args]
            self.check_macro(function, dict(zip(names, arguments, strict=False)) | words)
            return str
        if isinstance(function, types.FunctionType):
            return hints_of(function).get("return", Any)
        return Any

    def filter(self, node: nodes.Filter, scope: Scope) -> Any:
        """Check a filter; filters that only choose or order items keep the type."""
        value = self.infer(node.node, scope) if node.node is not None else str
        for child in (*node.args, *(one.value for one in node.kwargs)):
            self.infer(child, scope)
        attribute = self.attribute_of(node)
        if attribute is not None:
            field = self.member(item_of(value), attribute, node)
            if node.name == "map":
                return list[field]
        if node.name in SAME_ITEMS:
            return value
        return item_of(value) if node.name in ("first", "last") else Any

    def attribute_of(self, node: nodes.Filter) -> str | None:
        """Return the attribute that a filter reads from each item: map(attribute="x"), selectattr("x")."""
        named = [one.value for one in node.kwargs if one.key == "attribute"]
        first = named or (list(node.args[:1]) if node.name in BY_ATTRIBUTE else [])
        value = first[0].value if first and isinstance(first[0], nodes.Const) else None
        return value if isinstance(value, str) and value.isidentifier() else None

    def member(self, owner: Any, name: str, node: nodes.Node) -> Any:
        """Return the type of an attribute; note a fault if none of the possible types has it."""
        if isinstance(owner, Scope):  # an imported template
            if name not in owner.names:
                self.add_fault(node, f"the imported template has no `{name}`")
            return owner.names.get(name, Any)
        members = [member_of(one, name) for one in alternatives(owner)]
        if members and all(one is None for one in members):
            self.add_fault(node, f"{' or '.join(map(name_of, alternatives(owner)))} has no `{name}`")
        return next((one for one in members if one is not None), Any)

    def item(self, owner: Any, node: nodes.Getitem) -> Any:
        parts = typing.get_args(owner)
        place = node.arg.value if isinstance(node.arg, nodes.Const) else None
        fixed = typing.get_origin(owner) is tuple and Ellipsis not in parts
        if fixed and isinstance(place, int):
            if -len(parts) <= place < len(parts):
                return parts[place]
            self.add_fault(node, f"{owner} has no item {place}")
            return Any
        if isinstance(node.arg, nodes.Slice):
            return owner
        if typing.get_origin(owner) in (dict, Mapping):
            return parts[1]
        return Any if fixed else item_of(owner)

    def add_fault(self, node: nodes.Node, fault: str) -> None:
        self.faults.append(f"{self.template}:{node.lineno}: {fault}")


def order_statements(template: nodes.Template) -> list[nodes.Node]:
    """Return the statements of a template as they run: blocks last, if it extends another template."""
    if not any(isinstance(node, nodes.Extends) for node in template.body):
        return list(template.body)
    return sorted(template.body, key=lambda node: isinstance(node, nodes.Block))


def alternatives(owner: Any) -> list[Any]:
    """Return the types that a value may have, without None."""
    if typing.get_origin(owner) in (typing.Union, types.UnionType):
        return [one for one in typing.get_args(owner) if one is not type(None)]
    return [owner]


def member_of(owner: Any, name: str) -> Any:
    """Return the type of an attribute, `Any` if it is not known, None if it does not exist."""
    if typing.get_origin(owner) in (dict, Mapping):
        return typing.get_args(owner)[1]
    kind = str if typing.get_origin(owner) is typing.Literal else typing.get_origin(owner) or owner
    if not isinstance(kind, type) or not is_closed(kind):
        return Any
    hints = hints_of(kind)
    if name in hints:
        return hints[name]
    value = getattr(kind, name, None)
    match value:
        case property(fget=getter) if getter is not None:
            return hints_of(getter).get("return", Any)
        case cached_property(func=getter):
            return hints_of(getter).get("return", Any)
        case types.FunctionType():
            return value
        case _:
            return Any if hasattr(kind, name) else None


def is_closed(kind: type) -> bool:
    """Return whether the class itself lists all attributes of its instances."""
    return issubclass(kind, Struct | tuple) or kind.__module__ in ("builtins", "datetime")


def item_of(owner: Any) -> Any:
    """Return the type of the items of a sequence, or of the keys of a mapping."""
    for one in alternatives(owner):
        origin, parts = typing.get_origin(one), typing.get_args(one)
        if origin is tuple and Ellipsis not in parts:
            return parts[0] if len(set(map(str, parts))) == 1 else Any
        if origin in (tuple, list, set, frozenset, dict, Sequence, Iterable, Iterator, Mapping):
            return parts[0]
    return Any


def hints_of(owner: type | Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a class or function; unknown types where a name is imported for type checks alone."""
    try:
        return typing.get_type_hints(owner)
    except NameError:
        return dict.fromkeys(getattr(owner, "__annotations__", {}), Any)


def name_of(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))
