"""Compiled templates are stored for the next process, and compiled again when a template has changed."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from service.text.templates import BytecodeCache


class CountingEnvironment(jinja2.Environment):
    """Counts the templates that it compiles."""

    compiled = 0

    def compile(self, *arguments: object, **options: object) -> object:  # type: ignore[override]  # only counted here
        self.compiled += 1
        return super().compile(*arguments, **options)  # type: ignore[call-overload]


def make_environment(folder: Path, template: str = "one") -> CountingEnvironment:
    """Make an environment as a new process would."""
    return CountingEnvironment(loader=jinja2.DictLoader({"page": template}), bytecode_cache=BytecodeCache(folder))


@pytest.fixture(autouse=True)
def _write_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)


def test_the_next_process_finds_the_compiled_template(tmp_path: Path) -> None:
    assert make_environment(tmp_path / "new").get_template("page").render() == "one"
    second = make_environment(tmp_path / "new")
    assert second.get_template("page").render() == "one"
    assert second.compiled == 0


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    make_environment(tmp_path).get_template("page")
    changed = make_environment(tmp_path, "two")
    assert changed.get_template("page").render() == "two"
    assert changed.compiled == 1


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        environment = make_environment(tmp_path / "file")
        assert environment.get_template("page").render() == "one"
        assert environment.compiled == 1


def test_nothing_is_stored_where_python_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    make_environment(tmp_path / "new").get_template("page")
    assert not (tmp_path / "new").exists()
