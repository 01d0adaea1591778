"""What the DNS says of letters from here: who may send them (SPF), whose key signs them (DKIM), and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from service.commands.findings import Finding, odd, well
from service.dns_client import Kind, NotAnswered, Server, ask
from service.settings import Settings

ABOUT = "dns"


class Zone:
    """The records around the domain that letters come from."""

    def __init__(self, settings: Settings, servers: Sequence[Server]) -> None:
        self._settings, self._servers = settings, servers
        self._domain = settings.mail_host

    def look(self) -> Iterator[Finding]:
        """Each record that a house needs; where no name server answers, that alone."""
        try:
            yield from (*self._app(), *self._spf(), *self._dkim(), *self._dmarc(), *self._answers())
        except NotAnswered as why:
            yield odd(
                ABOUT, f"nothing could be asked: {why}", "name a server that answers: depesche doctor --dns 9.9.9.9"
            )

    def _ask(self, name: str, kind: Kind) -> list[str]:
        return ask(name, kind, self._servers)

    def _texts(self, name: str, version: str) -> list[str]:
        """The TXT records that begin with this word."""
        found = self._ask(name, "TXT")
        return [text for text in found if text.replace(";", " ").split()[:1] == [version]]

    def _app(self) -> Iterator[Finding]:
        """Links in letters lead to a name; it needs an address."""
        name = urlsplit(self._settings.address).hostname or ""
        if not name.strip(".0123456789") or ":" in name or "." not in name:
            return  # an address itself, or a name of this machine's own
        found = [*self._ask(name, "A"), *self._ask(name, "AAAA")]
        if found:
            yield well(ABOUT, f"{name} is {', '.join(found)}")
        else:
            yield odd(ABOUT, f"{name}, where the links lead, has no address", f"add a record: {name}. A <this server>")

    def _spf(self) -> Iterator[Finding]:
        found, domain = self._texts(self._domain, "v=spf1"), self._domain
        if not found:
            wanted = f'{domain}. TXT "v=spf1 mx -all", with include: or ip4: for the server that sends'
            yield odd(ABOUT, f"no SPF record: nobody knows who may send for {domain}", f"add a record: {wanted}")
        elif len(found) > 1:
            yield odd(ABOUT, f"{len(found)} SPF records at {domain}, so none of them counts", "make one record of them")
        elif {"+all", "all", "?all"} & set(found[0].split()):
            yield odd(ABOUT, f"SPF lets everybody send for {domain}: {found[0]}", "let it end with -all or ~all")
        else:
            yield well(ABOUT, f"SPF of {domain}: {found[0]}")

    def _dkim(self) -> Iterator[Finding]:
        selector = self._settings.dkim
        if not selector:
            mend = "set DEPESCHE_DKIM to the selector that the relay signs with, or try: depesche doctor --mail ADDRESS"
            yield Finding("look", ABOUT, "DKIM: which key the relay signs with is not known here", mend)
            return
        name = f"{selector}._domainkey.{self._domain}"
        tags = [dict(_tags(text)) for text in self._ask(name, "TXT")]
        if any(one.get("p") for one in tags):
            yield well(ABOUT, f"DKIM: {name} has a key")
        elif any("p" in one for one in tags):
            yield odd(
                ABOUT, f"DKIM: the key at {name} is empty, which revokes it", "publish the relay's present key there"
            )
        else:
            yield odd(ABOUT, f"DKIM: there is no key at {name}", f"add what the relay made: {name}. TXT “v=DKIM1; p=…”")

    def _dmarc(self) -> Iterator[Finding]:
        """The record of the domain, or of the nearest one above it."""
        labels = self._domain.split(".")
        above = [".".join(labels[number:]) for number in range(max(1, len(labels) - 1))]
        for domain in above:
            if found := self._texts(f"_dmarc.{domain}", "v=DMARC1"):
                policy = dict(_tags(found[0])).get("p", "")
                if len(found) == 1 and policy in ("none", "quarantine", "reject"):
                    yield well(ABOUT, f"DMARC of {domain}: {found[0]}")
                else:
                    mend = f'keep one, such as _dmarc.{domain}. TXT "v=DMARC1; p=none"'
                    yield odd(ABOUT, f"DMARC of {domain} says nothing: {'; '.join(found)}", mend)
                return
        mend = f'add a record: _dmarc.{self._domain}. TXT "v=DMARC1; p=none"'
        yield odd(ABOUT, f"no DMARC record for {self._domain}: large providers ask for one", mend)

    def _answers(self) -> Iterator[Finding]:
        """Answers by mail, and reports of letters that could not be delivered, come to the same domain."""
        if not (self._settings.inbound or self._settings.imap):
            return
        if found := self._ask(self._domain, "MX"):
            yield well(ABOUT, f"mail to {self._domain} goes to {', '.join(found)}")
        elif self._ask(self._domain, "A") or self._ask(self._domain, "AAAA"):
            yield well(ABOUT, f"mail to {self._domain} goes to that very machine, for it has no MX record")
        else:
            mend = f"add a record: {self._domain}. MX 10 <your mail server>"
            yield odd(ABOUT, f"mail to {self._domain} goes nowhere: no MX record, and no address", mend)


def _tags(text: str) -> Iterator[tuple[str, str]]:
    """`v=DKIM1; p=...` as pairs."""
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if equals:
            yield name.strip(), value.strip()
