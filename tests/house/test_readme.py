"""The example and the links of the README are right."""

import json
import re
from typing import Any

import pytest

from recibo.extract import pipeline
from recibo.schemas import receipts
from tests.house import source

README = (source.ROOT / "README.md").read_text(encoding="utf-8")


def test_example_shows_the_reading_of_its_picture() -> None:
    found = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert found is not None
    shown = json.loads(found[1])

    picture = (source.ROOT / "docs" / "pictures" / "receipt.png").read_bytes()
    read = receipts.reading(pipeline.extract(picture)).model_dump(mode="json")

    assert shown.pop("confidence") == pytest.approx(read.pop("confidence"), abs=0.05)
    assert shown == _printed(read)


def _printed(read: Any) -> Any:
    """Return a reading without what the README leaves out: fields that are not on the receipt."""
    if isinstance(read, list):
        return [_printed(one) for one in read]
    if not isinstance(read, dict):
        return read
    return {name: _printed(one) for name, one in read.items() if one not in (None, [])}


def test_links_have_targets() -> None:
    targets = re.findall(r"\]\(([^):]+)\)|src=\"([^\"]+)\"", README)

    assert [] == [
        path for pair in targets for path in pair if path and not (source.ROOT / path).exists()
    ]
