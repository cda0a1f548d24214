"""Page cursors: opaque, tamper-evident and bound to the list that they page through."""

import hashlib
import json
from collections.abc import Mapping

from itsdangerous import BadData, URLSafeSerializer


class InvalidCursorError(Exception):
    """The cursor was changed, or belongs to another list."""


def encode(position: str, *, bound_to: Mapping[str, object], key: str) -> str:
    """Return a cursor that continues after `position` of the list `bound_to` describes."""
    return _serializer(key).dumps([position, _digest(bound_to)])


def decode(cursor: str, *, bound_to: Mapping[str, object], key: str) -> str:
    """Return the position in a cursor.

    Raises:
        InvalidCursorError: it was not made by `encode` with this key for this list.
    """
    try:
        position, digest = _serializer(key).loads(cursor)
    except (BadData, ValueError, TypeError) as e:
        raise InvalidCursorError from e
    # Base64 has several encodings of the same bytes; accept only the issued one.
    is_ours = digest == _digest(bound_to) and cursor == encode(position, bound_to=bound_to, key=key)
    if not is_ours:
        raise InvalidCursorError
    return str(position)


def _serializer(key: str) -> URLSafeSerializer:
    return URLSafeSerializer(
        key, salt="recibo.cursor", signer_kwargs={"digest_method": hashlib.sha256}
    )


def _digest(bound_to: Mapping[str, object]) -> str:
    text = json.dumps(bound_to, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
