"""Templates of letters use only what they are given."""

from typing import Any

import pytest

from tests.templates import find_faults
from workers.outgoing.letters import LetterContext
from workers.outgoing.personal_letters import PersonalLetterContext

GIVEN: dict[str, dict[str, Any]] = {
    "mail/letter.txt": {"sheet": LetterContext},
    "mail/letter.html": {"sheet": LetterContext, "pictures": dict[str, str]},
    "mail/person.txt": {"sheet": PersonalLetterContext},
    "mail/person.html": {"sheet": PersonalLetterContext},
}


@pytest.mark.parametrize("template", GIVEN)
def test_a_template_uses_only_the_fields_of_its_struct(template: str) -> None:
    assert find_faults(template, GIVEN[template]) == []
