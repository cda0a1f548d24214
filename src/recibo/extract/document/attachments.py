"""Finds the XML files that a PDF embeds."""

import codecs
import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from recibo.extract.document import formats

_PDF = "application/pdf"

#: The names that the standards prescribe; any other XML comes after them.
_NAMES = ("factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml")
#: More attachments are not looked at.
_MAX_FILES = 50
#: Most e-invoices have 10 kB; those that contain pictures have more.
_MAX_BYTES = 10_000_000


def load() -> None:
    """Load how the names of attachments are decoded."""
    codecs.lookup("utf-16-le")


def xml(data: bytes) -> Iterator[bytes]:
    """Yield the XML files in a PDF, those named as e-invoices first; none of other formats."""
    if formats.guess(data) != _PDF:
        return
    try:
        document = pdfium.PdfDocument(data)
        count = min(document.count_attachments(), _MAX_FILES)
        files = [document.get_attachment(index) for index in range(count)]
    except pdfium.PdfiumError:
        # Its pages say what is wrong with a damaged file.
        return
    for file in sorted(files, key=_rank):
        content = _content(file) if _rank(file) <= len(_NAMES) else None
        if content:
            yield content


def _rank(file: pdfium.PdfAttachment) -> int:
    """Return the place of a file among the others; beyond all names if it is no XML."""
    try:
        name = file.get_name().lower()
    except (pdfium.PdfiumError, UnicodeDecodeError):
        name = ""
    if name in _NAMES:
        return _NAMES.index(name)
    return len(_NAMES) + (not name.endswith(".xml"))


def _content(file: pdfium.PdfAttachment) -> bytes | None:
    size = ctypes.c_ulong()
    pdfium_c.FPDFAttachment_GetFile(file, None, 0, size)
    if not 0 < size.value <= _MAX_BYTES:
        return None
    try:
        return bytes(file.get_data())
    except pdfium.PdfiumError:
        return None
