"""Validates the answers of reader processes, because a malicious document may control one."""

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from recibo.adapters.reader_process.failures import Failure
from recibo.adapters.reader_process.page_image import PageImage
from recibo.extract.document.formats import EXTENSIONS, Kind
from recibo.extract.document.limits import MAX_PAGES
from recibo.extract.model import LineItem, Payment, Receipt, TaxLine
from recibo.schemas import receipts

T = TypeVar("T")

#: Messages are for clients, details for the log.
_MAX_MESSAGE, _MAX_DETAIL = 500, 20_000

#: No real amount has more digits. A short text such as `1e999999999` would fill the memory when it
#: is printed without its exponent.
_MAX_EXPONENT = 100
_HASH = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    result: T | None = None
    failure: Failure | None = None


def receipt(content: bytes) -> Receipt | Failure:
    """Return the receipt of an answer.

    Raises:
        ValueError: the answer is not valid.
    """
    return _checked(_receipts().validate_json(content, strict=True, extra="forbid"), _check)


def kind(content: bytes) -> Kind | Failure:
    """Return the file type of an answer.

    Raises:
        ValueError: the answer is not valid.
    """
    return _checked(_kinds().validate_json(content, strict=True, extra="forbid"), _check_kind)


def page_image(content: bytes) -> PageImage | Failure:
    """Return the picture of an answer.

    Raises:
        ValueError: the answer is not valid.
    """
    return _checked(
        _page_images().validate_json(content, strict=True, extra="forbid"), _check_image
    )


def nothing(content: bytes) -> Failure | None:
    """Return the failure of the library that a process loaded, if any.

    Raises:
        ValueError: the answer is not valid.
    """
    return _pings().validate_json(content, strict=True, extra="forbid").failure


def prepare() -> None:
    """Build the validators, which takes some tenths of a second, before the first answer."""
    for build in (_receipts, _kinds, _page_images, _pings):
        build()


@cache
def _receipts() -> TypeAdapter[_Answer[Receipt]]:
    return TypeAdapter(_Answer[Receipt])


@cache
def _kinds() -> TypeAdapter[_Answer[Kind]]:
    return TypeAdapter(_Answer[Kind])


@cache
def _page_images() -> TypeAdapter[_Answer[PageImage]]:
    return TypeAdapter(_Answer[PageImage])


@cache
def _pings() -> TypeAdapter[_Answer[None]]:
    return TypeAdapter(_Answer[None])


def _checked(answer: _Answer[T], check: Callable[[T], None]) -> T | Failure:
    match answer.result, answer.failure:
        case None, Failure() as failure:
            if len(failure.message) > _MAX_MESSAGE or len(failure.detail) > _MAX_DETAIL:
                raise ValueError("the failure's texts are too long")
            return failure
        case result, None if result is not None:
            check(result)
            return result
        case _:
            raise ValueError("an answer is either a result or a failure")


def _check(read: Receipt) -> None:
    """Refuse values of the right type that cannot be served: huge exponents, infinite boxes."""
    for amount in _amounts(read):
        if abs(amount.adjusted()) > _MAX_EXPONENT or len(amount.as_tuple().digits) > _MAX_EXPONENT:
            raise ValueError("an amount has too many digits")
    if read.picture_hash is not None and not _HASH.fullmatch(read.picture_hash):
        raise ValueError("a picture's hash has 16 hex digits")
    if len(read.pages) > MAX_PAGES:
        raise ValueError("there are too many pages")
    try:
        receipts.reading(read)
        receipts.evidence(read)
    except ArithmeticError as e:
        raise ValueError(f"a value cannot be served: {e}") from None


def _amounts(read: Receipt) -> Iterator[Decimal]:
    details = read.details
    of_details = (details.discount, details.tip, details.service_charge, details.rounding)
    for found in (read.total, read.subtotal, read.tax, *of_details):
        if found:
            yield found.value
            yield from (other.value for other in found.alternatives)
    entries: list[LineItem | TaxLine | Payment] = [
        *(item.value for item in read.line_items),
        *(tax.value for tax in details.taxes),
        *(payment.value for payment in details.payments),
    ]
    for entry in entries:
        values = (getattr(entry, one.name) for one in fields(entry))
        yield from (value for value in values if isinstance(value, Decimal))


def _check_image(drawn: PageImage) -> None:
    if drawn.content is None:
        return
    content = base64.b64decode(drawn.content, validate=True)
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        raise ValueError("a page is drawn as WebP")


def _check_kind(seen: Kind) -> None:
    if EXTENSIONS.get(seen.mime) != seen.extension or not 0 <= seen.page_count <= MAX_PAGES:
        raise ValueError("no such kind of file is read")
