"""Settings whose words stand in files: DEPESCHE_SECRET_FILE names the file that holds DEPESCHE_SECRET.

Any setting can stand in a file, and for passwords that is the better place: an environment is shown by `ps e`, by
`podman inspect`, and by programs that report their own crashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.refusal import Refused

ENDING = "_FILE"
LONGEST = 64 * 1024  # bytes


def laid_out(environment: Mapping[str, str], known: frozenset[str]) -> dict[str, str]:
    """The same environment with each known NAME_FILE replaced by NAME and the text in that file."""
    named = {f"{name}{ENDING}": name for name in known}
    found = {name: text for name, text in environment.items() if name not in named}
    for file, name in named.items():
        if path := environment.get(file, "").strip():
            if environment.get(name, "").strip():
                raise Refused("{name} and {file} are both set; keep one of them.", name=name, file=file)
            found[name] = _text(file, path)
    return found


def _text(name: str, path: str) -> str:
    """What the file holds, without the line's end."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(LONGEST + 1).decode().strip()
    except OSError as error:
        raise Refused(
            "{name} names {path}, which cannot be read ({why}); it has to be a file that this process may read.",
            name=name,
            path=path,
            why=error.strerror or error,
        ) from None
    except ValueError:
        raise Refused("{name} names {path}, which holds no text.", name=name, path=path) from None
    if not text or len(text) > LONGEST:
        raise Refused(
            "{name} names {path}, which is {how}; it has to hold the setting and nothing else.",
            name=name,
            path=path,
            how="too long" if text else "empty",
        )
    return text
