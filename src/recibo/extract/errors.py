"""The errors of reading a document.

ReadingError
├── UnsupportedFormat      not one of the supported formats
├── InvalidDocument        a supported format, but the document is refused
│   ├── EmptyFile
│   ├── TooManyPages
│   ├── TooManyPixels
│   └── Encrypted
├── Unreadable             nothing can be read
│   ├── Damaged            the file cannot be decoded
│   ├── Blank              there is no text on it
│   └── UnknownScript      most of the text is in a script that is not supported
└── MissingModel           the installation lacks its recognition models
"""


class ReadingError(Exception):
    """The document could not be read."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__ or "")


class UnsupportedFormat(ReadingError):
    """The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF."""


class InvalidDocument(ReadingError):
    """The document is refused before it is read."""


class EmptyFile(InvalidDocument):
    """The file is empty."""


class TooManyPages(InvalidDocument):
    """The document has more than 30 pages."""


class TooManyPixels(InvalidDocument):
    """A page of the document has more than 100 megapixels."""


class Encrypted(InvalidDocument):
    """The document is encrypted; send it without a password."""


class Unreadable(ReadingError):
    """Nothing on the document could be read; send a sharper or larger picture of it."""


class Damaged(Unreadable):
    """The file is damaged or incomplete and cannot be opened; upload it again from the original."""


class Blank(Unreadable):
    """No text was found on the document; send a sharp picture of the side that is printed."""


class UnknownScript(Unreadable):
    """The text is in a script that is not supported, and nothing else on it could be read."""


class MissingModel(ReadingError):
    """The recognition models are missing from the installation; install the package again."""
