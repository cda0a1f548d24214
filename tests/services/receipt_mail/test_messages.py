"""What is read of mails whose bytes strangers chose."""

import time

import pytest

from recibo.services.receipt_mail import messages
from recibo.services.receipt_mail.messages import DamagedMailError

BASE = "receipts@recibo.test"
FROM = b"From: Ana <ana@people.test>\r\n"
# Takes the standard library long to parse, for its length.
_SLOW = b"a.b " * 480


@pytest.mark.parametrize(
    ("headers", "tokens"),
    [
        (b"To: receipts+abc@recibo.test", ["abc"]),
        (b'To: "Lunch, Ana" <receipts+abc@recibo.test>', ["abc"]),
        (b"To: b@c.test,\r\n =?utf-8?q?Jo=C3=A3o?= <Receipts+ABC@recibo.test>", ["abc"]),
        (b"To: " + b"b@c.test, " * 90 + b"\r\n receipts+abc@recibo.test", ["abc"]),
        (b"To: receipts+abc@recibo.test, <receipts+def@recibo.test>", ["abc", "def"]),
        (b"Cc: x@y.test\r\nCC: <receipts+abc@recibo.test>", ["abc"]),
        (b"Delivered-To: receipts+abc@recibo.test", ["abc"]),
        (b"X-Original-To: receipts+abc@recibo.test", ["abc"]),
        (b"To: receipts+abc@recibo.test.evil.test, x.receipts+abc@recibo.test", []),
        (b"Subject: receipts+abc@recibo.test", []),
    ],
)
def test_tokens_are_found_in_headers_of_recipients(headers: bytes, tokens: list[str]) -> None:
    assert tokens == messages.read_head(FROM + headers + b"\r\n\r\nHi").tokens(BASE)


@pytest.mark.parametrize(
    "raw",
    [
        FROM + b"Message-ID: <a@[\r\n\r\n",
        b"From: " + b"a" * 600 + b" <ana@people.test>\r\n\r\n",
        FROM + FROM + b"\r\n",
        b"",
    ],
    ids=["library", "long", "two", "empty"],
)
def test_head_that_cannot_be_read_is_damaged(raw: bytes) -> None:
    with pytest.raises(DamagedMailError):
        messages.read_head(raw)


def test_too_many_parts_are_damaged() -> None:
    part = b"--b\r\nContent-Type: image/png\r\n\r\nx\r\n"
    raw = FROM + b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' + part * 50 + b"--b--"

    with pytest.raises(DamagedMailError):
        messages.read_documents(raw)


def test_hostile_headers_take_little_time() -> None:
    head = FROM + b"".join(b"To: %s\r\nCc: %s\r\n" % (_SLOW, _SLOW) for _ in range(16))
    typed = b"Content-Type: image/png; %s\r\nContent-Disposition: attachment; %s\r\n"
    part = b"--b\r\n" + typed % (_SLOW, _SLOW) + b"\r\nx\r\n"
    mail = FROM + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + part * 40 + b"--b--"

    began = time.process_time()
    messages.read_head(head)
    messages.read_documents(mail)

    assert time.process_time() - began < 1
