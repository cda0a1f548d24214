"""Files in multipart forms: received within bounds, judged by size and type, copied to disk."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from recibo.errors import FileTooLarge, UnsupportedFormat, ValidationFailed
from recibo.extract.load import formats, limits

# Beside the files: sixteen metadata entries of 64 and 256 characters, a URL, and the form itself.
_MAX_FORM_BYTES = 256 * 1024
_MAX_FIELD_BYTES = 64 * 1024
_MAX_FIELDS = 50
_CHUNK = 1024 * 1024
_HEAD = 8192

# What browsers and phones call the formats beside their registered names.
_DECLARED_TOO = {
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
    #: As its head tells; None when it tells nothing and a decoder must look.
    media_type: str | None


@asynccontextmanager
async def received(request: Request, *, max_bytes: int) -> AsyncIterator[FormData]:
    """Receive a form whose files have so many bytes together at most; they live with the block.

    Raises:
        ValidationFailed: it is no whole multipart form.
        FileTooLarge: its files are larger than that; the rest is not waited for.
    """
    form = await _form(request, max_bytes)
    try:
        yield form
    finally:
        await form.close()


@asynccontextmanager
async def copied(file: UploadFile, spool: Path) -> AsyncIterator[Copied]:
    """Give a copy of a file of a form, which lives as long as the block.

    Raises:
        ValidationFailed, FileTooLarge, UnsupportedFormat: in this order of judgement.
    """
    _refuse_size(file)
    _refuse_declared(file)
    media_type = _told_type(file)
    with tempfile.NamedTemporaryFile(dir=spool) as copy:
        path = Path(copy.name)
        sha256 = await asyncio.to_thread(_copy, file, path)
        yield Copied(path, sha256, file.size or 0, media_type)


class _WholeForm(MultiPartParser):
    """Takes a form up to its limits, and only with its end: the framework takes a cut one, too."""

    # Kept in memory of each file until the rest comes; the framework's own megabyte would be 200
    # with all the uploads that one key may send at once.
    spool_max_size = 64 * 1024

    def __init__(self, request: Request, max_bytes: int) -> None:
        super().__init__(
            request.headers,
            self._bounded(request, max_bytes + _MAX_FORM_BYTES),
            max_files=_MAX_FIELDS,
            max_fields=_MAX_FIELDS,
            max_part_size=_MAX_FIELD_BYTES,
        )
        self._has_ended = False

    def on_part_end(self) -> None:
        part = self._current_part
        if part.file is None:
            # The framework would take any bytes, as Latin-1.
            part.data.decode(self._charset)
        super().on_part_end()

    def on_end(self) -> None:
        self._has_ended = True

    async def _bounded(self, request: Request, limit: int) -> AsyncGenerator[bytes, None]:
        """Pass the body on until it is larger than any allowed form."""
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


async def _form(request: Request, max_bytes: int) -> FormData:
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ValidationFailed.of("file", "send the file as multipart/form-data")
    try:
        return await _WholeForm(request, max_bytes).parse()
    except MultiPartException as e:
        raise ValidationFailed.of("file", f"the form cannot be read: {e.message}") from e
    except UnicodeError as e:
        # Some charsets refuse everything, in a way that the framework does not know.
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
    if declared not in formats.EXTENSIONS and declared not in _DECLARED_TOO:
        raise UnsupportedFormat


def _told_type(file: UploadFile) -> str | None:
    file.file.seek(0)
    told = formats.guess(file.file.read(_HEAD))
    if told is not None and told not in formats.EXTENSIONS:
        raise UnsupportedFormat
    return told


def _copy(file: UploadFile, target: Path) -> str:
    digest = hashlib.sha256()
    file.file.seek(0)
    with target.open("wb") as out:
        while chunk := file.file.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
