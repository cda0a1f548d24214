"""Reads the documents of tests from TOML files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIELDS = (
    *("type", "merchant_name", "merchant_tax_id", "issued_at", "total", "subtotal", "tax"),
    *("currency", "document_number", "document_key"),
)

#: The name, the quantity, the unit price and the total of a line item; None if it is not printed.
Row = tuple[str | None, ...]
#: The values of a document by field; None if it has none.
Truth = Mapping[str, str | None]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document and its values."""

    text: str
    truth: Truth


def documents(name: str) -> dict[str, Document]:
    """Return the documents of a file in `documents/`, by name."""
    return {
        key: Document(found["text"], {field: found.get("truth", {}).get(field) for field in FIELDS})
        for key, found in _read(f"documents/{name}.toml").items()
    }


def raw(name: str) -> Mapping[str, Any]:
    """Return the documents of a file in `documents/` as they are written there, by name."""
    return _read(f"documents/{name}.toml")


def line_items(*names: str) -> dict[str, tuple[str, list[Row]]]:
    """Return the texts of the files in `line_items/` and the items listed in each, by name."""
    return {
        key: (found["text"], [tuple(value or None for value in item) for item in found["items"]])
        for name in names
        for key, found in _read(f"line_items/{name}.toml").items()
    }


def _read(path: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((_FOLDER / path).read_text("utf-8"))
