"""Files in multipart forms: received within limits, checked by size and type, copied to disk."""

import asyncio
import codecs
import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from recibo.errors import FileTooLarge, UnsupportedFormat, ValidationFailed
from recibo.extract.document import formats, limits

# In addition to the files: 16 metadata entries of 64 and 256 characters, a URL, the form itself.
_MAX_FORM_BYTES = 256 * 1024
_MAX_FIELD_BYTES = 64 * 1024
_MAX_FIELDS = 50
_CHUNK = 1024 * 1024
_HEAD = 8192

# Names that browsers and phones use for the formats, in addition to the registered ones.
_ALIASES = {
    "",
    "application/octet-stream",
    "application/x-pdf",
    "image/heif",
    "image/heic-sequence",
    "image/heif-sequence",
    "image/jpg",
    "image/pjpeg",
    "image/x-png",
    "image/tif",
}


@dataclass(frozen=True, slots=True)
class Copied:
    """A file that may be a document, as a local copy."""

    path: Path
    sha256: str
    size: int
    #: By its first bytes; None when only a decoder can find it out.
    media_type: str | None


@asynccontextmanager
async def received(request: Request, *, max_bytes: int) -> AsyncIterator[FormData]:
    """Yield the form of a request; its files are deleted after the block.

    Raises:
        ValidationFailed: it is not a complete multipart form.
        FileTooLarge: its files have more than `max_bytes` together; the rest is not read.
    """
    form = await _form(request, max_bytes)
    try:
        yield form
    finally:
        await form.close()


@asynccontextmanager
async def copied(file: UploadFile, spool: Path) -> AsyncIterator[Copied]:
    """Yield a copy of a file of a form; it is deleted after the block.

    Raises:
        ValidationFailed, FileTooLarge, UnsupportedFormat: checked in this order.
    """
    _refuse_size(file)
    _refuse_declared(file)
    media_type = _detected_type(file)
    with tempfile.NamedTemporaryFile(dir=spool) as copy:
        path = Path(copy.name)
        sha256 = await asyncio.to_thread(_copy, file, path)
        yield Copied(path, sha256, file.size or 0, media_type)


class _WholeForm(MultiPartParser):
    """Parses a form within limits; a form that is cut off or has text in no charset is refused."""

    # Bytes of each file that are kept in memory until the rest comes; beyond, each piece is written
    # in a thread, which costs more than parsing it. The framework's own megabyte would be 200 MB
    # for all the uploads that one key may send at once.
    spool_max_size = 128 * 1024

    def __init__(self, request: Request, max_bytes: int) -> None:
        super().__init__(
            request.headers,
            self._bounded(request, max_bytes + _MAX_FORM_BYTES),
            max_files=_MAX_FIELDS,
            max_fields=_MAX_FIELDS,
            max_part_size=_MAX_FIELD_BYTES,
        )
        self._codec = _codec_of(request)
        self._part_head = bytearray()
        self._has_ended = False

    def on_part_begin(self) -> None:
        super().on_part_begin()
        self._part_head.clear()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        super().on_part_data(data, start, end)
        # A text is no longer than this, so the head of the part is all of it.
        if len(self._part_head) < _MAX_FIELD_BYTES:
            self._part_head += data[start:end]

    def on_part_end(self) -> None:
        super().on_part_end()
        _, value = self.items[-1]
        if isinstance(value, str):
            # The framework falls back to Latin-1, which accepts any bytes.
            self._part_head.decode(self._codec)

    def on_end(self) -> None:
        self._has_ended = True

    async def _bounded(self, request: Request, limit: int) -> AsyncGenerator[bytes, None]:
        """Yield the body; raise when it is larger than any allowed form."""
        if int(request.headers.get("content-length", 0)) > limit:
            raise FileTooLarge
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise FileTooLarge
            yield chunk
        if not self._has_ended:
            message = "it ends before its last boundary"
            raise MultiPartException(message)


def _codec_of(request: Request) -> str:
    """Return the codec of a form's texts, by the charset that its Content-Type names."""
    _, parameters = parse_options_header(request.headers["content-type"])
    try:
        return codecs.lookup(parameters.get(b"charset", b"utf-8").decode("latin-1")).name
    except LookupError:
        return "latin-1"


async def _form(request: Request, max_bytes: int) -> FormData:
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ValidationFailed.of("file", "send the file as multipart/form-data")
    try:
        return await _WholeForm(request, max_bytes).parse()
    except MultiPartException as e:
        raise ValidationFailed.of("file", f"the form cannot be read: {e.message}") from e
    except UnicodeError as e:
        # The framework does not handle charsets that refuse everything.
        message = "a field is no text in the form's charset; a file needs a file name"
        raise ValidationFailed.of("file", message) from e
    except ClientDisconnect as e:
        raise ValidationFailed.of("file", "the upload ended early; send it again") from e


def _refuse_size(file: UploadFile) -> None:
    if not file.size:
        raise ValidationFailed.of("file", "is empty; send the document")
    if file.size > limits.MAX_BYTES:
        raise FileTooLarge


def _refuse_declared(file: UploadFile) -> None:
    declared = (file.content_type or "").partition(";")[0].strip().lower()
    if declared not in formats.EXTENSIONS and declared not in _ALIASES:
        raise UnsupportedFormat


def _detected_type(file: UploadFile) -> str | None:
    file.file.seek(0)
    detected = formats.guess(file.file.read(_HEAD))
    if detected is not None and detected not in formats.EXTENSIONS:
        raise UnsupportedFormat
    return detected


def _copy(file: UploadFile, target: Path) -> str:
    digest = hashlib.sha256()
    file.file.seek(0)
    with target.open("wb") as out:
        while chunk := file.file.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
