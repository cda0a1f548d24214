"""Creates secrets, checks their form and hashes them.

A secret is a prefix, 32 random base62 characters (190 bits) and a checksum of 6, so that a mistyped
or truncated key is detected without a database query, and scanners can recognize leaked keys.
"""

import hashlib
import secrets
import string
import zlib

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM_LENGTH = 32
_CHECKSUM_LENGTH = 6


def new_secret(prefix: str) -> str:
    """Return a new secret that starts with `prefix`."""
    body = prefix + new_link_token()
    return body + _checksum(body)


def new_link_token() -> str:
    """Return a new token for a link in a mail: the random characters alone."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_RANDOM_LENGTH))


def is_well_formed(secret: str) -> bool:
    """Return whether the checksum is right, compared in constant time."""
    body, checksum = secret[:-_CHECKSUM_LENGTH], secret[-_CHECKSUM_LENGTH:]
    return secrets.compare_digest(_checksum(body).encode(), checksum.encode())


def fingerprint(secret: str) -> str:
    """Return the SHA-256 under which a secret is stored; enough for 190 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _checksum(body: str) -> str:
    value = zlib.crc32(body.encode())
    digits = ""
    while len(digits) < _CHECKSUM_LENGTH:
        value, digit = divmod(value, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
