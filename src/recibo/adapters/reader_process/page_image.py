"""A page drawn by a reader process."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageImage:
    """A picture as WebP in Base64; None if the document has no such page."""

    content: str | None
