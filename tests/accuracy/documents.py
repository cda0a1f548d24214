"""The documents that accuracy is measured on; they are not part of the repository."""

import os
from pathlib import Path

import pytest

from benchmarks import accuracy
from benchmarks.scoring import Task

# A fixed sample of the development sets, read in about 40 seconds of one core.
SAMPLE = 40
SCORERS = ("score_sroie.py", "score_documents.py")


def sample(folder: Path) -> list[Task]:
    """Return the documents to read; skip the test if there is no such folder.

    A folder that is there but cannot be read fails the test: otherwise a gate that measures nothing
    would look like one that is passed.

    Raises:
        OSError: a document or a scorer cannot be read.
        ValueError: there are too few documents.
    """
    # A link to nowhere is there.
    if not os.path.lexists(folder):
        pytest.skip("no documents to measure on (RECIBO_ACCURACY_DATA names their folder)")
    found = accuracy.tasks(folder, sample=SAMPLE)
    for path in (*(folder / name for name in SCORERS), *(one.path for one in found)):
        with path.open("rb") as stream:
            stream.read(1)
    if len(found) < SAMPLE:
        message = f"{folder} has {len(found)} documents, too few to measure on"
        raise ValueError(message)
    return found
