"""A mail server that discards letters, and announces pipelining as most mail servers do; for `aiosmtpd -c`."""

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP, Envelope, Session


class PipeliningSink(Sink):
    """Discards letters."""

    async def handle_EHLO(  # noqa: N802 -- aiosmtpd calls it so
        self, _: SMTP, session: Session, __: Envelope, name: str, answers: list[str]
    ) -> list[str]:
        session.host_name = name
        return [answers[0], "250-PIPELINING", *answers[1:]]
