"""The rendered mails, parsed as a mail client parses them."""

import datetime as dt
import email.policy
import re
from decimal import Decimal
from email.message import EmailMessage
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.lib import names
from recibo.schemas.languages import Language
from recibo.schemas.states import MailKind, MailOutcome
from recibo.services import mail_templates
from recibo.services.mail_replies import Reply, ReplyFile
from recibo.services.mail_templates import MailContent, MailSettings
from tests.mail_servers import parsed, part

TOKEN = "x0Y" * 10 + "zZ"
BASE_URL = "https://recibo.test/base"
HEAD = MailSettings(BASE_URL, mail_templates.sender("", BASE_URL))
AT = dt.datetime(2026, 3, 4, 5, 6, tzinfo=dt.UTC)
NAMES: dict[str, str | int] = {
    "invitation_id": "inv_0",
    "org": "Padaria Aurora",
    "inviter": "Mara",
    "role": "developer",
    "key": "till 3",
    "when": "2026-04-01T10:30:00-03:00",
    "host": "hooks.acme.test",
    "by": "mara@people.test",
    "member": "bea@people.test",
    "count": 2,
    "keys": "till 1, till 2",
}
REPLY = Reply(
    "<1@people.test>",
    "Lunch",
    MailOutcome.RECEIVED,
    [ReplyFile("lunch.jpg", "read", "Padaria", Decimal("34.5"), "BRL", dt.date(2026, 3, 4))],
)
PAGES = {
    MailKind.VERIFY_EMAIL: "verify-email",
    MailKind.MAGIC_LINK: "magic-link",
    MailKind.PASSWORD_RESET: "reset-password",
    MailKind.INVITATION: "accept-invite",
}
LIVES = {
    MailKind.VERIFY_EMAIL: "48 hours",
    MailKind.MAGIC_LINK: "15 minutes",
    MailKind.PASSWORD_RESET: "60 minutes",
    MailKind.INVITATION: "7 days",
}
HOSTILE = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [
            "a\r\nBcc: victim@example.com",
            "a\nSubject: other",
            "a\x85Bcc: b@c.d",
            '"><a href="http://evil.example">',
            "{base_url}{token}",
            "{{ token }}",
            "=?utf-8?q?=0D=0ABcc:_x?=",
            "é" * 200,
            '"\\"<x@y.z>,',
            "\ud800",
        ]
    ),
)


class Page(HTMLParser):
    """What an HTML part holds: its text, its links and whatever it would load."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.text = ""
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "href":
                self.links.append(value or "")
            elif name in {"src", "srcset", "background"}:
                self.loads.append(f"{tag} {value}")

    def handle_data(self, data: str) -> None:
        self.text += data


def written(kind: MailKind, **names: str | int) -> EmailMessage:
    """Return a mail of a kind as its reader sees it."""
    content = MailContent(
        id="mail_0.1",
        kind=kind,
        to="mara@acme.test",
        names={**NAMES, **names},
        created_at=AT,
        token=TOKEN if kind in PAGES else None,
        reply=REPLY if kind is MailKind.RECEIPTS_RECEIVED else None,
    )
    return parsed(mail_templates.render(content, HEAD).as_bytes())


@pytest.mark.parametrize("kind", MailKind)
def test_every_kind_is_a_mail_in_two_parts(kind: MailKind) -> None:
    mail = written(kind)

    assert "multipart/alternative" == mail.get_content_type()
    assert ["text/plain", "text/html"] == [one.get_content_type() for one in mail.iter_parts()]
    assert ("Recibo <no-reply@recibo.test>", "mara@acme.test") == (mail["From"], mail["To"])
    assert mail["Auto-Submitted"] in {"auto-generated", "auto-replied"}
    assert "<mail_0.1@recibo.test>" == mail["Message-ID"]
    assert mail["Date"].datetime.tzinfo is not None
    assert mail["Subject"] in unescape(part(mail, "html"))
    assert not re.search(r"[{}]|None", part(mail, "plain") + str(mail["Subject"]))


@pytest.mark.parametrize("kind", MailKind)
def test_nothing_is_loaded_from_afar(kind: MailKind) -> None:
    source = part(written(kind), "html")

    assert [] == Page(source).loads
    assert "url(" not in source


@pytest.mark.parametrize("kind", PAGES)
def test_link_and_token_stand_on_lines_of_their_own_in_both_parts(kind: MailKind) -> None:
    mail = written(kind)
    link = f"{BASE_URL}/portal/{PAGES[kind]}?token={TOKEN}"

    for name in ("plain", "html"):
        lines = part(mail, name).splitlines()
        assert (1, 1) == (lines.count(link), lines.count(TOKEN)), name
    assert [link] == Page(part(mail, "html")).links


@pytest.mark.parametrize("kind", PAGES)
def test_mail_with_a_link_says_how_long_it_lives_and_that_it_may_be_ignored(kind: MailKind) -> None:
    mail = written(kind)

    for text in (part(mail, "plain"), Page(part(mail, "html")).text):
        assert LIVES[kind] in text
        assert "ignore this mail" in text


@pytest.mark.parametrize("kind", [kind for kind in MailKind if kind not in PAGES])
def test_mail_without_a_token_has_no_button(kind: MailKind) -> None:
    mail = written(kind)

    assert [] == Page(part(mail, "html")).links
    assert "token" not in part(mail, "plain")


def test_link_stays_in_one_piece_in_the_file() -> None:
    content = MailContent("mail_0.1", MailKind.MAGIC_LINK, "mara@acme.test", {}, AT, TOKEN)
    lines = mail_templates.render(content, HEAD).as_bytes().decode().splitlines()

    assert f"{BASE_URL}/portal/magic-link?token={TOKEN}" in lines


def test_invitation_names_org_role_and_inviter() -> None:
    mail = written(MailKind.INVITATION)

    assert 'Invitation to "Padaria Aurora"' == mail["Subject"]
    for text in (part(mail, "plain"), Page(part(mail, "html")).text):
        assert '"Mara" invites you to join "Padaria Aurora" on Recibo as developer.' in text


@pytest.mark.parametrize(
    ("inviter", "kind", "beginning"),
    [
        ("rui@example.com", "email", "rui@example.com invites you"),
        ("rui@example.com", "", '"rui @ example. com" invites you'),
        ("www.evil.com/x@y.z", "email", '"www. evil. com/x @ y. z" invites you'),
        ("The operator of this installation", "operator", "The operator of this installation inv"),
        ("The operator of this installation", "", '"The operator of this installation" invites'),
    ],
)
def test_only_an_email_address_or_the_operator_is_named_without_quotes(
    inviter: str, kind: str, beginning: str
) -> None:
    mail = written(MailKind.INVITATION, inviter=inviter, inviter_kind=kind)

    for text in (part(mail, "plain"), Page(part(mail, "html")).text):
        assert beginning in text


def test_expiring_key_is_named_with_its_end_in_utc() -> None:
    text = part(written(MailKind.KEY_EXPIRING), "plain")

    assert '"till 3" of "Padaria Aurora" expires on 1 April 2026, 13:30 UTC.' in text


def test_notice_says_when_it_happened() -> None:
    text = part(written(MailKind.PASSWORD_CHANGED), "plain")

    assert "on 4 March 2026, 05:06 UTC" in text


def test_mail_lists_what_a_reclaimed_account_lost() -> None:
    text = part(written(MailKind.ACCOUNT_RECLAIMED), "plain")

    for dropped in ("password", "second factor", "sessions", "API keys of its own organizations"):
        assert dropped in text


@given(org=HOSTILE, inviter=HOSTILE, role=HOSTILE)
def test_hostile_names_change_nothing_but_the_words(org: str, inviter: str, role: str) -> None:
    plain = written(MailKind.INVITATION)
    mail = written(MailKind.INVITATION, org=org, inviter=inviter, role=role)

    assert plain.keys() == mail.keys()
    assert [plain["To"], plain["From"]] == [mail["To"], mail["From"]]
    assert Page(part(plain, "html")).links == Page(part(mail, "html")).links
    for name in ("plain", "html"):
        assert part(plain, name).count("\n") == part(mail, name).count("\n")
        assert part(plain, name).count("http") + _count("http", org, inviter, role) >= (
            part(mail, name).count("http")
        )
        assert "evil.example" not in part(mail, name)


@given(key=HOSTILE)
def test_hostile_name_in_the_subject_is_one_line(key: str) -> None:
    mail = written(MailKind.KEY_EXPIRING, key=key)

    assert written(MailKind.KEY_EXPIRING).keys() == mail.keys()
    assert re.fullmatch(r'API key ".{1,80}" expires soon', str(mail["Subject"]))


@pytest.mark.parametrize(
    ("text", "base_url", "expected"),
    [
        ("", "https://recibo.example", "Recibo <no-reply@recibo.example>"),
        ("", "https://recibo.example:8443/x", "Recibo <no-reply@recibo.example>"),
        ("", "http://127.0.0.1:8000", "Recibo <no-reply@localhost>"),
        ("", "http://[::1]:8000", "Recibo <no-reply@localhost>"),
        (
            "Till <till@shop.example>",
            "https://recibo.example",
            "Till <till@shop.example>",
        ),
        ("till@shop.example", "https://recibo.example", "till@shop.example"),
    ],
)
def test_sender_is_configured_or_the_default_at_the_public_host(
    text: str, base_url: str, expected: str
) -> None:
    assert expected == str(mail_templates.sender(text, base_url))


@pytest.mark.parametrize("text", ["a@b.c, d@e.f", "unknown", "@x", "a@", "a b@c.d", "<a@b.c", ","])
def test_sender_that_is_not_one_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="RECIBO_EMAIL_FROM"):
        mail_templates.sender(text, "https://recibo.example")


ENCODED = "=?utf-8?q?=0D=0ABcc:_x=40evil.example?="


@pytest.mark.parametrize(
    ("message_id", "named"),
    [
        ("<" + "a" * 480 + "@people.test>", True),
        (f"<{ENCODED}@people.test>", False),
        ("<1@people.test>\r\nBcc: x", False),
    ],
)
def test_reply_takes_only_words_from_the_mail_that_it_answers(message_id: str, named: bool) -> None:
    reply = Reply(message_id, f"Lunch {ENCODED}", MailOutcome.EMPTY, [])
    content = MailContent("mail_1", MailKind.RECEIPTS_RECEIVED, "a@b.test", {}, AT, reply=reply)

    raw = mail_templates.render(content, HEAD).as_bytes(policy=email.policy.SMTP)

    assert named == (b"In-Reply-To: " + message_id.encode() + b"\r\n" in raw)
    assert named == ("References" in parsed(raw))
    assert "Re: Lunch = ?utf-8?q?=0D=0ABcc: _x=40evil. example?=" == parsed(raw)["Subject"]


def test_header_with_a_line_break_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "sanitize_name", str)

    with pytest.raises(ValueError, match="line break"):
        written(MailKind.KEY_EXPIRING, key=ENCODED)


def _count(piece: str, *names: str) -> int:
    # The subject is the title and the heading of the HTML part, too.
    return 3 * sum(name.count(piece) for name in names)


@pytest.mark.parametrize("kind", MailKind)
def test_languages_insert_the_same_values(kind: MailKind) -> None:
    inserted = {}
    for language in Language:
        reply = REPLY if kind is MailKind.RECEIPTS_RECEIVED else None
        content = MailContent("mail_1", kind, "ana@people.test", NAMES, AT, TOKEN, language, reply)
        message = parsed(mail_templates.render(content, HEAD).as_bytes())
        text = part(message, "plain").replace("convites", "")
        inserted[language] = {
            name: text.count(str(NAMES[name]))
            for name in ("org", "inviter", "key", "host", "by", "member", "keys")
        } | {"url": text.count(BASE_URL), "token": text.count(TOKEN)}
        assert "{" not in text
        assert f'<html lang="{language}">' in part(message, "html")

    assert inserted[Language.ENGLISH] == inserted[Language.PORTUGUESE]


def test_times_and_roles_are_in_the_language() -> None:
    expiring = MailContent(
        "mail_1", MailKind.KEY_EXPIRING, "a@b.test", NAMES, AT, None, Language.PORTUGUESE
    )
    invitation = MailContent(
        "mail_2", MailKind.INVITATION, "a@b.test", NAMES, AT, TOKEN, Language.PORTUGUESE
    )

    texts = [
        part(parsed(mail_templates.render(one, HEAD).as_bytes()), "plain")
        for one in (expiring, invitation)
    ]
    assert "expira em 1 de abril de 2026, 13:30 UTC" in texts[0]
    assert "na função de desenvolvedor" in texts[1]
