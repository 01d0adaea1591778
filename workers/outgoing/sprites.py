"""Draws an SVG as pixels from sprites: an element that was on an earlier picture is pasted, only new ones are drawn.

Two boards of one game differ in few elements. resvg needs 100 to 200 ms for a whole board, most of it for what never
changes; pasting all elements of one takes about ten.
"""

from __future__ import annotations

import functools
import io
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from PIL import Image

from service.text.template_files import TEMPLATES

FONTS = TEMPLATES / "static" / "fonts"
TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)((?:\s[^<>]*?)?)(/?)>")
VIEW = re.compile(r"\bviewBox=\"([^\"]+)\"")
REFERENCE = re.compile(r"(?:url\(|href=\")#([\w-]+)")
NAMED = re.compile(r"\bid=\"([\w-]+)\"")
# A group with one of these is drawn as a whole; the attributes of others are passed on to each of their elements.
# So is a piece, which is small and comes again elsewhere.
WHOLE = re.compile(r"\s(?:(?:opacity|filter|mask|clip-path|style)=|class=\"piece)")
NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"
SHIFT = re.compile(rf'transform="(?:translate\({NUMBER}[ ,]+{NUMBER}\))?\s*(?:scale\({NUMBER}\))?"')
CIRCLE = re.compile(rf'(<circle)(?: class="\w+")? cx="{NUMBER}"() cy="{NUMBER}"')
DATA = re.compile(r'\s(?:data-[\w-]+|class|pointer-events|id)="[^"]*"')
UNDRAWN = ("defs", "style", "title", "desc", "metadata")
ROUGH, FINER = 8, 4  # pixels a side of the blocks in which an element is searched before it is drawn; so much finer
MANY, LEARNED = 60, 40  # new elements: more are drawn at once without sprites, of which so many are made for later
SPRITES = 12_000
TALL = 2  # times as high as wide a board may be
GROUNDS = 24  # pictures of some 2 MB that hold what several boards begin with


class Drawing(Struct, frozen=True):
    """A picture in parts: its frame, the definitions that its elements use, and its elements from back to front."""

    head: str
    box: tuple[float, float, float, float]
    shared: str
    definitions: dict[str, str]
    elements: tuple[str, ...]


class Sprite(Struct, frozen=True):
    """The pixels of one element, and where they belong; without pixels where it shows nothing."""

    image: Any = None
    left: int = 0
    top: int = 0


class Placed(Struct, frozen=True):
    """An element as it is drawn at the origin, what its sprite depends on, and where it goes, in pixels."""

    key: tuple[Any, ...]
    content: str
    left: int
    top: int


Kept = TypeVar("Kept")
_sprites: OrderedDict[tuple[Any, ...], Sprite] = OrderedDict()
_seen: OrderedDict[tuple[Any, ...], bool] = OrderedDict()
_grounds: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def paint(svg: str, width: int) -> Image.Image:
    """The picture, so many pixels wide."""
    drawing = read(svg)
    size = (width, max(1, round(width * drawing.box[3] / drawing.box[2])))
    placed = [_placed(drawing, element, width) for element in drawing.elements]
    new = [number for number, one in enumerate(placed) if one.key not in _sprites]
    if len(new) > MANY:
        return _whole(svg, drawing, size, [placed[number] for number in new])
    key = (drawing.box, drawing.head, drawing.shared, size)
    place, canvas = _ground(key, drawing.elements, size)
    settled = True
    for number, one in enumerate(placed[place:], place):
        if settled and one.key not in _sprites:  # a later board is likely to have the same until here
            settled = False
            _keep(_grounds, (key, drawing.elements[:number]), canvas.copy(), GROUNDS)
        _paste(canvas, _sprite(drawing, one, size), one)
    return canvas


def _paste(canvas: Image.Image, sprite: Sprite, one: Placed) -> None:
    left, top = sprite.left + one.left, sprite.top + one.top
    if sprite.image is not None and left < canvas.width and top < canvas.height:
        beyond = (max(0, -left), max(0, -top))
        if beyond[0] < sprite.image.width and beyond[1] < sprite.image.height:
            canvas.alpha_composite(sprite.image, (max(0, left), max(0, top)), beyond)


def _whole(svg: str, drawing: Drawing, size: tuple[int, int], new: Sequence[Placed]) -> Image.Image:
    """The picture without sprites; some are made on the way, of elements that come for the second time."""
    again = [one for one in new if one.key in _seen]
    for one in again[:LEARNED]:
        _sprite(drawing, one, size)
    for one in new:
        _keep(_seen, one.key, True, SPRITES)
    x, y, wide, _ = drawing.box
    inside = svg[svg.index(drawing.head) + len(drawing.head) : svg.rindex("</svg>")]
    return _render(drawing, inside, (x, y, wide, size[1] * wide / size[0]), size)


def _ground(key: tuple[object, ...], elements: tuple[str, ...], size: tuple[int, int]) -> tuple[int, Image.Image]:
    """The kept picture that holds most of the first elements, and how many they are."""
    best = max(
        (first for own, first in _grounds if own == key and elements[: len(first)] == first), key=len, default=()
    )
    if not best:
        return 0, Image.new("RGBA", size)
    _grounds.move_to_end((key, best))
    return len(best), _grounds[key, best].copy()


def _placed(drawing: Drawing, element: str, width: int) -> Placed:
    """An element apart from where it is: the same piece elsewhere is the same sprite, to half a pixel."""
    rest, dx, dy = _moved_to_origin(element)
    x, y, wide, _ = drawing.box
    scale, moved = width / wide, (dx, dy) != (0.0, 0.0)
    across, down = ((dx - x) * scale, (dy - y) * scale) if moved else (0.0, 0.0)
    halves = (round(across * 2), round(down * 2))
    left, top = halves[0] // 2, halves[1] // 2
    own = (*(half % 2 for half in halves), scale) if moved else (width, *drawing.box[:3])
    head = VIEW.sub("", drawing.head)
    return Placed((moved, own, head, drawing.shared, rest, _needed(drawing.definitions, rest)), rest, left, top)


def _moved_to_origin(element: str) -> tuple[str, float, float]:
    """An element without the shifts around it, and how far these move it."""
    place, dx, dy, size, kept = 0, 0.0, 0.0, 1.0, list[str]()
    while tag := TAG.match(element, place):
        if tag[1] or tag[2] != "g":
            break
        found = SHIFT.search(tag[3])
        if found is None:
            if "transform" in tag[3]:
                break
            kept.append(_drawn(tag[0]))
            place = tag.end()
            continue
        across, down, by = float(found[1] or 0), float(found[2] or 0), float(found[3] or 1)
        dx, dy, size = dx + size * across, dy + size * down, size * by
        around = SHIFT.sub(f'transform="scale({found[3]})"' if found[3] else "", tag[3])
        kept.append(_drawn(f"<g{around}>"))
        place = tag.end()
    rest = element[place:]
    circle = CIRCLE.match(rest)
    if circle:
        dx, dy = dx + size * float(circle[2]), dy + size * float(circle[4])
        rest = f"{circle[1]}{circle[3]}{rest[circle.end() :]}"
    return "".join(kept) + DATA.sub("", rest), dx, dy


def _drawn(tag: str) -> str:
    """A tag without what pages need of it."""
    return DATA.sub("", tag)


def _sprite(drawing: Drawing, one: Placed, size: tuple[int, int]) -> Sprite:
    """An element's sprite: searched roughly, then drawn finely only where it is."""
    if one.key in _sprites:
        _sprites.move_to_end(one.key)
        return _sprites[one.key]
    scale = size[0] / drawing.box[2]
    moved, own = one.key[0], one.key[1]
    # Where a moved element is drawn: around the middle of a field that holds it wherever it reaches.
    # A sprite does not depend on the height of the picture, which grows with some boards.
    field = (-(-size[0] // ROUGH), TALL * -(-size[0] // ROUGH))
    reach = field if moved else (0, 0)
    blocks = (field[0] * 2, field[1] * 2) if moved else field
    shift = (own[0] / 2, own[1] / 2) if moved else (-drawing.box[0] * scale, -drawing.box[1] * scale)
    content = str(one.key[-1]) + one.content

    def part(left: int, top: int, pixels: tuple[int, int], reduced: int) -> Image.Image:
        begin = ((left - shift[0]) / scale, (top - shift[1]) / scale)
        return _render(drawing, content, (*begin, pixels[0] * reduced / scale, pixels[1] * reduced / scale), pixels)

    origin = (-reach[0] * ROUGH, -reach[1] * ROUGH)
    step, edges = ROUGH, part(*origin, blocks, ROUGH).getchannel("A").getbbox()
    if edges is None and "<text" in content:  # letters may be too small to be found so
        step, blocks = ROUGH // FINER, (blocks[0] * FINER, blocks[1] * FINER)
        edges = part(*origin, blocks, step).getchannel("A").getbbox()
    if edges is None:
        return _keep(_sprites, one.key, Sprite(), SPRITES)
    left, top = (origin[side] + max(0, edges[side] - 1) * step for side in (0, 1))
    right, bottom = (origin[side] + min(blocks[side], edges[side + 2] + 1) * step for side in (0, 1))
    if not moved:
        right = min(right, size[0])
    return _keep(_sprites, one.key, Sprite(part(left, top, (right - left, bottom - top), 1), left, top), SPRITES)


def _render(drawing: Drawing, content: str, box: tuple[float, ...], size: tuple[int, int]) -> Image.Image:
    """This part of the drawing, exactly so many pixels wide and high."""
    import resvg_py  # slow to load, and only letters need it

    view = f'viewBox="{" ".join(map(str, box))}" width="{size[0]}" height="{size[1]}" preserveAspectRatio="none"'
    svg = f"{VIEW.sub(view, drawing.head)}{drawing.shared}{content}</svg>"
    fonts = _fonts() if "<text" in content else []
    png = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=fonts)
    return Image.open(io.BytesIO(bytes(png))).convert("RGBA")


@functools.cache
def _fonts() -> list[str]:
    return [str(FONTS / "DejaVuSans.ttf"), str(FONTS / "DejaVuSans-Bold.ttf")]


def _keep(kept: OrderedDict[tuple[Any, ...], Kept], key: tuple[Any, ...], value: Kept, most: int) -> Kept:
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
    return value


def _needed(definitions: dict[str, str], element: str) -> str:
    """The definitions that an element uses, directly or through others."""
    names, found = REFERENCE.findall(element), dict[str, str]()
    while names:
        name = names.pop()
        if name not in found and name in definitions:
            found[name] = definitions[name]
            names += REFERENCE.findall(definitions[name])
    return f"<defs>{''.join(found.values())}</defs>" if found else ""


def read(svg: str) -> Drawing:
    """Take a drawing apart into its elements; groups that only pass on attributes are opened."""
    start = TAG.search(svg)
    box = VIEW.search(start[0]) if start else None
    assert start is not None, "a drawing begins with its tag"
    assert box is not None, "a drawing says what it shows"
    x, y, wide, high = map(float, box[1].split())
    definitions, shared, elements = dict[str, str](), list[str](), list[str]()
    for name, text, around in _parts(svg, start.end()):
        if name == "defs":
            definitions |= {own[1]: one for _, one, _ in _parts(_inside(text), 0, True) if (own := NAMED.search(one))}
        elif name == "style":
            shared.append(text)
        elif name not in UNDRAWN:
            elements.append("".join(around) + text + "</g>" * len(around))
    return Drawing(start[0], (x, y, wide, high), "".join(shared), definitions, tuple(elements))


def _parts(svg: str, place: int, whole: bool = False) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Every element with the groups around it; all groups as elements of their own where they are wanted whole."""
    around: list[str] = []
    while tag := TAG.search(svg, place):
        closing, name, attributes, empty = tag.groups()
        if closing:
            if around:
                around.pop()
            place = tag.end()
        elif name == "g" and not empty and not whole and not WHOLE.search(attributes):
            around.append(tag[0])
            place = tag.end()
        else:
            place = tag.end() if empty else _end(svg, tag.end(), name)
            yield name, svg[tag.start() : place], tuple(around)


def _end(svg: str, place: int, name: str) -> int:
    """Where an element ends whose content begins here."""
    depth = 1
    while depth and (tag := TAG.search(svg, place)):
        place = tag.end()
        if tag[2] == name and not tag[4]:
            depth += -1 if tag[1] else 1
    return place


def _inside(text: str) -> str:
    """The content of an element, without its own tags."""
    return text[text.index(">") + 1 : text.rindex("<")]
