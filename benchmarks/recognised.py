"""Recognises files once and keeps their pages, so that the fields are measured in seconds.

Recognition takes nearly all the time of a reading. Who changes the fields alone names a folder for
what was recognised; after a change of the engine, of the lines or of the codes it is to be emptied.
"""

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recibo.extract import pipeline
from recibo.extract.model import Accuracy, TextPage


@dataclass(frozen=True, slots=True)
class How:
    """How files are recognised, and the folder that keeps what came of it, if there is one."""

    accuracy: Accuracy = Accuracy.STANDARD
    kept: Path | None = None

    def recognised(self, path: Path) -> Sequence[Sequence[TextPage]]:
        """Return the pages of a file, those that are kept where there are any.

        Raises:
            ReadingError: The file is refused.
        """
        data = path.read_bytes()
        if self.kept is None:
            return pipeline.recognise(data, accuracy=self.accuracy)
        file = self.kept / f"{hashlib.sha256(data).hexdigest()}.{self.accuracy}"
        if not file.exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            pages = pipeline.recognise(data, accuracy=self.accuracy)
            # Whole or not at all: a run that is broken off leaves no half page.
            part = file.with_suffix(".part")
            part.write_bytes(pickle.dumps(pages))
            part.rename(file)
        return _loaded(file)


def _loaded(file: Path) -> Sequence[Sequence[TextPage]]:
    pages: Sequence[Sequence[TextPage]] = pickle.loads(file.read_bytes())  # noqa: S301  # our own
    return pages
