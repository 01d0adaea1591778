"""What axe-core finds on a page, as sentences; it judges by WCAG 2.2 AA and by what is good practice besides."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
COLOURS = ("color-contrast", "link-in-text-block")
NARROW = ("target-size", "scrollable-region-focusable", "meta-viewport")

# Marks what looks like something before it. Colours are judged of the others alone: a page of rules has thousands of
# elements, of a few kinds, and axe takes a millisecond for each.
ALIKE = """() => {
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


def faults(page: Page, every_look: bool = True) -> list[str]:
    """All that is wrong with this page: wide and light by every rule, dark in its colours, narrow in its sizes."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.evaluate(AXE_SCRIPT)
    page.evaluate(ALIKE)
    found = _run(page, tags=TAGS)
    return found + _other_looks(page) if every_look else found


def _other_looks(page: Page) -> list[str]:
    page.emulate_media(color_scheme="dark")
    found = [f"dark: {one}" for one in _run(page, rules=COLOURS)]
    size = page.viewport_size
    page.set_viewport_size({"width": 360, "height": 720})
    found += [f"narrow: {one}" for one in _run(page, rules=NARROW)]
    page.emulate_media(color_scheme="light")
    if size:
        page.set_viewport_size(size)
    return found


def _run(page: Page, **only: Any) -> list[str]:
    found: list[str] = page.evaluate(RUN, only)
    return found
