"""Entries of a log in prose."""

from service.text.languages import mark_place
from service.text.narration import fold_repeats


def test_what_is_said_several_times_in_a_row_is_told_once_with_the_number() -> None:
    here, there = (f"The {mark_place(place, 'field')} brings nothing." for place in ("1,0", "4,2"))
    assert fold_repeats(["A city is counted.", here, there, here, "The game is over."]) == (
        "A city is counted.",
        f"{here} ×3",
        "The game is over.",
    )


def test_the_same_sentence_after_another_one_is_told_again() -> None:
    sentences = ("Anna plays a 7.", "Bert plays a 7.", "Anna plays a 7.")
    assert fold_repeats(sentences) == sentences
