"""Refusals: an exception with one sentence that says what to do instead."""

from __future__ import annotations

MAX_WORD_CHARS = 2_000


class Refused(Exception):
    """A command is refused and changes nothing; the text is a sentence for the person who sent it.

    The sentence is stored apart from its words, so that it can be translated. `rule` names the paragraph of the
    game's book that gives the reason, if there is one.
    """

    def __init__(self, sentence: str, /, *, rule: str = "", **words: object) -> None:
        self.sentence = sentence
        self.words = {name: _make_printable(word) if isinstance(word, str) else word for name, word in words.items()}
        self.rule = rule
        super().__init__(sentence.format(**self.words))


def _make_printable(text: str) -> str:
    """Return a player's text with control characters replaced, cut to MAX_WORD_CHARS."""
    printable = "".join(letter if letter.isprintable() else "�" for letter in text[:MAX_WORD_CHARS])
    return printable if len(text) <= MAX_WORD_CHARS else printable[:-1] + "…"
