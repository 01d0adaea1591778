"""Answers copied from mail programs by hand, in shapes that the corpus does not make: {say} is what their sender typed.

{letter} is our letter as text, {marked} the same with `>` before each line, {html} a line of it in each block.
"""

from __future__ import annotations

from tests.workers.incoming.replies.clients import Body, html, make_multipart, plain

US = "Depesche <table@games.example>"


def _text(
    text: str, charset: str = "utf-8", coding: str = "quoted-printable", params: str = "", real: str = ""
) -> Body:
    return plain(text, charset, coding, params, real)


def _make_flowed(text: str, delsp: bool = False) -> Body:
    return plain(text, coding="8bit", params=f"; format=flowed{'; delsp=yes' if delsp else ''}")


def _winmail(text: str) -> Body:
    tnef = Body(
        'Content-Type: application/ms-tnef; name="winmail.dat"\nContent-Transfer-Encoding: base64', b"eJ8+IgAA\n"
    )
    return make_multipart("mixed", plain(text, "Windows-1252"), tnef)


def genuine(say: str, letter: str, marked: str, blocks: str) -> dict[str, Body]:
    """Answers that make the move they say, and nothing else."""
    first, last = marked.splitlines()[:6], marked.splitlines()[6:]
    return {
        "Seznam, Czech": _text(
            f"{say}\n\n\n---------- Původní e-mail ----------\nOd: {US}\nKomu: anna@seznam.cz\n"
            f"Datum: 3. 2. 2027 10:00:00\nPředmět: Kurier des Zaren\n\n{letter}"
        ),
        "Mail.ru, Russian": _text(
            f"{say}\n\n--\nАнна Петрова\n\n\n>Среда, 3 февраля 2027, 10:00 +03:00 от {US}:\n>\n{marked}", "koi8-r"
        ),
        "Yandex, Russian": html(
            f'<div>{say}</div><div> </div><div>03.02.2027, 10:00, "Depesche" &lt;table@games.example&gt;:</div>'
            f"<blockquote>{blocks}</blockquote>",
            coding="base64",
        ),
        "Rambler, Russian, unmarked": _text(f"{say}\n\n3 февраля 2027 г., 10:00, {US} написал(а):\n\n{letter}"),
        "Becky, Japanese": _text(
            f"{say}\n\nOn Wed, 3 Feb 2027 10:00:00 +0900\n{US} wrote:\n\n{marked}\n-- \n安奈\n", "iso-2022-jp", "7bit"
        ),
        "Outlook, Japanese": _text(
            f"{say}\n\n差出人: {US}\n送信日時: 2027年2月3日 10:00\n宛先: anna@example.jp\n"
            f"件名: Kurier des Zaren\n\n{letter}"
        ),
        "iPhone, Japanese": _text(
            f"{say}\n\niPhoneから送信\n\n2027/02/03 10:00、Depesche <table@games.example>のメール:\n\n{marked}"
        ),
        "full width, Japanese": _text(
            "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else "\u3000" if one == " " else one for one in say)
            + f"\n\n2027年2月3日(水) 10:00 {US}:\n{marked}"
        ),
        "WP, Polish": _text(f"{say}\n\nDnia 3 lutego 2027 10:00 {US} napisał(a):\n\n{marked}", "iso-8859-2"),
        "Onet, Polish, unmarked": _text(
            f"{say}\n\n\nPozdrawiam,\nAnna\n\nW dniu 2027-02-03 10:00:00 użytkownik {US} napisał:\n\n{letter}"
        ),
        "Outlook app, Portuguese": html(
            f'<div dir="auto">{say}</div><div id="ms-outlook-mobile-signature"><div><br></div>Obter o '
            '<a href="https://aka.ms/AAb9ysg">Outlook para Android</a></div><hr><div id="divRplyFwdMsg">'
            f"<b>De:</b> Depesche<br><b>Enviado:</b> quarta-feira<br><b>Para:</b> Anna<br></div>{blocks}"
        ),
        "Gmail, Portuguese, wrapped": _text(
            f"{say}\n\nEm qua., 3 de fev. de 2027, 10:00, Depesche <\ntable@games.example> escreveu:\n\n{marked}"
        ),
        "Apple, Swedish": _text(f"{say}\n\nMvh\nAnna\n\n> 3 feb. 2027 kl. 10:00 skrev {US}:\n> \n{marked}"),
        "Outlook, Swedish, rule": _text(
            f"{say}\n\n________________________________\nFrån: {US}\nSkickat: den 3 februari 2027 10:00\n"
            f"Till: anna@example.se\nÄmne: Kurier des Zaren\n\n{letter}"
        ),
        "Libero, Italian": html(
            f"<p>{say}</p><p>Saluti</p><blockquote>Il 03/02/2027 10:00 CET Depesche ha scritto:<br>"
            f"{blocks}</blockquote>"
        ),
        "Yahoo, Italian, unmarked": _text(
            f"{say}\n\n    Il mercoledì 3 febbraio 2027 alle ore 10:00:00 CET, {US} ha scritto:  \n \n {letter}"
        ),
        "Yahoo, German, unmarked": _text(
            f" {say}\n\n    Am Mittwoch, 3. Februar 2027 um 10:00:00 MEZ hat {US} Folgendes geschrieben:\n\n{letter}"
        ),
        "Yahoo app, French": _text(
            f"{say}\n\nEnvoyé à partir de Yahoo Mail pour iPhone\n\nLe mercredi, février 3, 2027, 10:00 AM, {US} "
            f"a écrit :\n\n{letter}"
        ),
        "Orange, French": _text(
            f"{say}\n\n\n\n> Message du 03/02/27 10:00\n> De : {US}\n> A : anna@orange.fr\n> Copie à : \n"
            f"> Objet : Kurier des Zaren\n> \n{marked}",
            "iso-8859-1",
        ),
        "SFR, French, unmarked": _text(
            f"{say}\n\nCordialement\nAnna\n\nDe : {US}\nA : anna@sfr.fr\nDate : mercredi 3 février 2027 10:00\n"
            f"Objet : Kurier des Zaren\n\n{letter}"
        ),
        "Samsung, Dutch": _text(
            f"{say}\n\n\nVerzonden vanaf mijn Samsung Galaxy-smartphone.\n\n\n"
            "-------- Oorspronkelijk bericht --------\n"
            f"Van: {US} \nDatum: 03-02-2027  10:00  (GMT+01:00) \nAan: anna@example.nl \n"
            f"Onderwerp: Kurier \n\n{letter}",
            coding="base64",
        ),
        "Outlook for Mac, Dutch": _text(
            f"{say}\n\nVan: {US}\nDatum: woensdag 3 februari 2027 om 10:00\nAan: Anna <anna@example.nl>\n"
            f"Onderwerp: Kurier des Zaren\n{letter}"
        ),
        "Notes, German": _text(
            f"{say}\n\n\nMit freundlichen Grüßen\nAnna\n\n\n\nVon:\t{US}\nAn:\tanna@example.de\n"
            "Datum:\t03.02.2027 10:00\n"
            f"Betreff:\tKurier des Zaren\n\n\n\n{letter}",
            "iso-8859-1",
        ),
        "GMX app, German": html(
            f'<div dir="auto">{say}</div>-- <br/>Diese Nachricht wurde von meinem Android Mobiltelefon mit GMX Mail '
            f'gesendet.<div class="gmail_quote">Am 03.02.27, 10:00 schrieb Depesche:<blockquote>{blocks}</blockquote>'
            "</div>"
        ),
        "GMX, German, as text": _text(
            f"{say}\n \n\nGesendet: Mittwoch, 03. Februar 2027 um 10:00 Uhr\nVon: {US}\nAn: anna@gmx.de\n"
            f"Betreff: Kurier des Zaren\n{letter}"
        ),
        "Proton, German": _text(
            f"{say}\n\n\nMit Proton Mail sicherer E-Mail gesendet.\n\nDepesche <table@games.example> schrieb am "
            f"Mittwoch, 3. Februar 2027 um 10:00:\n\n{marked}"
        ),
        "Spark": _text(f"{say}\n\nBest,\nAnna via Spark\nOn 3 Feb 2027, 10:00 +0100, {US}, wrote:\n\n{marked}"),
        "FairEmail": _text(f"{say}\n\nFebruary 3, 2027 10:00:00 AM GMT+01:00 {US}:\n\n{marked}"),
        "Thunderbird for Android": _text(
            f"{say}\n-- \nSent from my Android device with Thunderbird.\n\n"
            f"On 3 February 2027 10:00:00 CET, {US} wrote:\n"
            f"{marked}"
        ),
        "Mail for Windows": _text(
            f"{say}\n\nSent from Mail for Windows\n\nFrom: {US}\nSent: Wednesday, 3 February 2027 10:00\n"
            f"To: anna@example.org\nSubject: Kurier des Zaren\n\n{letter}",
            "Windows-1252",
        ),
        "inside the quotation": _text(
            f"Am 03.02.27 um 10:00 schrieb Depesche:\n{chr(10).join(first)}\n\n{say}\n\n{chr(10).join(last)}\n"
        ),
        "below, flowing, signed": _make_flowed(
            f"Am 03.02.27 um 10:00 schrieb Depesche:\n{marked}\n{say}\n\n-- \nAnna\nstop\n"
        ),
        "flowing, broken in the middle": _make_flowed(f"{say.replace(' ', '  ' + chr(10), 1)}\n\nAnna\n", delsp=True),
        "smart quotes and NBSP": _text(f"“{say.replace(' ', chr(0xA0))}”\n\nLG", "windows-1252"),
        "winmail.dat": _winmail(f"{say}\r\n\r\nAnna Müller\r\nTel. 030 123 456\r\nMusterstr. 12\r\n"),
        "byte order mark": _text(f"\ufeff{say}\n", coding="base64"),
        "soft line breaks": Body(
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable",
            "=\n".join("".join(f"={byte:02X}" for byte in one.encode()) for one in say).encode() + b"=20\n=20\nAnna=\n",
        ),
        "disclaimer, Italian": _text(
            f"{say}\n\nAnna Rossi\n\nLe informazioni contenute in questo messaggio sono riservate e destinate "
            "esclusivamente al destinatario indicato.\nstop\n"
        ),
        "disclaimer, Spanish": _text(
            f"{say}\n\nAVISO LEGAL: Este mensaje es confidencial y va dirigido a su destinatario.\nstop\n"
        ),
        "signature without a line above": _text(
            f"{say}\n\nAnna Schmidt\nVertrieb\n\nBeispiel GmbH\nAm Markt 3\n10115 Berlin\n"
            "Tel +49 30 123456\nwww.example.de\n"
        ),
        "Outlook, non-breaking": html(
            '<div class=WordSection1><p class=MsoNormal><span lang=DE style="font-size:11.0pt">'
            f"{say.replace(' ', '&nbsp;')}<o:p></o:p></span></p><p class=MsoNormal><o:p>&nbsp;</o:p></p></div>",
            "Windows-1252",
        ),
        "a list": html(f"<div>Hi,</div><ol><li><b>{say}</b></li></ol><div>Anna</div>"),
        "a table": html(f"<table><tr><td><font size=3>{say}</font></td></tr></table><p>--<br>Anna<br>stop</p>"),
        "Apple, dark": html(
            f'<div dir="ltr"><span style="caret-color: rgb(0, 0, 0); color: rgb(255, 255, 255);">{say}</span><br>'
            f'<br class="Apple-interchange-newline"></div><blockquote type="cite">{blocks}</blockquote>'
        ),
        "a picture between": make_multipart(
            "mixed",
            plain(f"{say}\n\n"),
            Body('Content-Type: image/jpeg; name="IMG_1.jpg"\nContent-Disposition: inline', b"JFIF\n"),
            plain("\n\nVon meinem iPhone gesendet\n"),
        ),
        "an answer of S/MIME": make_multipart(
            "signed",
            make_multipart("alternative", plain(say), html(f"<p>{say}</p>")),
            Body("Content-Type: application/pkcs7-signature\nContent-Disposition: attachment", b"MIIB\n"),
        ),
        "a smile": _text(f"{say} 👍😀\n\nEnvoyé de mon iPad\n"),
        "a heading": _text(f"Mein Zug: {say}\n\nBis bald!\n"),
        "an escaped dash": _text(f"– {say}\n\nGruß, Anna"),
        "struck out and said anew": html(f"<p><s>stop</s> </p><p>{say}</p><p><del>stop</del></p>"),
    }


# Pages that show their reader "Hi!" and hide the move that is in them.
PAGES = {
    "clip-path": '<p>Hi!</p><p style="clip-path: inset(50%)">{0}</p>',
    "clip-path circle": '<p>Hi!</p><p style="clip-path:circle(0)">{0}</p>',
    "white on white": '<p>Hi!</p><p style="color:#ffffff;background-color:#FFF">{0}</p>',
    "the colour of the paper": '<p>Hi!</p><p style="background:white;color:white">{0}</p>',
    "see-through by rgba": '<p>Hi!</p><p style="color: rgba(0, 0, 0, 0)">{0}</p>',
    "see-through by filter": '<p>Hi!</p><p style="filter: opacity(0)">{0}</p>',
    "a tenth of a pixel": '<p>Hi!</p><p style="font-size:0.1px">{0}</p>',
    "short for a font": '<p>Hi!</p><p style="font: 0/0 a">{0}</p>',
    "a comment in the style": '<p>Hi!</p><p style="display:/**/none">{0}</p>',
    "an escape in the style": '<p>Hi!</p><p style="d\\69splay:none">{0}</p>',
    "scaled to nothing": '<p>Hi!</p><p style="transform: scale(0,0)">{0}</p>',
    "moved away": '<p>Hi!</p><p style="transform:translateX(-9999px)">{0}</p>',
    "struck out": "<p>Hi!</p><p><s>{0}</s></p>",
    "deleted": "<p>Hi!</p><p><del>{0}</del></p>",
    "struck out by style": '<p>Hi!</p><p style="text-decoration: line-through">{0}</p>',
    "folded away": "<p>Hi!</p><details><summary>More</summary><p>{0}</p></details>",
    "a dialog": "<p>Hi!</p><dialog>{0}</dialog>",
    "a datalist": "<p>Hi!</p><datalist><option>{0}</option></datalist>",
    "instead of a film": "<p>Hi!</p><video>{0}</video>",
    "instead of a sound": "<p>Hi!</p><audio>{0}</audio>",
    "instead of a canvas": "<p>Hi!</p><canvas>{0}</canvas>",
    "instead of a frame": "<p>Hi!</p><iframe>{0}</iframe>",
    "instead of a bar": "<p>Hi!</p><progress>{0}</progress>",
    "a descendant in a sheet": "<style>.x p {{ display: none }}</style><p>Hi!</p><div class=x><p>{0}</p></div>",
    "a child in a sheet": "<style>.x>i{{display:none}}</style><p>Hi!</p><p class=x><i>{0}</i></p>",
    "a tag in a sheet": "<style>u {{ visibility:hidden }}</style><p>Hi!</p><p><u>{0}</u></p>",
    "an attribute in a sheet": "<style>[lang=xx]{{display:none}}</style><p>Hi!</p><p lang=xx>{0}</p>",
    "the second in a sheet": "<style>p:nth-child(2){{display:none}}</style><p>Hi!</p><p>{0}</p>",
}
# Texts with a move that no player of the table typed.
TEXTS = {
    "a French mark": "Hi!\n» {move}\n",
    "a single French mark": "Hi!\n› {move}\n",
    "a broken bar": "Hi!\n¦ {move}\n",
    "a mark of full width": "Hi!\n＞ {move}\n",
    "a signature of underscores": "Hi!\n__\n{move}\n",
    "forwarded in Italian": "Guarda!\n\nInizio messaggio inoltrato:\n\nDa: Bert\nOggetto: x\n\n{move}\n",
    "forwarded in French": "Regarde !\n\nDébut du message transféré :\n\nDe: Bert\nObjet: x\n\n{move}\n",
    "forwarded in Dutch": "Kijk!\n\nBegin doorgestuurd bericht:\n\nVan: Bert\nOnderwerp: x\n\n{move}\n",
    "forwarded by Outlook in Portuguese": "Veja\n\nDe: Bert\nEnviado: hoje\nPara: Anna\nAssunto: x\n\n{move}\n",
    "attributed in Russian": "Привет\n\n3 февр. 2027 г., в 10:00, Bert <b@x.ru> написал(а):\n{move}\n",
    "attributed in Portuguese": "Oi\n\nEm qua., 3 de fev. de 2027 às 10:00, Bert <b@x.br> escreveu:\n{move}\n",
    "attributed in Czech": "Ahoj\n\nst 3. 2. 2027 v 10:00 odesílatel Bert <b@x.cz> napsal:\n{move}\n",
    "a disclaimer in Italian": "Ciao\n\nQuesto messaggio è riservato e destinato al solo destinatario.\n{move}\n",
    "a disclaimer in Polish": "Hej\n\nTa wiadomość jest poufna i przeznaczona wyłącznie dla jej adresata.\n{move}\n",
}
# Headers by which programs in other countries mark a mail that no person wrote.
HEADERS = {
    "absent in Italian": {"Subject": "Risposta automatica: Kurier"},
    "absent in Spanish": {"Subject": "=?utf-8?q?Respuesta_autom=C3=A1tica=3A_Kurier?="},
    "absent in Portuguese": {"Subject": "Resposta automática: Kurier"},
    "absent in Polish": {"Subject": "=?iso-8859-2?q?Odpowied=BC_automatyczna=3A_Kurier?="},
    "absent in Swedish": {"Subject": "Autosvar: Kurier"},
    "absent in Danish": {"Subject": "Automatisk svar: Kurier"},
    "absent in Czech": {"Subject": "Automatická odpověď: Kurier"},
    "absent in Russian": {"Subject": "Автоматический ответ: Kurier"},
    "absent in Japanese": {"Subject": "自動応答: Kurier"},
    "absent in Finnish": {"Subject": "Automaattinen vastaus: Kurier"},
    "absent in Hungarian": {"Subject": "Automatikus válasz: Kurier"},
    "absent in Turkish": {"Subject": "Otomatik yanıt: Kurier"},
    "an old responder": {"X_Autoreply_From": "anna@example.org"},
}
# What people write on the line of a move, around it.
WAYS = (
    *(
        "ok {}",
        "ja, {}",
        "yes, {}",
        "oui, {}",
        "手：{}",
        "Hi Bert! {}",
        "Hallo zusammen! {}\nLG Anna",
        "Bonjour Bert, {}",
    ),
    *("{} (sorry for the wait)", "{} LG Anna", "{} gr. Anna", "{}  --  Anna", "_{}_", "`{}`", "Hm... {}", "dus {}"),
    *("I choose {}", "ich nehme {}", "my move is {}", "mein Zug ist {}", "mijn zet is {}", "s'il te plaît {}"),
)
# The same where the move is not meant.
DENIALS = (
    *("not yet: {}", "nog niet: {}", "pas encore : {}", "{} - no!", "{} - nicht!", "{}. Nicht!", "Stop! {}"),
    *("On 3 Feb Bert wrote: {}", "Anna meint: {}", "ja, aber nicht {}", "No. {}", "soll ich {}?", "{} (not)"),
)
