"""Uploads in the portal: several files in one form, each accepted or refused separately."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated

from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, BeforeValidator
from starlette.datastructures import FormData, UploadFile

from recibo.errors import FileTooLarge, RateLimitExceeded, ServiceError, ValidationFailed
from recibo.extract.document import limits
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import file_names
from recibo.portal import error_messages, forms, pages
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import gettext_noop
from recibo.schemas.receipts import FILENAME
from recibo.services.reading.extraction import Submitted, Upload
from recibo.web import uploads

# Ten of the largest files, or fifty photos.
_MAX_BYTES = 10 * limits.MAX_BYTES


class Options(BaseModel):
    """The reading options for all files of a form."""

    accuracy: Accuracy = Accuracy.STANDARD
    # Forms send an empty choice, too.
    type: Annotated[DocumentType | None, BeforeValidator(lambda given: given or None)] = None


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The result of one file."""

    filename: str
    submitted: Submitted | None = None
    error: ServiceError | None = None

    @property
    def refusal(self) -> str:
        """The reason why it was refused; empty if it was accepted."""
        if self.error is None:
            return ""
        return error_messages.sentence(self.error)


@dataclass(frozen=True, slots=True)
class UploadResults:
    """A submitted form: its values and the results of its files."""

    values: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[UploadResult] = ()
    #: An error of the form itself; then no file was processed.
    error: ServiceError | None = None

    @property
    def refused(self) -> list[UploadResult]:
        """The refused files."""
        return [one for one in self.files if one.error is not None]

    @property
    def receipts(self) -> list[Submitted]:
        """The receipts of the accepted files."""
        return [one.submitted for one in self.files if one.submitted is not None]


def as_json(sent: UploadResults) -> Response:
    """Return the results for the script of the page, which sends one file at a time."""
    errors = [error for error in (sent.error, *(one.error for one in sent.files)) if error]
    body = {
        "error": error_messages.sentence(sent.error) if sent.error else "",
        "files": [
            {
                "filename": one.filename,
                "receipt_id": one.submitted.receipt_id if one.submitted else None,
                "is_known": one.submitted is not None and one.submitted.is_replay,
                "error": one.refusal,
            }
            for one in sent.files
        ],
    }
    answer = JSONResponse(body, errors[0].status if errors else HTTPStatus.OK)
    if errors:
        pages.set_error_headers(answer, errors[0])
    return answer


async def sent(caller: RequestContext) -> UploadResults:
    """Accept the files of a form, one after the other."""
    try:
        async with (
            caller.services.extraction.arrivals.arriving(caller.member),
            uploads.received(caller.request, max_bytes=_MAX_BYTES) as form,
        ):
            values = {name: value for name, value in form.items() if isinstance(value, str)}
            return await _taken(caller, form, values)
    except FileTooLarge:
        message = gettext_noop("The files are larger than 150 MB together; send fewer at once.")
        return UploadResults(error=FileTooLarge(message))
    except RateLimitExceeded as e:
        return UploadResults(error=e)
    except ValidationFailed:
        # Users cannot correct the encoding of a form; browsers send it correctly.
        message = gettext_noop(
            "The upload did not arrive completely. Choose the files and send them again."
        )
        return UploadResults(error=ValidationFailed(message))


async def _taken(
    caller: RequestContext, form: FormData, values: Mapping[str, str]
) -> UploadResults:
    try:
        options, files = forms.checked(Options, values), _files(form)
    except ValidationFailed as e:
        return UploadResults(values, error=e)
    return UploadResults(values, [await _one(caller, file, options) for file in files])


def _files(form: FormData) -> list[UploadFile]:
    """Return the chosen files; if there are none, browsers send an empty part."""
    files = [one for one in form.getlist("file") if isinstance(one, UploadFile)]
    chosen = [one for one in files if one.filename or one.size]
    if not chosen:
        raise ValidationFailed.of("file", gettext_noop("Choose at least one file."))
    return chosen


async def _one(caller: RequestContext, file: UploadFile, options: Options) -> UploadResult:
    services, name = caller.services, file_names.bare(file.filename or "")
    try:
        async with uploads.copied(file, services.spool) as copy:
            upload = Upload(
                path=copy.path,
                sha256=copy.sha256,
                size=copy.size,
                media_type=copy.media_type,
                accuracy=options.accuracy,
                hint=options.type,
                metadata={FILENAME: name} if name else {},
            )
            async with services.extraction.submitted(caller.member, upload) as submitted:
                return UploadResult(name, submitted)
    except ServiceError as e:
        # An error of one file does not affect the others.
        return UploadResult(name, error=e)
