"""The pictures of the documentation exist, are small, and show the pages and letters as they are now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from tests.conftest import or_skip
from tests.pictures import FOLDER, MAX_FILE_BYTES, PICTURES, get_path, open_studio, write_pictures

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("templates/help/*.md")]
IMAGE = re.compile(r'!\[([^\]]*)\]\(([^)\s]+)\)|<img (?=[^>]*alt="([^"]*)")[^>]*src="([^"]+)"|<img ')
THUMBNAIL = (64, 64)
MAX_DIFFERENCE = 2.0  # of 255, on average: other fonts stay below it, another position or page does not


def find_images(page: Path) -> Iterator[tuple[str, Path]]:
    """Yield the description and the file of each picture on a page."""
    for match in IMAGE.finditer(page.read_text("utf-8")):
        yield match[1] or match[3] or "", (page.parent / (match[2] or match[4] or "")).resolve()


def measure_difference(one: Path, other: Path) -> float:
    """Return by how much two pictures differ if one sees no details, from 0 to 255."""
    difference = ImageChops.difference(load_thumbnail(one), load_thumbnail(other))
    return sum(ImageStat.Stat(difference).mean) / 3


def load_thumbnail(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB").resize(THUMBNAIL, Image.Resampling.BOX)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_its_size_and_is_small(name: str) -> None:
    path = get_path(FOLDER, name)
    assert path.stat().st_size < MAX_FILE_BYTES
    with Image.open(path) as image:
        assert image.size == PICTURES[name].size


def test_every_picture_is_written_by_make_pictures() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {get_path(FOLDER, name).name for name in PICTURES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_pictures_that_exist_and_describes_them(page: Path) -> None:
    for description, path in find_images(page):
        assert path.is_file(), path
        assert path.parent != FOLDER or path.stem in PICTURES
        assert description, f"{path.name} needs a description, for readers who do not see it"


def test_the_readme_shows_a_letter_a_table_and_the_verifier() -> None:
    shown = {path.stem for _, path in find_images(ROOT / "README.md")}
    assert shown >= {"letter-en", "table-laptop-en", "table-phone-en", "verifier-en"}


@pytest.mark.release
@pytest.mark.usefixtures("real_pictures")
def test_the_pictures_show_what_the_service_shows_now(tmp_path: Path) -> None:
    with or_skip(open_studio) as studio:
        write_pictures(studio, tmp_path)
    differences = {name: measure_difference(get_path(FOLDER, name), get_path(tmp_path, name)) for name in PICTURES}
    old = [name for name, difference in differences.items() if difference > MAX_DIFFERENCE]
    assert not old, f"call make pictures: {differences}"


@pytest.mark.parametrize("other", ["table-dark", "table-laptop-en", "kaiser"])
def test_another_picture_differs_by_more_than_the_limit(other: str) -> None:
    assert measure_difference(get_path(FOLDER, "table-phone-en"), get_path(FOLDER, other)) > MAX_DIFFERENCE
