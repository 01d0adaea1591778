"""Where templates are: in the house's own folder, or in that of a package that brings a game."""

from __future__ import annotations

from pathlib import Path

import jinja2
from jinja2.loaders import split_template_path

from engine import catalogue

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
GAMES = "games/"


def template_file(name: str) -> Path:
    """The file of a template; for a package `games/<name>/board.svg` is the `templates/board.svg` in its folder."""
    game, _, rest = name.removeprefix(GAMES).partition("/")
    if name.startswith(GAMES) and game in catalogue.get_package_folders():
        return catalogue.get_package_folders()[game] / "templates" / rest
    return TEMPLATES / name


class Templates(jinja2.BaseLoader):
    """The templates; a text is also found with `.html` after its name, where all that people wrote is escaped.

    A macro is compiled with the file it stands in, so what a page or picture takes from a plain text would not be.
    """

    def get_source(self, _: jinja2.Environment, template: str) -> tuple[str, str, None]:
        name = "/".join(split_template_path(template))  # refuses to climb out of the folder
        path = template_file(name.removesuffix(".html") if ".txt." in name else name)
        if not path.is_file():
            raise jinja2.TemplateNotFound(template)
        return path.read_text("utf-8"), str(path), None  # read once: they belong to the code that runs

    def list_templates(self) -> list[str]:
        packages = {f"{GAMES}{name}/": home / "templates" for name, home in catalogue.get_package_folders().items()}
        homes = {"": TEMPLATES, **packages}
        found = ((prefix, home, path) for prefix, home in homes.items() for path in home.rglob("*") if path.is_file())
        return sorted(prefix + path.relative_to(home).as_posix() for prefix, home, path in found)
