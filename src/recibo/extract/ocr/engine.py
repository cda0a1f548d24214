"""What the library asks of a text recognition engine."""

from dataclasses import dataclass
from typing import Protocol

from recibo.extract.model import Picture, Word


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine saw on a picture."""

    #: Boxes are in pixels of the picture after `turns`; the order is free.
    words: tuple[Word, ...]
    #: Quarter turns clockwise that set the picture upright: 0 to 3.
    turns: int = 0


class Engine(Protocol):
    """Reads the text of pictures; one instance is used by one thread at a time."""

    @property
    def name(self) -> str:
        """The engine and its models, for traces and reports."""
        ...

    def read(
        self, picture: Picture, *, fineness: float = 1.0, earlier: Reading | None = None
    ) -> Reading:
        """Find all text of a picture that may lie on any of its four sides.

        Args:
            picture: The picture.
            fineness: How much finer than usual the engine looks, for a further opinion.
            earlier: What another look saw on a picture of the same page and size. It tells the
                side that the page lies on, and what was read surely is not read again.
        """
        ...
