"""Writes the replies of the corpus as mails: `python -m tests.workers.incoming.replies.make`."""

from __future__ import annotations

from pathlib import Path

from tests.workers.incoming.replies.cases import POSITIONS, REPLIES, Reply

FOLDER = Path(__file__).parent
LETTER = """Anna, it is your turn.
You have time until 2027-02-06, 10:00 (UTC).

What you can do:
{hints}

Make your move: http://127.0.0.1:8765/t/abcdefghijklmnopqrstuvwxyz234567

--
Receipt after 4 entries: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"""


def mail(reply: Reply) -> bytes:
    """A reply as it comes over the wire."""
    position = POSITIONS[reply.game]
    body = reply.client(reply.own, LETTER.format(hints=position.hints), reply.language)
    headers = {
        "From": "Anna <anna@example.org>",
        "To": f"<{position.answer}>",
        "Subject": "Re: Kurier: Anna, Berta [000000]",
        "Date": "Wed, 3 Feb 2027 11:00:00 +0100",
        "Message-ID": f"<{reply.name}@example.org>",
    }
    headers |= dict(line.split(": ", 1) for line in reply.headers.splitlines())
    head = "".join(f"{name}: {value}\n" for name, value in headers.items())
    return f"{head}MIME-Version: 1.0\n{body.headers}\n\n".encode() + body.content


def main() -> None:
    for old in FOLDER.glob("*.eml"):
        old.unlink()
    for reply in REPLIES:
        (FOLDER / f"{reply.name}.eml").write_bytes(mail(reply))


if __name__ == "__main__":
    main()
