"""The multipart form of an upload, checked field by field."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from recibo.errors import InsufficientScope, ValidationFailed
from recibo.extract.document import limits
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import webhook_urls
from recibo.schemas import metadata
from recibo.schemas.states import Scope
from recibo.services.reading.extraction import Upload
from recibo.web import uploads

Choice = TypeVar("Choice", bound=StrEnum)


# Printable ASCII.
_IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")
_BOOLEANS = {"true": True, "false": False}


@asynccontextmanager
async def received(
    request: Request, spool: Path, webhooks: webhook_urls.Policy | None
) -> AsyncIterator[Upload]:
    """Yield the upload of a request; its file is deleted after the block.

    Without a policy for webhooks, the caller may not set a `webhook_url`.

    Raises:
        InsufficientScope: the caller set one.
        ValidationFailed, FileTooLarge, UnsupportedFormat: checked in this order.
    """
    key = _idempotency_key(request)
    async with uploads.received(request, max_bytes=limits.MAX_BYTES) as form:
        options = _Options(form, webhooks)
        async with uploads.copied(_file(form), spool) as file:
            yield Upload(
                path=file.path,
                sha256=file.sha256,
                size=file.size,
                media_type=file.media_type,
                accuracy=options.accuracy,
                hint=options.hint,
                metadata=options.metadata,
                webhook_url=options.webhook_url,
                idempotency_key=key,
                reread=options.reread,
            )


class _Options:
    """The fields other than the file, validated."""

    def __init__(self, form: FormData, webhooks: webhook_urls.Policy | None) -> None:
        # First: permissions are checked before values.
        self.webhook_url = _webhook_url(form, webhooks)
        self.accuracy = _choice(form, "accuracy", Accuracy) or Accuracy.STANDARD
        self.hint = _choice(form, "type", DocumentType)
        self.metadata = _metadata(_text(form, "metadata"))
        self.reread = _boolean(form, "reread")


def _file(form: FormData) -> UploadFile:
    given = form.getlist("file")
    if len(given) != 1 or not isinstance(given[0], UploadFile):
        raise ValidationFailed.of("file", "send exactly one file in the field `file`")
    return given[0]


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
        # Numbers stay as written: 1.50 stays 1.50.
        entries = json.loads(given, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValidationFailed.of("metadata", "must be a JSON object") from None
    if not isinstance(entries, dict):
        raise ValidationFailed.of("metadata", "must be a JSON object")
    if len(entries) > metadata.MAX_KEYS:
        raise ValidationFailed.of("metadata", f"at most {metadata.MAX_KEYS} keys")
    return {_metadata_key(key): _metadata_value(key, value) for key, value in entries.items()}


def _metadata_key(key: str) -> str:
    if metadata.UNSTORABLE.search(key):
        raise ValidationFailed.of("metadata", metadata.NO_TEXT)
    if not 1 <= len(key) <= metadata.MAX_KEY:
        raise ValidationFailed.of("metadata", f"keys have 1 to {metadata.MAX_KEY} characters")
    return key


def _metadata_value(key: str, value: object) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if not isinstance(value, str):
        message = "must be a string, a number or a boolean"
        raise ValidationFailed.of(f"metadata.{key}", message)
    if metadata.UNSTORABLE.search(value):
        raise ValidationFailed.of(f"metadata.{key}", metadata.NO_TEXT)
    if len(value) > metadata.MAX_VALUE:
        message = f"has more than {metadata.MAX_VALUE} characters"
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
