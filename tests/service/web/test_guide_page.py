"""The guide for players is at `/help`, in the reader's language, and every page leads to it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.text.languages import LANGUAGES
from service.text.rulebook import load_guide
from tests.sites import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(Path(tmp_path_factory.mktemp("site")))
    yield site
    site.app.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reader_gets_the_guide_in_the_own_language(site: Site, language: str) -> None:
    answer = site.flask_app.test_client().get("/help", headers={"Accept-Language": language})
    assert answer.status_code == 200
    assert f'<html lang="{language}">' in answer.text
    assert f"<h1>{load_guide(language).title}</h1>" in answer.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_and_picture_of_the_guide_works(site: Site, language: str) -> None:
    client = site.flask_app.test_client()
    page = client.get("/help", headers={"Accept-Language": language}).text
    article = re.search(r"<nav class=\"sheet contents\".*</article>", page, re.DOTALL)
    assert article
    anchors = re.findall(r' id="([^"]+)"', page)
    for address in re.findall(r'(?:href|src)="([^"]+)"', article[0]):
        if address.startswith("#"):
            assert address[1:] in anchors
        else:
            with client.get(address) as answer:
                assert answer.status_code in (200, 303), address


def test_every_page_leads_to_the_guide(site: Site) -> None:
    table = f"/t/{site.start_table().links[0]}"
    for address in ("/", "/rules", "/gallery", "/api", "/enter", table):
        assert '<a href="/help">' in site.flask_app.test_client().get(address).text, address
