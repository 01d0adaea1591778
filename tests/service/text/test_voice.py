"""Catalogues, help and rule books call one thing by one word, as `docs/voice.md` lists them."""

import re
from pathlib import Path

import pytest

from engine import catalogue
from service.text.rulebook import get_path
from service.text.templates import TEMPLATES

# Words for things that have another name in this language, each with that name.
OTHER_WORDS = {
    "nl": {r"sleutel van het toeval": "startwaarde", r"\bhints\b": "tips", r"gastheer": "beheerder", "„": "“"},
    "fr": {
        r"\bpendules?\b": "horloge",
        r"courriel": "e-mail",
        r"heures de repos": "heures calmes",
        r"(?<!ton )\bbots?\b": "robot",
        r"sens horaire": "sens des aiguilles d’une montre",
        r"monastères? spécia(l|ux)": "monastère particulier",
        r"[ \n](?=[;?»])|«[ \n]": "a narrow or no-break space",
    },
    "de": {r"Zufallsschlüssel": "Startwert", r"Zufallsquelle": "Leuchtfeuer", r"Wertungsfigur": "Zählfigur"},
}


def read_texts(language: str) -> dict[Path, str]:
    """Return the translations, the help and the rule books of one language; commands that players type are left out."""
    paths = [TEMPLATES / "help" / f"{language}.md", *(get_path(name, language) for name in catalogue.find_all())]
    paths += sorted((TEMPLATES / "locale" / language / "LC_MESSAGES").glob("*.po"))
    left_out = re.compile(r"`[^`]*`|^msgid.*(\n\".*)*|^#.*", re.MULTILINE)
    return {path: left_out.sub("", path.read_text("utf-8")) for path in paths}


@pytest.mark.parametrize("language", OTHER_WORDS)
def test_one_thing_has_one_word(language: str) -> None:
    texts = read_texts(language).items()
    assert [
        f"{path.name}: “{text[max(0, hit.start() - 20) : hit.end() + 20]}”: write {word}"
        for pattern, word in OTHER_WORDS[language].items()
        for path, text in texts
        for hit in re.finditer(pattern, text)
    ] == []
