"""A window that one test leaves to the next is as if new: nothing that a page stored or failed at is left."""

from __future__ import annotations

import pytest

from tests.windows import Windows

STORE = "() => { localStorage.setItem('names', 'on'); document.cookie = 'theme=dark; path=/'; }"
READ = "() => [localStorage.length, document.cookie, innerWidth, matchMedia('(prefers-reduced-motion)').matches]"


def test_the_next_test_finds_a_window_as_if_new(windows_of_service: Windows) -> None:
    with windows_of_service.opening() as open_page:
        first = open_page("/rules", viewport={"width": 390, "height": 844}, reduced_motion="no-preference")
        first.evaluate(STORE)
        assert first.evaluate(READ) == [1, "theme=dark", 390, False]
    with windows_of_service.opening() as open_page:
        second = open_page("/rules")
        assert second is first
        assert second.evaluate(READ) == [0, "", 1280, True]


def test_a_window_that_a_test_altered_is_not_used_again(windows_of_service: Windows) -> None:
    with windows_of_service.opening() as open_page:
        first = open_page("/rules")
        first.route("**/*.css", lambda route: route.abort())
    with windows_of_service.opening() as open_page:
        assert open_page("/rules") is not first


def test_an_error_of_a_script_fails_the_test(windows_of_service: Windows) -> None:
    with pytest.raises(AssertionError, match="planted"):
        open_page_that_fails(windows_of_service)


def open_page_that_fails(windows: Windows) -> None:
    with windows.opening() as open_page:
        page = open_page("/rules")
        with page.expect_event("pageerror"):
            page.evaluate("() => { setTimeout(() => { throw new Error('planted'); }); }")
