"""What tests of pages share: a hall, and somebody who visits it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.test_pages import Hall, Visitor


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(tmp_path)
    yield hall
    hall.house.close()


@pytest.fixture
def visitor(hall: Hall) -> Visitor:
    return hall.visitor()
