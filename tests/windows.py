"""Windows of a real browser that tests use one after another: to open one costs more than to load a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

from tests.browsing import PAGE_TIMEOUT_MS

LOAD_TIMEOUT_MS = 60_000  # the first page of a service loads libraries and compiles templates
SIZE = {"width": 1280, "height": 720}
MAX_FREE = 4  # windows that wait for a test with the same options
# What a test does to a window that the next test would find again: such a window is closed after the test.
LASTING_OF_PAGE = ("route", "on", "once", "add_init_script", "expose_function", "close")
LASTING_OF_CONTEXT = (
    "new_cdp_session", "new_page", "route", "on", "add_init_script", "set_offline", "grant_permissions", "close",
)  # fmt: skip
LASTING_OF_CLOCK = ("install",)


class Window:
    """One page in a separate browser context, with the options of that context; errors of scripts are collected."""

    def __init__(self, browser: Browser, address: str, motion: str, options: dict[str, Any]) -> None:
        self.options, self.faults, self.can_be_reused, self._motion = options, list[str](), True, motion
        self._address = address
        self.context = browser.new_context(base_url=address, viewport=SIZE, reduced_motion=motion, **options)
        self.context.set_default_timeout(PAGE_TIMEOUT_MS)
        self.context.set_default_navigation_timeout(LOAD_TIMEOUT_MS)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._note_console_error)
        self._devtools = self.context.new_cdp_session(self.page)
        self._scheme = self._own_scheme = options.get("color_scheme", "light")
        self._emulate_media = self.page.emulate_media
        self.page.emulate_media = self._note_media  # type: ignore[method-assign]
        lasting = (self.page, LASTING_OF_PAGE), (self.context, LASTING_OF_CONTEXT), (self.page.clock, LASTING_OF_CLOCK)
        for owner, names in lasting:
            for name in names:
                setattr(owner, name, self._retire_when_called(getattr(owner, name)))

    def _note_media(self, **media: Any) -> None:
        """Emulate what a test wishes; only colours are set back for the next one."""
        self._scheme = media.get("color_scheme", self._scheme)
        self.can_be_reused &= media.keys() == {"color_scheme"}
        self._emulate_media(**media)

    def _note_console_error(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def _retire_when_called(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.can_be_reused = False
            return method(*arguments, **options)

        return call

    def forget(self) -> None:
        """Remove what pages have stored in this window; what the browser cached of scripts and pictures stays."""
        self.context.clear_cookies()
        self._devtools.send("Storage.clearDataForOrigin", {"origin": self._address, "storageTypes": "all"})

    def show(self, path: str, size: dict[str, int], motion: str) -> Page:
        """Load a page in a window of this size, which may have shown another one."""
        if self.page.viewport_size != size:
            self.page.set_viewport_size(size)
        if (self._motion, self._scheme) != (motion, self._own_scheme):
            self._emulate_media(reduced_motion=motion, color_scheme=self._own_scheme)
            self._motion, self._scheme = motion, self._own_scheme
        self.page.goto(path, wait_until="commit")
        self.faults.clear()  # the page before may have failed while it was left
        self.page.wait_for_load_state()
        return self.page

    def rest(self) -> None:
        """Leave the page, which would ask for news all the time."""
        self.page.goto("about:blank")

    def close(self) -> None:
        self.context.close()


class Windows:
    """The windows of one browser at one address."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser, self.address = browser, address
        self._free: list[Window] = []

    @contextmanager
    def opening(self) -> Iterator[Callable[..., Page]]:
        """Yield a function that opens pages, each in a window of its own; errors of their scripts fail the block."""
        used: list[Window] = []

        def open_page(
            path: str = "/", viewport: dict[str, int] = SIZE, reduced_motion: str = "reduce", **options: Any
        ) -> Page:
            used.append(self._take(reduced_motion, options))
            return used[-1].show(path, viewport, reduced_motion)

        yield open_page
        faults = [fault for window in used for fault in window.faults]
        self._give_back(used)
        assert faults == [], faults

    def _take(self, motion: str, options: dict[str, Any]) -> Window:
        for window in self._free:
            if window.options == options:
                self._free.remove(window)
                window.forget()
                return window
        return Window(self._browser, self.address, motion, options)

    def _give_back(self, used: list[Window]) -> None:
        """Keep the windows that were used last, and close the others."""
        for window in (reusable := [window for window in used if window.can_be_reused]):
            window.rest()
        kept = [*reversed(reusable), *self._free]
        self._free = kept[:MAX_FREE]
        self._close([*kept[MAX_FREE:], *(window for window in used if not window.can_be_reused)])

    def _close(self, windows: list[Window]) -> None:
        for window in windows:
            window.close()

    def close(self) -> None:
        self._close(self._free)
