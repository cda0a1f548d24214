"""One line of JSON for each file, in their order, whatever happens to one of them."""

import json
import os
from pathlib import Path

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.cli import readings
from recibo.extract.model import DocumentType, Extracted, Hint, Quality, Receipt, SeenPage
from recibo.schemas.receipts import Reading


async def fields_of(paths: list[Path], reader: FakeReader) -> list[dict[str, object]]:
    files = [(str(path), path) for path in paths]
    return [line.fields async for line in readings.lines(files, readings.Options(), reader)]


def write(folder: Path, name: str, text: str = "Cafe") -> Path:
    path = folder / name
    path.write_text(text)
    return path


async def test_line_holds_the_file_then_what_reading_gives(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jpg")
    (fields,) = await fields_of([path], FakeReader())

    assert list(fields) == ["file", *Reading.model_fields]
    assert fields["file"] == str(path)
    assert fields["merchant_name"] == "Cafe"


async def test_unsupported_script_is_a_warning(tmp_path: Path) -> None:
    sharp = Quality(0.9, 0.8, 0.0, (), 200, (Hint.UNSUPPORTED_SCRIPT,))
    page = SeenPage(500, 900, 0, sharp)
    foreign = Receipt(type=Extracted(DocumentType.RECEIPT, 0.9, ""), pages=(page,))
    paths = [write(tmp_path, "a.jpg"), write(tmp_path, "b.jpg", "Bar")]
    reader = FakeReader({b"Cafe": foreign})
    files = [(str(path), path) for path in paths]
    warnings = [one.warning async for one in readings.lines(files, readings.Options(), reader)]

    assert "script that is not supported" in warnings[0]
    assert "" == warnings[1]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (FailureKind.UNSUPPORTED_FORMAT, "unsupported_format"),
        (FailureKind.INVALID_DOCUMENT, "validation_error"),
        (FailureKind.UNREADABLE, "low_confidence"),
        (FailureKind.CRASHED, "server_error"),
        (FailureKind.TIMED_OUT, "low_confidence"),
        (FailureKind.OUT_OF_MEMORY, "low_confidence"),
        (FailureKind.BROKEN, "server_error"),
    ],
)
async def test_failure_has_the_services_code(tmp_path: Path, kind: FailureKind, code: str) -> None:
    path = write(tmp_path, "a.jpg")
    (fields,) = await fields_of([path], FakeReader({b"Cafe": Failure(kind, "So it is.")}))

    assert fields == {"file": str(path), "error": {"code": code, "message": "So it is."}}


async def test_files_after_a_refused_one_are_read(tmp_path: Path) -> None:
    first, last = write(tmp_path, "a.jpg"), write(tmp_path, "c.jpg", "Bar")
    lines = await fields_of([first, tmp_path / "none.jpg", last], FakeReader())

    assert ["error" in fields for fields in lines] == [False, True, False]
    assert lines[2]["merchant_name"] == "Bar"


async def test_more_files_than_are_read_at_once_keep_their_order(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{number}.jpg", str(number)) for number in range(600)]
    lines = await fields_of(paths, FakeReader())

    assert [fields["merchant_name"] for fields in lines] == [str(number) for number in range(600)]


async def test_hint_is_passed_to_the_reader(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jpg")
    options = readings.Options(hint=DocumentType.NFCE)
    lines = readings.lines([("a.jpg", path)], options, FakeReader())

    assert [line.fields["type"] async for line in lines] == ["nfce"]


async def test_name_that_is_no_text_is_spelled_with_signs_for_what_is_none(
    tmp_path: Path,
) -> None:
    name = os.fsdecode(b"caf\xe9\n.jpg")
    path = write(tmp_path, name)
    (fields,) = [
        line.fields
        async for line in readings.lines([(name, path)], readings.Options(), FakeReader())
    ]

    assert json.loads(readings.to_json_line(fields))["file"] == "caf\N{REPLACEMENT CHARACTER}\n.jpg"


@pytest.mark.parametrize("sign", ["\n", "\r", "\x0b", "\x1c", "\x85", "\u2028", "\u2029", '"'])
def test_no_sign_breaks_the_line(sign: str) -> None:
    text = f"a{sign}b"
    line = readings.to_json_line({"file": text})

    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == {"file": text}


def test_letters_stand_as_they_are() -> None:
    assert readings.to_json_line({"file": "pão"}) == '{"file": "pão"}\n'.encode()


def test_half_a_surrogate_pair_does_not_stop_the_line() -> None:
    assert json.loads(readings.to_json_line({"file": "a\ud83d"}))["file"] == "a?"
