"""Browsers keep scripts and styles for a year, and get the right ones after each change."""

import re

import pytest
from werkzeug.test import TestResponse

from service.web import static_files
from service.web.static_files import FOREVER, find_version
from tests.sites import Site

ADDRESS = re.compile(r'(?:src|href)="(/static/[^"]+)"')
OLD_VERSION = "v0123456789"


def get(site: Site, address: str, **headers: str) -> TestResponse:
    return site.flask_app.test_client().get(address, headers=headers, buffered=True)


def test_the_files_of_a_page_are_kept_without_asking(site: Site) -> None:
    addresses = ADDRESS.findall(get(site, "/").text)
    assert any(address.endswith(".css") for address in addresses)
    for address in addresses:
        assert address.startswith(f"/static/{find_version()}/")
        answer = get(site, address)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, FOREVER)


@pytest.mark.parametrize("folder", ["", f"{OLD_VERSION}/"])
def test_a_file_of_another_version_is_the_one_of_today_and_is_asked_for_each_time(site: Site, folder: str) -> None:
    now, other = (get(site, f"/static/{version}table.js") for version in (f"{find_version()}/", folder))
    assert other.data == now.data
    assert other.headers["Cache-Control"] == "no-cache"
    again = get(site, f"/static/{folder}table.js", **{"If-None-Match": other.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("folder", ["", f"{OLD_VERSION}/", f"{OLD_VERSION}/{OLD_VERSION}/", "vno/"])
def test_a_file_that_does_not_exist_is_not_kept(site: Site, folder: str) -> None:
    for version in (folder, f"{find_version()}/{folder}"):
        answer = get(site, f"/static/{version}no-such-file.js")
        assert answer.status_code == 404
        assert "immutable" not in answer.headers["Cache-Control"]


def test_the_version_changes_with_each_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_files, "FOLDER", tmp_path)
    versions = set[str]()
    for name, content in (("a.js", "1"), ("a.js", "2"), ("b.js", "2"), ("icons/a.svg", "3")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        versions.add(find_version.__wrapped__())
    assert len(versions) == 4


def test_scripts_name_each_other_by_relative_addresses() -> None:
    """An absolute one would leave the folder of the version, and browsers would load the script twice."""
    for script in static_files.FOLDER.glob("*.js"):
        named = re.findall(r'(?:from|import)\s*\(?\s*"([^"]+)"', script.read_text("utf-8"))
        assert all(name.startswith("./") for name in named), script.name
