"""Recognizes files and caches their pages, so that the fields are measured in seconds.

Recognition takes nearly all the time of a reading. To measure changes of the fields, name a folder
as a cache. Empty it after a change of the OCR engine, the lines or the codes.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from recibo.extract import pipeline
from recibo.extract.model import Accuracy, TextPage

#: The pages of a file, each once per pass.
Pages = Sequence[Sequence[TextPage]]
_PAGES = TypeAdapter(list[list[TextPage]])


@dataclass(frozen=True, slots=True)
class Recognition:
    """How files are recognized, and the folder that caches their pages, if any."""

    accuracy: Accuracy = Accuracy.STANDARD
    cache: Path | None = None

    def pages(self, path: Path) -> Pages:
        """Return the pages of a file, from the cache if they are in it.

        Raises:
            ReadingError: The file is refused.
        """
        data = path.read_bytes()
        return self.cached(
            data, self.accuracy, lambda: pipeline.recognize(data, accuracy=self.accuracy)
        )

    def cached(self, data: bytes, kind: str, recognize: Callable[[], Pages]) -> Pages:
        """Return the cached pages of a file, or recognize it and cache them.

        Args:
            data: The file.
            kind: How it is recognized, for the name of the cached file.
            recognize: Returns its pages.
        """
        if self.cache is None:
            return recognize()
        file = self.cache / f"{hashlib.sha256(data).hexdigest()}.{kind}.json"
        if not file.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            # Renamed when complete, so an interrupted run leaves no incomplete file.
            part = file.with_suffix(".part")
            part.write_bytes(_PAGES.dump_json([list(once) for once in recognize()]))
            part.rename(file)
        return _PAGES.validate_json(file.read_bytes())
