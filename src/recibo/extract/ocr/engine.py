"""The interface of OCR engines."""

from dataclasses import dataclass
from typing import Protocol

from recibo.extract.model import Picture, Word


@dataclass(frozen=True, slots=True)
class Reading:
    """The words that an engine read on a picture."""

    #: Boxes are in pixels of the picture after `turns`; in any order.
    words: tuple[Word, ...]
    #: The quarter turns clockwise that make the picture upright: 0 to 3.
    turns: int = 0
    #: The length of the lines in which nothing was read, in pixels.
    unread: float = 0.0


class Engine(Protocol):
    """Reads the text of pictures. An instance is used by one thread at a time."""

    @property
    def name(self) -> str:
        """The engine and its models, for traces and reports."""
        ...

    def read(
        self, picture: Picture, *, scale: float = 1.0, earlier: Reading | None = None
    ) -> Reading:
        """Find all text of a picture in any of four orientations.

        Args:
            picture: The picture.
            scale: The factor by which the picture is larger than usual, for another pass.
            earlier: The result of an earlier pass on a picture of the same page and size. It
                gives the orientation, and words with a high confidence are not read again.
        """
        ...
