"""Parts of a page that a move did not touch are not made again, and short ways through Jinja lead to the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import meta, pass_context, pass_environment
from markupsafe import Markup

from service.text.languages import LANGUAGES
from service.text.templates import TEMPLATES, Canvas, Environment, FragmentCache, get_environment
from service.web.rendering import make_page_environment
from tests.sites import Site

IMPORT = re.compile(r'\{%-?\s*(?:import|from)\s+"([^"]+)"(\s[^%~]*)%\}')
CALLS = """
{%- macro show(word, mark="!") %}<b>{{ word }}{{ mark }}</b>{% endmacro -%}
{%- macro around(word, mark="!") %}<b>{{ word }}{{ mark }}{{ caller() }}</b>{% endmacro -%}
{% block body %}{% for word in ("a", "<b>") %}{% set inner = word %}
{{ show(word) }} {% call around(word, mark="?") %}{{ loop.index }}{% endcall %}
{{ name_loop() }} {{ name_language() }} {{ word.upper() }}
{{ plain(word, mark="<") }} {{ kept.call(word) }} {{ kept(word) }}
{% endfor %}{% endblock %}
"""


class Kept:
    """A callable value with a method."""

    def call(self, word: str) -> str:
        return f"called {word}"

    def __call__(self, word: str) -> Markup:
        return Markup("<i>{}</i>").format(word)


@pass_context
def name_loop(context: jinja2.runtime.Context) -> str:
    return f"{context['inner']} of {context.name}"


@pass_environment
def name_language(environment: jinja2.Environment) -> str:
    return str(environment.globals["language"])


def write_plain(word: str, mark: str) -> str:
    return word + mark


@pytest.mark.parametrize("autoescape", [True, False])
def test_calls_give_what_jinja_gives(autoescape: bool) -> None:
    def render(kind: type[jinja2.Environment]) -> str:
        loader = jinja2.DictLoader({"page": CALLS})
        environment = kind(loader=loader, autoescape=autoescape, undefined=jinja2.StrictUndefined)
        environment.globals |= {"name_loop": name_loop, "name_language": name_language, "language": "en"}
        return environment.get_template("page").render(plain=write_plain, kept=Kept())

    assert render(Environment) == render(jinja2.Environment)
    with pytest.raises(jinja2.UndefinedError):
        Environment(undefined=jinja2.StrictUndefined).from_string("{{ missing(1) }}").render()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["page.html", "page.txt"])
def test_sentences_are_filled_and_escaped_as_jinja_does(language: str, name: str) -> None:
    environment = get_environment(language).overlay(
        loader=jinja2.DictLoader({name: '{{ _("100 %% of <b>") }} {{ _("of %(who)s & co", who="<Zoe>") }}'})
    )
    expected = "100 % of <b> of &lt;Zoe&gt; & co" if name.endswith("html") else "100 % of <b> of <Zoe> & co"
    assert environment.get_template(name).render() == expected


def test_a_fragment_is_made_once_until_newer_ones_need_its_room() -> None:
    made = list[str]()

    def make(word: str) -> str:
        made.append(word)
        return word

    cached = FragmentCache(2)
    assert [cached(word, make, word) for word in "aabab"] == list("aabab")
    assert made == ["a", "b"]
    cached("c", make, "c")
    cached("a", make, "a")
    assert made == ["a", "b", "c", "a"]


def test_after_a_move_only_its_own_line_of_the_log_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path)
    opened = site.start_table()
    written, fragments = list[Any](), make_page_environment("en").globals["cached"]._fragments
    put = fragments.put
    monkeypatch.setattr(fragments, "put", lambda name, line: (written.append(name), put(name, line)))
    for _ in range(4):
        site.submit(opened, site.list_moves(opened)[0])
    visitors = [(site.new_visitor(), link) for link in opened.links]
    for visitor, link in visitors:
        visitor.get(f"/t/{link}")
    lines = len(written)
    assert lines >= 2 * 4
    for _ in range(2):
        site.submit(opened, site.list_moves(opened)[0])
        for visitor, link in visitors:
            page = visitor.get(f"/t/{link}")
            assert page.partition('<ul class="events">')[2].partition("</ul>")[0].count("<li") == lines // 2 + 1
        assert len(written) == lines + 2
        lines += 2


def list_needs(name: str, environment: jinja2.Environment) -> Iterator[str]:
    """Yield the variables that a template needs where it is imported, for itself or for what it imports."""
    source = environment.loader.get_source(environment, name)[0]  # type: ignore[union-attr]  # there is a loader
    yield from meta.find_undeclared_variables(environment.parse(source)) - set(environment.globals)
    for imported, rest in IMPORT.findall(source):
        if "with context" in rest:
            yield from list_needs(imported, environment)


def test_a_template_that_depends_on_no_reader_is_imported_once_for_all() -> None:
    environment = make_page_environment("en")
    files = [path for path in TEMPLATES.rglob("*") if path.suffix in (".html", ".svg", ".txt") and path.is_file()]
    needless = [
        f"{path.relative_to(TEMPLATES)}: {name}"
        for path in files
        for name, rest in IMPORT.findall(path.read_text("utf-8"))
        if "with context" in rest and not set(list_needs(name, environment))
    ]
    assert needless == []


def test_what_reaches_over_the_edge_of_a_text_board_is_cut_off() -> None:
    sheet = Canvas(5, 2)
    for x, y, text in ((-2, 0, "abc"), (3, 0, "defg"), (7, 0, "far"), (0, 5, "low"), (-9, 1, "left"), (0.6, 1.2, "ok")):
        sheet.put(x, y, text)
    assert sheet.list_rows() == ["c  de", " ok"]
