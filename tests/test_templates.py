"""The check of templates finds names that are not given and attributes that do not exist."""

import jinja2
import pytest
from msgspec import Struct

from tests.templates import find_faults


class Row(Struct, frozen=True):
    name: str
    points: int = 0


class Page(Struct, frozen=True):
    title: str
    rows: tuple[Row, ...]
    best: Row | None = None
    pairs: tuple[tuple[str, Row], ...] = ()

    @property
    def first(self) -> Row:
        return self.rows[0]

    def find(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)


SHARED_TEMPLATE = "{% macro show(row) %}{{ row.name }} {{ row.score }}{% endmacro %}"
BASE = "{{ page.heading }}{% block body %}{% endblock %}"


def faults(source: str, **others: str) -> list[str]:
    loader = jinja2.DictLoader({"page": source, "shared": SHARED_TEMPLATE, "base": BASE, **others})
    environment = jinja2.Environment(loader=loader, extensions=["jinja2.ext.do"], autoescape=True)
    return find_faults("page", {"page": Page}, environment)


@pytest.mark.parametrize(
    "source",
    [
        "{{ page.title.upper() }} {{ page.first.points }} {{ page.find('Anna').name }} {{ page.rows[0].name }}",
        "{% for row in page.rows if row.points %}{{ loop.index }} {{ row.name }}{% endfor %}",
        "{% for name, row in page.pairs %}{{ name.upper() }} {{ row.points }}{% endfor %}",
        "{% if page.best %}{% set best = page.best %}{{ best.name }}{% endif %}",
        "{% for row in page.rows | selectattr('points') | sort(attribute='name') %}{{ row.name }}{% endfor %}",
        "{% macro show(row) %}{{ row.points }}{% endmacro %}{{ show(page.first) }}",
        "{% with row = page.first %}{{ row.name }}{% endwith %}",
    ],
)
def test_what_a_struct_has_can_be_used(source: str) -> None:
    assert faults(source) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("{{ titel }}", "page:1: `titel` is not given"),
        ("\n{{ page.titel }}", "page:2: Page has no `titel`"),
        ("{{ page.first.score }}", "page:1: Row has no `score`"),
        ("{{ page.title.name }}", "page:1: str has no `name`"),
        ("{% for row in page.rows %}{{ row.score }}{% endfor %}", "page:1: Row has no `score`"),
        ("{% for name, row in page.pairs %}{{ row.score }}{% endfor %}", "page:1: Row has no `score`"),
        ("{% if page.best %}{{ page.best.score }}{% endif %}", "page:1: Row has no `score`"),
        ("{{ page.rows | map(attribute='score') | join }}", "page:1: Row has no `score`"),
        ("{% set row = page.rows[0] %}{{ row.score }}", "page:1: Row has no `score`"),
        ("{% macro show(row) %}{{ row.score }}{% endmacro %}{{ show(page.first) }}", "page:1: Row has no `score`"),
        ("{% macro show(row) %}{{ titel }}{% endmacro %}", "page:1: `titel` is not given"),
        ("{% import 'shared' as shared %}{{ shared.show(page.first) }}", "shared:1: Row has no `score`"),
        ("{% import 'shared' as shared %}{{ shared.tell(1) }}", "page:1: the imported template has no `tell`"),
        ("{% from 'shared' import show %}{{ show(page.first) }}", "shared:1: Row has no `score`"),
        ("{% include 'base' %}", "base:1: Page has no `heading`"),
        ("{% extends 'base' %}{% block body %}{{ page.body }}{% endblock %}", "page:1: Page has no `body`"),
    ],
)
def test_a_missing_name_is_found(source: str, fault: str) -> None:
    assert fault in faults(source)
