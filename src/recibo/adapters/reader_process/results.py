"""Validates the answers of reader processes, because a malicious document may control one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from recibo.adapters.reader_process.failures import Failure
from recibo.extract.document.formats import EXTENSIONS, Kind
from recibo.extract.document.limits import MAX_PAGES
from recibo.extract.model import Receipt
from recibo.schemas import receipts

T = TypeVar("T")

#: Messages are for clients, details for the log.
_MAX_MESSAGE, _MAX_DETAIL = 500, 20_000

#: No real amount has more digits. A short text such as `1e999999999` would fill the memory when it
#: is printed without its exponent.
_MAX_EXPONENT = 100


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


def nothing(content: bytes) -> Failure | None:
    """Return the failure of the library that a process loaded, if any.

    Raises:
        ValueError: the answer is not valid.
    """
    return _pings().validate_json(content, strict=True, extra="forbid").failure


def prepare() -> None:
    """Build the validators, which takes some tenths of a second, before the first answer."""
    for build in (_receipts, _kinds, _pings):
        build()


@cache
def _receipts() -> TypeAdapter[_Answer[Receipt]]:
    return TypeAdapter(_Answer[Receipt])


@cache
def _kinds() -> TypeAdapter[_Answer[Kind]]:
    return TypeAdapter(_Answer[Kind])


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
    try:
        receipts.reading(read)
        receipts.evidence(read)
    except ArithmeticError as e:
        raise ValueError(f"a value cannot be served: {e}") from None


def _amounts(read: Receipt) -> Iterator[Decimal]:
    for found in (read.total, read.subtotal, read.tax):
        if found:
            yield found.value
    for item in read.line_items:
        for amount in (item.value.qty, item.value.unit_price, item.value.total):
            if amount is not None:
                yield amount


def _check_kind(seen: Kind) -> None:
    if EXTENSIONS.get(seen.mime) != seen.extension or not 0 <= seen.page_count <= MAX_PAGES:
        raise ValueError("no such kind of file is read")
