"""`--rename`: names files by what was read on them. No file is ever overwritten."""

import datetime as dt
import os
import re
import shutil
import string
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recibo.cli.inputs import Document
from recibo.schemas.receipts import Reading

#: What a template may name.
FIELDS = (
    *(name for name in Reading.model_fields if name not in ("line_items", "taxes", "payments")),
    "name",
)
_DATES = ("issued_at", "due_date")
# File systems of other machines allow none of these in a name.
_FORBIDDEN = re.compile(r'[/\\:*?"<>|]+')
_RESERVED = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])(\..*)?", re.IGNORECASE | re.ASCII
)
# Names have at most 255 bytes. This leaves room for a number and the suffix.
_MAX_BYTES = 200


class TemplateError(ValueError):
    """A template that cannot be used."""


class NotRenamedError(Exception):
    """Why a document keeps its name."""


class Template:
    """A name with fields in braces: `{issued_at:%Y-%m-%d} {merchant_name} {total}`.

    Raises:
        TemplateError: it names an unknown field, or a place outside the folder.
    """

    def __init__(self, text: str) -> None:
        try:
            self._parts = tuple(string.Formatter().parse(text))
        except ValueError as e:
            raise TemplateError(str(e)) from None
        fields = [part for part in self._parts if part[1] is not None]
        if not fields:
            raise TemplateError("name at least one field, such as {total}")
        for _, name, form, conversion in fields:
            _check_field(name or "", form or "", conversion)
        literal = "".join(part[0] for part in self._parts)
        if text.startswith("/") or ".." in literal or "\0" in literal:
            raise TemplateError("files stay in their folder: no .. and no / at the beginning")

    def place(self, reading: Reading, original: Path) -> Path:
        """Return a safe relative path for the document, with the suffix of the original.

        Raises:
            NotRenamedError: the reading lacks a value that the template names.
        """
        values = {**reading.model_dump(mode="json"), "name": original.stem}
        text = "".join(
            literal + ("" if name is None else _value(values, name, form or ""))
            for literal, name, form, _ in self._parts
        )
        *folders, last = text.split("/")
        return Path(*(safe(folder) for folder in folders), safe(last) + original.suffix.lower())


@dataclass(frozen=True, slots=True)
class Renaming:
    """What to do with documents that were read."""

    template: Template
    #: Copies go here, and the originals stay; None renames the originals.
    copy_to: Path | None = None
    is_dry_run: bool = False
    #: The names that a dry run would have given.
    planned: set[Path] = field(default_factory=set)

    @property
    def verb(self) -> str:
        """What the summary calls it."""
        if self.is_dry_run:
            return "to rename" if self.copy_to is None else "to copy"
        return "renamed" if self.copy_to is None else "copied"

    def apply(self, document: Document, reading: Reading) -> Path | None:
        """Rename or copy the document; return its new path, or None if it has it already.

        Raises:
            NotRenamedError: a value of the template is missing, or it is a link.
            OSError: it cannot be renamed.
        """
        place = self.template.place(reading, document.path)
        target = (self.copy_to or _base(document.path.parent, place)) / place
        if self.copy_to is None and document.path.is_symlink():
            raise NotRenamedError("it is a link")
        for candidate in _numbered(target):
            if self.copy_to is None and candidate == document.path:
                return None
            if self._reserve(candidate):
                if not self.is_dry_run:
                    self._move(document.path, candidate)
                return candidate
        return None

    def _reserve(self, path: Path) -> bool:
        """Take a free name, by an empty file; return False if it is taken."""
        if self.is_dry_run:
            is_free = path not in self.planned and not os.path.lexists(path)
            self.planned.add(path)
            return is_free
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.open("xb").close()
        except FileExistsError:
            return False
        return True

    def _move(self, original: Path, reserved: Path) -> None:
        """Put the original in the place of the empty file that reserves its name."""
        try:
            if self.copy_to is None:
                original.rename(reserved)
            else:
                shutil.copy2(original, reserved)
        except BaseException:
            reserved.unlink(missing_ok=True)
            raise


def _base(folder: Path, place: Path) -> Path:
    """Return where the place begins: a document that is in its folder already stays there."""
    inner = place.parent.parts
    if inner and folder.parts[-len(inner) :] == inner:
        return Path(*folder.parts[: -len(inner)])
    return folder


def safe(text: str) -> str:
    """Return a text as a file name that every usual file system accepts."""
    text = unicodedata.normalize("NFC", text)
    text = _FORBIDDEN.sub("-", text)
    text = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    text = text.encode("utf-8", "ignore")[:_MAX_BYTES].decode("utf-8", "ignore").rstrip(" .")
    # A dot in front would hide it, and a hyphen make it an option of other programs.
    text = text.lstrip(" .-") or "_"
    return f"_{text}" if _RESERVED.fullmatch(text) else text


def _check_field(name: str, form: str, conversion: str | None) -> None:
    if name not in FIELDS:
        raise TemplateError(f"{{{name}}} is none of {', '.join(FIELDS)}")
    if conversion:
        raise TemplateError(f"{{{name}!{conversion}}} has a conversion; write {{{name}}}")
    if form and name not in _DATES:
        raise TemplateError(f"{{{name}:{form}}} has a format; only dates have one")


def _value(values: Mapping[str, object], name: str, form: str) -> str:
    value = values[name]
    if value is None or value == "":
        raise NotRenamedError(f"{name} was not found on it")
    if name in _DATES:
        value = dt.datetime.fromisoformat(str(value)).strftime(form or "%Y-%m-%d")
    # Only the template decides about folders.
    return _FORBIDDEN.sub("-", str(value))


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1
