"""`--rename`: safe names, and no file is ever lost or overwritten."""

from pathlib import Path

import pytest

from recibo.cli import renaming
from recibo.cli.inputs import Document
from recibo.cli.renaming import NotRenamedError, Renaming, Template, TemplateError
from recibo.schemas.receipts import Reading

FULL = "{issued_at:%Y-%m-%d} {merchant_name} {total}"


def reading(**values: object) -> Reading:
    empty = dict.fromkeys(Reading.model_fields, None) | {
        "type": "receipt", "line_items": [], "taxes": [], "payments": [], "confidence": 0.9,
    }  # fmt: skip
    known = {"issued_at": "2026-03-14T08:17:42-03:00", "merchant_name": "Cafe", "total": "42.59"}
    return Reading.model_validate(empty | known | values)


def document(path: Path, content: str = "a receipt") -> Document:
    path.write_text(content)
    return Document(str(path), path, Path(path.name))


def test_file_gets_the_name_of_what_was_read(tmp_path: Path) -> None:
    renamed = Renaming(Template(FULL)).apply(document(tmp_path / "scan.JPG"), reading())

    assert tmp_path / "2026-03-14 Cafe 42.59.jpg" == renamed
    assert [renamed] == list(tmp_path.iterdir())
    assert "a receipt" == renamed.read_text()


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    apply = Renaming(Template("{merchant_name}")).apply
    first, second = (document(tmp_path / name, name) for name in ("1.jpg", "2.jpg"))

    assert tmp_path / "Cafe.jpg" == apply(first, reading())
    assert tmp_path / "Cafe (2).jpg" == apply(second, reading())
    assert {"1.jpg", "2.jpg"} == {one.read_text() for one in tmp_path.iterdir()}


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    apply = Renaming(Template("{merchant_name}")).apply
    for name in ("Cafe.jpg", "Cafe (2).jpg"):
        assert apply(document(tmp_path / name), reading()) is None

    assert {"Cafe.jpg", "Cafe (2).jpg"} == {one.name for one in tmp_path.iterdir()}


def test_second_run_makes_no_folders_in_the_folders(tmp_path: Path) -> None:
    apply = Renaming(Template("{issued_at:%Y}/{merchant_name}")).apply
    for name in ("1.jpg", "2.jpg"):
        renamed = apply(document(tmp_path / name), reading())
        assert renamed
        assert apply(Document(str(renamed), renamed, Path(renamed.name)), reading()) is None

    assert {"2026/Cafe.jpg", "2026/Cafe (2).jpg"} == {
        str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.jpg")
    }


def test_missing_value_keeps_the_name(tmp_path: Path) -> None:
    with pytest.raises(NotRenamedError, match="total"):
        Renaming(Template(FULL)).apply(document(tmp_path / "a.jpg"), reading(total=None))

    assert ["a.jpg"] == [one.name for one in tmp_path.iterdir()]


def test_copies_leave_the_originals(tmp_path: Path) -> None:
    kept = document(tmp_path / "a.jpg")
    copied = Renaming(Template("{issued_at:%Y}/{total}"), tmp_path / "new").apply(kept, reading())

    assert tmp_path / "new" / "2026" / "42.59.jpg" == copied
    assert kept.path.read_text() == copied.read_text()


def test_dry_run_plans_different_names_and_changes_nothing(tmp_path: Path) -> None:
    planned = Renaming(Template("{total}"), is_dry_run=True)
    files = [document(tmp_path / name) for name in ("a.jpg", "b.jpg")]

    assert ["42.59.jpg", "42.59 (2).jpg"] == [
        path.name for one in files if (path := planned.apply(one, reading()))
    ]
    assert {"a.jpg", "b.jpg"} == {one.name for one in tmp_path.iterdir()}


def test_link_keeps_its_name(tmp_path: Path) -> None:
    target = document(tmp_path / "a.jpg")
    link = tmp_path / "b.jpg"
    link.symlink_to(target.path)

    with pytest.raises(NotRenamedError, match="link"):
        Renaming(Template("{total}")).apply(Document("b.jpg", link, Path("b.jpg")), reading())


@pytest.mark.parametrize(
    ("merchant", "name"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d", "a-b-c-d"),
        ("new\nline\x1b[31m", "new line [31m"),
        ("  . dots . ", "dots"),
        ("-rf", "rf"),
        ("CON", "_CON"),
        ("com¹.x", "_com¹.x"),
        ("\u202egpj.exe", "gpj.exe"),
        ("ção", "ção"),
        ("...", "_"),
    ],
)
def test_what_is_on_a_document_makes_a_safe_name(tmp_path: Path, merchant: str, name: str) -> None:
    place = Template("{merchant_name}").place(reading(merchant_name=merchant), tmp_path / "a.jpg")

    assert Path(f"{name}.jpg") == place


def test_long_name_is_cut_between_letters() -> None:
    assert "é" * 100 == renaming.safe("é" * 500)


@pytest.mark.parametrize(
    "text",
    ["no field", "{unknown}", "{total.__class__}", "{total!r}", "{total:>9}", "{}", "{",
     "../{total}", "/{total}", "{line_items}"],
)  # fmt: skip
def test_template_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(TemplateError):
        Template(text)
