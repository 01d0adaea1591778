"""Refusals: an exception with one sentence that says what to do instead."""

from __future__ import annotations

MAX_WORD_CHARS = 2_000
NO_BREAK_SPACES = "\u00a0\u202f"  # French has one before a colon; Python takes them for unprintable


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


def is_printable(letter: str) -> bool:
    """Return whether a letter is no control character, and can be shown to people."""
    return letter.isprintable() or letter in NO_BREAK_SPACES


def _make_printable(text: str) -> str:
    """Return a player's text with control characters replaced, cut to MAX_WORD_CHARS."""
    printable = "".join(letter if is_printable(letter) else "�" for letter in text[:MAX_WORD_CHARS])
    return printable if len(text) <= MAX_WORD_CHARS else printable[:-1] + "…"
