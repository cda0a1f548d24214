"""The form of an upload: what each field takes, and what is refused first."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.document.formats import Kind
from recibo.extract.document.limits import MAX_BYTES
from recibo.schemas.states import Scope
from recibo.store.tables import Receipt
from tests import installation, make
from tests.installation import Installation

JPEG = make.jpeg("a receipt")
FILE = ("file", ("receipt.jpg", JPEG, "image/jpeg"))
BOUNDARY = "boundary"
MULTIPART = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
FILE_PART = (
    b'--boundary\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n'
    b"Content-Type: image/jpeg\r\n\r\n" + JPEG + b"\r\n"
)

Part = tuple[str, tuple[str | None, bytes | str] | tuple[str | None, bytes | str, str]]


@pytest.fixture
def door(reading_door: Installation) -> Installation:
    """A service that reads what is uploaded."""
    return reading_door


def field(name: str, value: bytes | str) -> Part:
    """Return a form field that is no file."""
    return name, (None, value)


def metadata(entries: object) -> Part:
    """Return the field `metadata`."""
    return field("metadata", json.dumps(entries))


async def send(door: Installation, *parts: Part) -> httpx.Response:
    """Upload a form of these parts."""
    return await door.client.post("/v1/extract", files=list(parts))


def status_and_code(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of an error; "" for a success."""
    return answer.status_code, answer.json().get("error", {}).get("code", "")


REFUSED_FIELDS: Sequence[tuple[str, str]] = [
    ("accuracy", ""),
    ("accuracy", "HIGH"),
    ("accuracy", "best"),
    ("accuracy", "high\x00"),
    ("type", ""),
    ("type", "bill"),
    ("reread", ""),
    ("reread", "1"),
    ("reread", "True"),
    ("webhook_url", ""),
    ("webhook_url", "ftp://example.com/"),
    ("webhook_url", "//example.com/hook"),
    ("webhook_url", "https://"),
    ("webhook_url", "https://example.com/\x00"),
    ("webhook_url", "https://exa mple.com/"),
    ("webhook_url", "https://example.com:99999/"),
    ("webhook_url", "https://[::1/"),
    ("webhook_url", "http://169.254.169.254/latest"),
    ("webhook_url", "https://example.com/" + "a" * 2048),
    ("metadata", ""),
    ("metadata", "{"),
    ("metadata", "null"),
    ("metadata", "[]"),
    ("metadata", '"a"'),
    ("metadata", "12"),
    ("metadata", '{"a": null}'),
    ("metadata", '{"a": {}}'),
    ("metadata", '{"a": ["b"]}'),
    ("metadata", '{"a": NaN}'),
    ("metadata", '{"a": -Infinity}'),
    ("metadata", '{"": "a"}'),
    ("metadata", '{"a": "\\u0000"}'),
    ("metadata", '{"a\\u0000": "a"}'),
    ("metadata", '{"a": "\\ud800"}'),
    ("metadata", '{"\\udfff": "a"}'),
    ("metadata", json.dumps({"a" * 65: "a"})),
    ("metadata", json.dumps({"a": "b" * 257})),
    ("metadata", '{"a": ' + "1" * 257 + "}"),
    ("metadata", json.dumps({str(number): "a" for number in range(17)})),
    ("metadata", "[" * 60_000),
    ("metadata", '{"a": "' + "b" * 70_000 + '"}'),
]


async def test_invalid_fields_are_400_and_read_nothing(door: Installation) -> None:
    wrong = {}
    for name, value in REFUSED_FIELDS:
        answer = await send(door, FILE, field(name, value))
        if status_and_code(answer) != (400, "validation_error"):
            wrong[name, value[:40]] = status_and_code(answer)

    assert {} == wrong
    assert [] == door.reader.seen


async def test_error_names_the_field_that_was_refused(door: Installation) -> None:
    answer = await send(door, FILE, metadata({"ok": "1", "colour": None}))

    error = answer.json()["error"]
    assert ["metadata.colour"] == [detail["field"] for detail in error["details"]]
    assert "metadata.colour" in error["message"]


@pytest.mark.parametrize("name", ["accuracy", "type", "metadata", "webhook_url", "reread"])
async def test_field_given_twice_or_as_a_file_is_400(door: Installation, name: str) -> None:
    valid = {
        "accuracy": "high",
        "type": "nfe",
        "metadata": "{}",
        "webhook_url": "https://example.com/",
        "reread": "false",
    }[name]

    twice = await send(door, FILE, field(name, valid), field(name, valid))
    as_file = await send(door, FILE, (name, ("a.txt", valid)))

    assert (400, "validation_error") == status_and_code(twice) == status_and_code(as_file)


async def test_every_valid_value_passes(door: Installation) -> None:
    valid = [
        *[("accuracy", value) for value in ("standard", "high")],
        *[("type", value) for value in ("receipt", "invoice", "nfe", "nfce", "nfse")],
        ("type", "cupom_fiscal"),
        ("reread", "true"),
        ("reread", "false"),
        ("webhook_url", "https://example.com/hook?a=b"),
        ("webhook_url", "http://127.0.0.1:9000/"),
        ("metadata", "{}"),
        ("metadata", json.dumps({"k" * 64: "é" * 256})),
        ("metadata", json.dumps({str(number): "" for number in range(16)})),
        ("unknown", "is ignored"),
    ]
    statuses = {value: (await send(door, FILE, field(*value))).status_code for value in valid}

    assert dict.fromkeys(valid, 200) == statuses


async def test_options_reach_the_receipt(door: Installation) -> None:
    parts = (
        FILE,
        field("accuracy", "high"),
        field("type", "nfce"),
        metadata({"project": "apollo"}),
    )

    receipt = (await send(door, *parts)).json()

    assert ("high", "nfce") == (receipt["accuracy"], receipt["type"])
    assert {"project": "apollo"} == receipt["metadata"]


async def test_metadata_numbers_and_booleans_keep_their_json_spelling(door: Installation) -> None:
    given = '{"a": 1.50, "b": -0, "c": 1e3, "d": true, "e": false, "f": 12345678901234567890}'

    receipt = (await send(door, FILE, field("metadata", given))).json()

    spelled = {
        "a": "1.50",
        "b": "-0",
        "c": "1e3",
        "d": "true",
        "e": "false",
        "f": "12345678901234567890",
    }
    assert spelled == receipt["metadata"]


@pytest.mark.parametrize("key", ["", "a" * 256, "é", "tab\there", "\x7f"])
async def test_idempotency_key_is_1_to_255_printable_characters(
    door: Installation, key: str
) -> None:
    headers = [(b"idempotency-key", key.encode())]

    answer = await door.client.post("/v1/extract", files=[FILE], headers=headers)

    assert (400, "validation_error") == status_and_code(answer)


async def test_idempotency_key_given_twice_is_400(door: Installation) -> None:
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "a")]

    answer = await door.client.post("/v1/extract", files=[FILE], headers=headers)

    assert (400, "validation_error") == status_and_code(answer)


@pytest.mark.parametrize(
    "parts",
    [
        [field("accuracy", "high")],
        [FILE, FILE],
        [field("file", "not a file")],
        [FILE, field("file", "not a file")],
        [("document", FILE[1])],
        [("file", ("", b"", "application/octet-stream"))],
        [("file", ("a.jpg", b"", "image/jpeg"))],
    ],
    ids=["none", "two", "text", "both", "other name", "nothing chosen", "empty"],
)
async def test_exactly_one_file_with_something_in_it_is_needed(
    door: Installation, parts: list[Part]
) -> None:
    answer = await send(door, *parts)

    assert (400, "validation_error") == status_and_code(answer)
    assert ["file"] == [detail["field"] for detail in answer.json()["error"]["details"]]


BODIES: dict[str, tuple[dict[str, str], bytes]] = {
    "json": ({"content-type": "application/json"}, b"{}"),
    "urlencoded": ({"content-type": "application/x-www-form-urlencoded"}, b"file=a"),
    "no type": ({}, b"file"),
    "no body": (MULTIPART, b""),
    "no boundary": ({"content-type": "multipart/form-data"}, FILE_PART + b"--boundary--\r\n"),
    "empty boundary": ({"content-type": "multipart/form-data; boundary="}, FILE_PART),
    "other boundary": ({"content-type": "multipart/form-data; boundary=b"}, FILE_PART),
    "no multipart": (MULTIPART, b"not multipart at all"),
    "cut in the file": (MULTIPART, FILE_PART[:-8]),
    "cut in the head": (MULTIPART, FILE_PART[:40]),
    "no name": (
        MULTIPART,
        b"--boundary\r\nContent-Disposition: form-data\r\n\r\na\r\n--boundary--",
    ),
    "no head": (MULTIPART, b"--boundary\r\n\r\na\r\n--boundary--\r\n"),
    "bytes of no text": (
        MULTIPART,
        FILE_PART
        + b'--boundary\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{"a": "\xe9"}\r\n'
        + b"--boundary--\r\n",
    ),
    "a charset of no text": (
        {"content-type": "multipart/form-data; boundary=boundary; charset=undefined"},
        FILE_PART + b"--boundary--\r\n",
    ),
}


@pytest.mark.parametrize("name", BODIES)
async def test_body_that_is_no_whole_form_is_400(door: Installation, name: str) -> None:
    headers, body = BODIES[name]

    answer = await door.client.post("/v1/extract", headers=headers, content=body)

    assert (400, "validation_error") == status_and_code(answer)
    assert [] == door.reader.seen


async def test_file_without_a_name_is_refused_with_a_reason(door: Installation) -> None:
    headers, body = MULTIPART, FILE_PART.replace(b'; filename="a.jpg"', b"") + b"--boundary--\r\n"

    answer = await door.client.post("/v1/extract", headers=headers, content=body)

    assert (400, "validation_error") == status_and_code(answer)
    assert "a file needs a file name" in answer.json()["error"]["message"]


@pytest.mark.parametrize("entries", ['{"a": "\\u0000"}', '{"a\\ud800": "b"}'])
async def test_invalid_metadata_is_refused_with_a_reason(door: Installation, entries: str) -> None:
    answer = await send(door, FILE, field("metadata", entries))

    assert "holds a NUL character or half of a surrogate pair" in answer.json()["error"]["message"]


async def test_form_with_too_many_fields_is_400(door: Installation) -> None:
    answer = await send(door, FILE, *[field(f"field{number}", "") for number in range(60)])

    assert (400, "validation_error") == status_and_code(answer)


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    """Send parts one by one, which gives a request without Content-Length."""
    for part in parts:
        yield part


async def send_chunked(door: Installation, data: bytes) -> httpx.Response:
    """Upload a file in chunks."""
    head, tail = FILE_PART.removesuffix(JPEG + b"\r\n"), b"\r\n--boundary--\r\n"
    return await door.client.post(
        "/v1/extract", headers=MULTIPART, content=chunks(head, data, tail)
    )


@pytest.mark.parametrize("send_file", [Installation.extract, send_chunked])
async def test_15_mib_pass_and_one_byte_more_is_400_file_too_large(
    sqlite_url: str, tmp_path: Path, send_file: Callable[..., Awaitable[httpx.Response]]
) -> None:
    most = JPEG.ljust(15 * 1024 * 1024, b"\0")
    reader = FakeReader({most: make.reading()})
    async with installation.start(sqlite_url, tmp_path, reader=reader) as door:
        exact = await send_file(door, most)
        over = await send_file(door, most + b"\0")

    assert len(most) == MAX_BYTES
    assert 200 == exact.status_code
    assert (400, "file_too_large") == status_and_code(over)


async def test_upload_beyond_the_limit_is_refused_before_it_has_come_whole(
    door: Installation,
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield FILE_PART.removesuffix(b"\r\n")
        while sent < 40:
            sent += 1
            yield bytes(1024 * 1024)

    answer = await door.client.post("/v1/extract", headers=MULTIPART, content=endless())
    declared = await door.client.post(
        "/v1/extract", headers=MULTIPART | {"content-length": "90000000"}, content=b""
    )

    assert (400, "file_too_large") == status_and_code(answer) == status_and_code(declared)
    assert [] == list((door.data_dir / "spool").iterdir())


@pytest.mark.parametrize(
    "declared", ["text/plain", "image/gif", "application/json", "image/svg+xml", "jpeg"]
)
async def test_declared_type_outside_the_list_is_unsupported_format(
    door: Installation, declared: str
) -> None:
    answer = await door.extract(JPEG, media_type=declared)

    assert (400, "unsupported_format") == status_and_code(answer)


@pytest.mark.parametrize(
    "declared",
    ["image/jpeg", "IMAGE/PNG", "application/octet-stream", "", "application/pdf; a=b"],
)
async def test_declared_type_of_the_list_or_of_none_passes(
    door: Installation, declared: str
) -> None:
    answer = await door.extract(JPEG, media_type=declared)

    assert 200 == answer.status_code


HEADS = {
    "gif": b"GIF89a\x01\x00\x01\x00",
    "zip": b"PK\x03\x04\x14\x00\x00\x00",
    "gzip": b"\x1f\x8b\x08\x00",
    "mp4": b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom",
    "bmp": b"BM\x00\x00\x00\x00",
}


@pytest.mark.parametrize("name", HEADS)
async def test_other_formats_named_jpg_are_unsupported_format(
    door: Installation, name: str
) -> None:
    answer = await door.extract(HEADS[name].ljust(400, b"\0"))

    assert (400, "unsupported_format") == status_and_code(answer)


async def test_file_with_an_unknown_header_is_decoded_to_find_its_type(
    sqlite_url: str, tmp_path: Path
) -> None:
    text, odd = b"Dear Sir or Madam", b"\n\n%PDF-1.7"
    unknown = Failure(FailureKind.UNSUPPORTED_FORMAT, "no idea")
    reader = FakeReader(kinds={text: unknown, odd: Kind("application/pdf", "pdf", 1)})
    async with installation.start(sqlite_url, tmp_path, reader=reader) as door:
        refused = await door.extract(text)
        passed = await door.extract(odd)
        media_types = [row.media_type for row in await door.rows(Receipt)]

    assert (400, "unsupported_format") == status_and_code(refused)
    assert (200, "") == status_and_code(passed)
    assert ["application/pdf"] == media_types


async def test_first_error_is_reported(door: Installation) -> None:
    """In the order key, scope, form, size, type."""
    org_id = (await door.get("/key")).json()["org_id"]
    reading_only = await make.key(door.database, org_id, scopes=[Scope.READ])
    empty_gif = ("file", ("a.gif", b"", "image/gif"))
    gif = ("file", ("a.gif", HEADS["gif"], "image/gif"))
    bad = field("accuracy", "best")

    stranger = await door.stranger.post("/v1/extract", content=b"--", headers=MULTIPART)
    unscoped = await door.client.post(
        "/v1/extract", content=b"--", headers=MULTIPART | {"X-API-Key": reading_only}
    )
    answers = [await send(door, *parts) for parts in ((gif, bad), (empty_gif,), (gif,))]

    assert (401, "unauthorized") == status_and_code(stranger)
    assert (403, "insufficient_scope") == status_and_code(unscoped)
    fields = [answer.json()["error"].get("details", [{}])[0].get("field") for answer in answers]
    assert ["accuracy", "file", None] == fields
    assert ["validation_error", "validation_error", "unsupported_format"] == [
        status_and_code(answer)[1] for answer in answers
    ]
