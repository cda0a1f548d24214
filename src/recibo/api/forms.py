"""The multipart form of an upload: received within its bounds, checked field by field."""

import asyncio
import hashlib
import json
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from recibo.errors import FileTooLarge, InsufficientScope, UnsupportedFormat, ValidationFailed
from recibo.extract.load import formats, limits
from recibo.extract.model import Accuracy, DocumentType
from recibo.kit import webhook_urls
from recibo.services.reading.extraction import Upload
from recibo.shapes.states import Scope

Choice = TypeVar("Choice", bound=StrEnum)

# Beside the file: sixteen metadata entries of 64 and 256 characters, a URL, and the form itself.
_MAX_FORM_BYTES = 256 * 1024
_MAX_FIELD_BYTES = 64 * 1024
_MAX_FIELDS = 50
_MAX_METADATA_KEYS = 16
_MAX_METADATA_KEY = 64
_MAX_METADATA_VALUE = 256
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
# Visible ASCII and blanks.
_IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BOOLEANS = {"true": True, "false": False}


@asynccontextmanager
async def received(
    request: Request, spool: Path, webhooks: webhook_urls.Policy | None
) -> AsyncIterator[Upload]:
    """Receive the upload of a request; its file lives as long as the block.

    Without a policy for webhooks the caller may name none.

    Raises:
        InsufficientScope: a webhook is named all the same.
        ValidationFailed, FileTooLarge, UnsupportedFormat: in this order of judgement.
    """
    key = _idempotency_key(request)
    form = await _form(request)
    try:
        options = _Options(form, webhooks)
        file = _file(form)
        _refuse_size(file)
        _refuse_declared(file)
        with tempfile.NamedTemporaryFile(dir=spool) as copy:
            sha256 = await asyncio.to_thread(_copy, file, Path(copy.name))
            yield Upload(
                path=Path(copy.name),
                sha256=sha256,
                size=file.size or 0,
                media_type=_told_type(file),
                accuracy=options.accuracy,
                hint=options.hint,
                metadata=options.metadata,
                webhook_url=options.webhook_url,
                idempotency_key=key,
                reread=options.reread,
            )
    finally:
        await form.close()


class _Options:
    """The fields beside the file, each checked."""

    def __init__(self, form: FormData, webhooks: webhook_urls.Policy | None) -> None:
        # First: whether the caller may comes before whether it is right.
        self.webhook_url = _webhook_url(form, webhooks)
        self.accuracy = _choice(form, "accuracy", Accuracy) or Accuracy.STANDARD
        self.hint = _choice(form, "type", DocumentType)
        self.metadata = _metadata(_text(form, "metadata"))
        self.reread = _boolean(form, "reread")


class _WholeForm(MultiPartParser):
    """Takes a form up to its limits, and only with its end: the framework takes a cut one, too."""

    def __init__(self, request: Request) -> None:
        super().__init__(
            request.headers,
            self._bounded(request),
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

    async def _bounded(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Pass the body on until it is larger than any allowed form."""
        limit = limits.MAX_BYTES + _MAX_FORM_BYTES
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


async def _form(request: Request) -> FormData:
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ValidationFailed.of("file", "send the file as multipart/form-data")
    try:
        return await _WholeForm(request).parse()
    except MultiPartException as e:
        raise ValidationFailed.of("file", f"the form cannot be read: {e.message}") from e
    except UnicodeError as e:
        # Some charsets refuse everything, in a way that the framework does not know.
        raise ValidationFailed.of("file", "the form is not in the charset that it names") from e
    except ClientDisconnect as e:
        raise ValidationFailed.of("file", "the upload ended early; send it again") from e


def _file(form: FormData) -> UploadFile:
    given = form.getlist("file")
    if len(given) != 1 or not isinstance(given[0], UploadFile):
        raise ValidationFailed.of("file", "send exactly one file in the field `file`")
    return given[0]


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


def _text(form: FormData, name: str) -> str | None:
    given = form.getlist(name)
    if not given:
        return None
    if len(given) > 1 or not isinstance(given[0], str):
        raise ValidationFailed.of(name, "give it once, as text")
    return given[0]


def _choice(form: FormData, name: str, choices: type[Choice]) -> Choice | None:
    given = _text(form, name)
    if given is None:
        return None
    try:
        return choices(given)
    except ValueError:
        raise ValidationFailed.of(name, f"must be one of {', '.join(choices)}") from None


def _boolean(form: FormData, name: str) -> bool:
    given = _text(form, name)
    if given is None:
        return False
    if given not in _BOOLEANS:
        raise ValidationFailed.of(name, "must be true or false")
    return _BOOLEANS[given]


def _metadata(given: str | None) -> Mapping[str, str]:
    if given is None:
        return {}
    try:
        # Numbers keep their spelling: 1.50 stays 1.50.
        entries = json.loads(given, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValidationFailed.of("metadata", "must be a JSON object") from None
    if not isinstance(entries, dict):
        raise ValidationFailed.of("metadata", "must be a JSON object")
    if len(entries) > _MAX_METADATA_KEYS:
        raise ValidationFailed.of("metadata", f"at most {_MAX_METADATA_KEYS} keys")
    return {_metadata_key(key): _metadata_value(key, value) for key, value in entries.items()}


def _metadata_key(key: str) -> str:
    if not 1 <= len(key) <= _MAX_METADATA_KEY or _UNSTORABLE.search(key):
        raise ValidationFailed.of("metadata", f"keys have 1 to {_MAX_METADATA_KEY} characters")
    return key


def _metadata_value(key: str, value: object) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if not isinstance(value, str) or _UNSTORABLE.search(value):
        message = "must be a string, a number or a boolean"
        raise ValidationFailed.of(f"metadata.{key}", message)
    if len(value) > _MAX_METADATA_VALUE:
        message = f"has more than {_MAX_METADATA_VALUE} characters"
        raise ValidationFailed.of(f"metadata.{key}", message)
    return value


def _refuse_constant(name: str) -> str:
    raise ValueError(name)


def _webhook_url(form: FormData, policy: webhook_urls.Policy | None) -> str | None:
    if policy is None and "webhook_url" in form:
        raise InsufficientScope.lacking("scope", Scope.WRITE)
    given = _text(form, "webhook_url")
    if given is None or policy is None:
        return None
    problem = webhook_urls.problem(given, policy)
    if problem is not None:
        raise ValidationFailed.of("webhook_url", problem)
    return given


def _idempotency_key(request: Request) -> str | None:
    given = request.headers.getlist("idempotency-key")
    if not given:
        return None
    if len(given) > 1 or not _IDEMPOTENCY_KEY.fullmatch(given[0]):
        message = "must be 1 to 255 printable characters, such as a UUID"
        raise ValidationFailed.of("Idempotency-Key", message)
    return given[0]
