"""Saying no: one sentence that tells what to do instead."""

from __future__ import annotations


class Refused(Exception):
    """A command that changes nothing; its text is a sentence for the person who sent it.

    The sentence is kept apart from the words that fill it, so that it can be translated. `rule` names the
    paragraph of the game's README that says why, where there is one.
    """

    def __init__(self, sentence: str, /, *, rule: str = "", **words: object) -> None:
        self.sentence = sentence
        self.words = words
        self.rule = rule
        super().__init__(sentence.format(**words))
