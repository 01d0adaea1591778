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
WHOLE = re.compile(r"\s(opacity|filter|mask|clip-path|style)=")
UNDRAWN = ("defs", "style", "title", "desc", "metadata")
ROUGH = 8  # pixels a side of the blocks in which an element is searched before it is drawn finely
MANY, LEARNED = 25, 20  # new elements: more are drawn at once without sprites, of which so many are made for later
SPRITES = 4_000
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


Kept = TypeVar("Kept")
_sprites: OrderedDict[tuple[Any, ...], Sprite] = OrderedDict()
_seen: OrderedDict[tuple[Any, ...], bool] = OrderedDict()
_grounds: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def paint(svg: str, width: int) -> Image.Image:
    """The picture, so many pixels wide."""
    drawing = read(svg)
    size = (width, max(1, round(width * drawing.box[3] / drawing.box[2])))
    keys = [_sprite_key(drawing, element, width) for element in drawing.elements]
    new = [place for place, key in enumerate(keys) if _found(key, size[1]) is None]
    if len(new) > MANY:
        return _whole(svg, drawing, size, {place: keys[place] for place in new})
    key = (drawing.box, drawing.head, drawing.shared, size)
    place, canvas = _ground(key, drawing.elements, size)
    settled = True
    for number, element in enumerate(drawing.elements[place:], place):
        known = keys[number]
        if settled and _found(known, size[1]) is None:  # a later board is likely to have the same until here
            settled = False
            _keep(_grounds, (key, drawing.elements[:number]), canvas.copy(), GROUNDS)
        sprite = _sprite(drawing, element, size, known)
        if sprite.image is not None:
            canvas.alpha_composite(sprite.image, (sprite.left, sprite.top))
    return canvas


def _whole(svg: str, drawing: Drawing, size: tuple[int, int], new: dict[int, tuple[Any, ...]]) -> Image.Image:
    """The picture without sprites; some are made on the way, of elements that come for the second time."""
    again = [(place, key) for place, key in new.items() if key in _seen]
    for place, key in again[:LEARNED]:
        _sprite(drawing, drawing.elements[place], size, key)
    for key in new.values():
        _keep(_seen, key, True, SPRITES)
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


def _sprite_key(drawing: Drawing, element: str, width: int) -> tuple[object, ...]:
    """What a sprite depends on; not the height of the picture, which grows with some boards."""
    head = VIEW.sub("", drawing.head)
    return (width, drawing.box[:3], head, drawing.shared, element, _needed(drawing.definitions, element))


def _sprite(drawing: Drawing, element: str, size: tuple[int, int], key: tuple[object, ...]) -> Sprite:
    """An element's sprite: searched roughly, then drawn finely only where it is."""
    found = _found(key, size[1])
    if found is not None:
        return found
    x, y, wide, _ = drawing.box
    (width, height), content = size, str(key[-1]) + element
    scale = width / wide
    blocks = (-(-width // ROUGH), -(-height // ROUGH))
    rough = _render(drawing, content, (x, y, *(count * ROUGH / scale for count in blocks)), blocks)
    edges = rough.getchannel("A").getbbox()
    if edges is None and "<text" not in element:
        return _keep(_sprites, (*key, height), Sprite(), SPRITES)
    if edges is None:  # letters may be too small to be found
        image = _render(drawing, content, (x, y, wide, height / scale), size)
        return _keep(_sprites, (*key, height), Sprite(image) if image.getbbox() else Sprite(), SPRITES)
    left, top = (max(0, (edge - 1) * ROUGH) for edge in edges[:2])
    right, bottom = min(width, (edges[2] + 1) * ROUGH), min(height, (edges[3] + 1) * ROUGH)
    part = (x + left / scale, y + top / scale, (right - left) / scale, (bottom - top) / scale)
    # One at the lower edge may go on below it, on a higher picture.
    own = key if edges[3] < rough.height else (*key, height)
    return _keep(
        _sprites, own, Sprite(_render(drawing, content, part, (right - left, bottom - top)), left, top), SPRITES
    )


def _found(key: tuple[object, ...], height: int) -> Sprite | None:
    """The sprite of an element, or the one for pictures of this height."""
    for own in (key, (*key, height)):
        if own in _sprites:
            _sprites.move_to_end(own)
            return _sprites[own]
    return None


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
