"""Templates of letters use only what they are given, in lines that can be read."""

import pytest

from service.text.templates import TEMPLATES
from tests.templates import find_faults
from workers.outgoing.game_review import ChartDrawing
from workers.outgoing.letter import Letter, PersonalLetter

MAIL = TEMPLATES / "mail"
ENTRY_POINTS = {
    "mail/letter.txt": {"letter": Letter},
    "mail/letter.html": {"letter": Letter},
    "mail/personal.txt": {"letter": PersonalLetter},
    "mail/personal.html": {"letter": PersonalLetter},
    "mail/chart.svg": {"chart": ChartDrawing},
}
PARTS = {"mail/frame.html", "mail/head.html", "mail/shared.html", "mail/letter_parts.txt", "mail/shared.txt"}


@pytest.mark.parametrize("template", ENTRY_POINTS)
def test_a_template_uses_only_the_fields_of_its_struct(template: str) -> None:
    assert find_faults(template, ENTRY_POINTS[template]) == []


def test_each_template_is_an_entry_point_or_a_part_of_one() -> None:
    names = {path.relative_to(TEMPLATES).as_posix() for path in MAIL.iterdir()}
    assert names == ENTRY_POINTS.keys() | PARTS
