"""The violations that axe-core finds on a page, by WCAG 2.2 AA and by good practice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
MODES = ("light", "dark", "narrow")
RULES = {  # what a page that has passed in another mode may still violate in this one
    "dark": ("color-contrast", "link-in-text-block"),
    "narrow": ("target-size", "scrollable-region-focusable", "meta-viewport"),
}

# Marks each element that is styled like an earlier one, and checks colours on the others alone: a page of rules has
# thousands of elements of a few kinds, and axe takes a millisecond for each.
MARK_ALIKE = """() => {
  const seen = new Set();
  const mark = (one, above) => {
    const { color, fill, backgroundColor, backgroundImage, visibility } = getComputedStyle(one);
    const told = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const state = [told, one.checkVisibility(), visibility, one.disabled, one.ariaDisabled];
    const look = [one.tagName, one.getAttribute("class"), color, fill, backgroundColor, backgroundImage, ...state];
    const kind = `${above} > ${look.join()}`;
    one.toggleAttribute("data-alike", seen.has(kind));
    seen.add(kind);
    for (const child of one.children) mark(child, kind);
  };
  mark(document.documentElement, "");
  axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-alike])" }] });
}"""

RUN = """async (only) => {
  const target = { type: only.rules ? "rule" : "tag", values: only.rules ?? only.tags };
  const rules = { "target-size": { enabled: true } };
  const found = await axe.run(document, { runOnly: target, rules, resultTypes: ["violations"], preload: false });
  return found.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.failureSummary} ${node.html}`));
}"""


def find_violations(page: Page, modes: Sequence[str] = MODES) -> list[str]:
    """Return the violations of a page: by every rule in the first mode, dark also by colour, narrow also by size."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.evaluate(AXE_SCRIPT)
    violations, first = list[str](), modes[0]
    for mode in modes:
        with _shown_in(page, mode):
            if mode == first:
                page.evaluate(MARK_ALIKE)
                violations += _run(page, tags=TAGS)
            else:
                violations += [f"{mode}: {one}" for one in _run(page, rules=RULES[mode])]
    return violations


@contextmanager
def _shown_in(page: Page, mode: str) -> Iterator[None]:
    size = page.viewport_size
    if mode == "dark":
        page.emulate_media(color_scheme="dark")
    elif mode == "narrow":
        page.set_viewport_size({"width": 360, "height": 720})
    yield
    if mode == "dark":
        page.emulate_media(color_scheme="light")
    elif mode == "narrow" and size:
        page.set_viewport_size(size)


def _run(page: Page, **only: Any) -> list[str]:
    violations: list[str] = page.evaluate(RUN, only)
    return violations
