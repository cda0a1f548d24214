"""A data folder of invented documents, with small scorers like those of the real sets."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests import make_documents

SELLER = "Corner Shop Limited"

_SROIE_SCORER = """
FIELDS = {"total": "total", "date": "issued_at", "merchant": "merchant_name"}

def judge(key, read):
    own = {"total": key["total"], "date": key["date"], "merchant": key["company"]}
    return {
        name: (bool(own[name]), bool(read.get(field)), own[name] == read.get(field))
        for name, field in FIELDS.items()
    }
"""
_SCORER = """
def eq(field, truth, read, precision):
    return (truth or None) == (read or None)

def items(truth, read, alternatives):
    right = sum(item["name"] in {one["name"] for one in read or ()} for item in truth)
    return {"all": right}, {"all": len(truth)}, 0
"""


def folder(path: Path) -> Path:
    """Write a scanned receipt, and one document of each other set."""
    (path / "score_sroie.py").write_text(_SROIE_SCORER)
    (path / "score_documents.py").write_text(_SCORER)
    for name in ("img", "key"):
        (path / "sroie" / name).mkdir(parents=True)
    receipt = make_documents.till_receipt()
    # A text layer needs no recognition.
    (path / "sroie" / "img" / "001.jpg").write_bytes(receipt.pdf())
    key = {"company": SELLER, "date": "", "total": receipt.truth.total}
    (path / "sroie" / "key" / "001.json").write_text(json.dumps(key))
    for name, source in (
        ("documents", {"generator": "notes:page:80"}),
        ("real-documents", {"repository": "owner/photos"}),
    ):
        listed(path, name, source)
    return path


def listed(path: Path, name: str, source: Mapping[str, str]) -> None:
    """Write a set of one document in two files; the second one is listed as a scan."""
    receipt = make_documents.till_receipt()
    (path / name).mkdir()
    (path / name / "receipt.pdf").write_bytes(receipt.pdf())
    entry = {
        "id": "receipt",
        "files": {"pdf": "receipt.pdf", "scan": "receipt.pdf"},
        "truth": receipt.truth.wire(),
        "alternatives": {"merchant_name": ["Corner Shop"], "_not_printed": "tax"},
        "unassessed": ["tax"],
        "issued_at_precision": "minute",
        "source": source,
    }
    (path / name / "international.json").write_text(json.dumps([entry]))
    (path / name / "brazil.json").write_text("[]")
