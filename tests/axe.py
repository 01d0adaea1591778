"""The violations that axe-core finds on a page, by WCAG 2.2 AA and by good practice."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice")
COLOURS = ("color-contrast", "link-in-text-block")
MODES = ("light", "dark", "narrow")
NARROW = ("target-size", "scrollable-region-focusable", "meta-viewport")

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


def find_violations(page: Page, modes: Collection[str] = MODES) -> list[str]:
    """Return the violations of a page in each mode: light and wide by every rule, dark by colour, narrow by size."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.evaluate(AXE_SCRIPT)
    page.evaluate(MARK_ALIKE)
    violations = _run(page, tags=TAGS)
    if "dark" in modes:
        page.emulate_media(color_scheme="dark")
        violations += [f"dark: {one}" for one in _run(page, rules=COLOURS)]
        page.emulate_media(color_scheme="light")
    size = page.viewport_size
    if "narrow" in modes and size:
        page.set_viewport_size({"width": 360, "height": 720})
        violations += [f"narrow: {one}" for one in _run(page, rules=NARROW)]
        page.set_viewport_size(size)
    return violations


def _run(page: Page, **only: Any) -> list[str]:
    violations: list[str] = page.evaluate(RUN, only)
    return violations
