"""Saying no: one sentence that tells what to do instead."""

from __future__ import annotations


class Refused(Exception):
    """A command that changes nothing; its text is a sentence for the person who sent it.

    The sentence is kept apart from the words that fill it, so that it can be translated. `rule` names the
    paragraph of the game's book that says why, where there is one.
    """

    def __init__(self, sentence: str, /, *, rule: str = "", **words: object) -> None:
        self.sentence = sentence
        self.words = {name: _readable(word) if isinstance(word, str) else word for name, word in words.items()}
        self.rule = rule
        super().__init__(sentence.format(**self.words))


def _readable(word: str) -> str:
    """What somebody wrote, fit to be shown: no control characters, and never a whole book."""
    shown = word if word.isprintable() else "".join(letter if letter.isprintable() else "�" for letter in word[:2000])
    return shown if len(shown) <= 2000 else shown[:1999] + "…"
