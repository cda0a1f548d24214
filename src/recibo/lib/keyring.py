"""Cryptography with the installation's secret: signed tokens, encryption, keyed fingerprints.

Each use has a separate key, derived by HKDF (RFC 5869). The newest secret signs and encrypts. Older
ones still verify and decrypt, so that changing the secret signs no user out.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import jwt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_ISSUER = "recibo"
_ALGORITHM = "HS256"
# The caller checks the times, with a clock that tests can move.
_JWT_OPTIONS: Any = {
    "require": ["iss", "aud", "sub", "exp", "iat", "jti"],
    "verify_exp": False,
    "verify_iat": False,
}
# At 2 kB each, 2 MB.
_KEPT_TOKENS = 1024
_ID_BYTES = 4
_LEGACY_ID_LENGTH = 8
# NIST SP 800-38D, 8.2.1: 96 bits.
_NONCE_BYTES = 12


class BadTokenError(Exception):
    """The token was not made by this installation, or was made for another use."""


@dataclass(frozen=True, slots=True)
class _Keys:
    """The keys derived from one secret."""

    #: Identifies the secret in its tokens; reveals nothing about a key.
    id: str
    #: The id that 0.1.0 used, a hash of the signing key; its tokens stay valid.
    legacy_id: str
    signing: bytes
    sealing: AESGCM
    fingerprinting: bytes


class Keyring:
    """Signs, encrypts and fingerprints; thread-safe."""

    def __init__(self, secret: str, *, previous: Sequence[str] = ()) -> None:
        self._newest = _keys(secret)
        # A secret that is given twice counts as the newest.
        secrets = dict.fromkeys((secret, *previous))
        self._all = [_keys(one) for one in reversed(secrets)]
        self._by_id = {id_: one for one in self._all for id_ in (one.legacy_id, one.id)}
        # Clients send one token many times, and verifying it is a tenth of the cost of a request.
        # Only what cannot change is cached: a keyring's secrets are constant, and callers check
        # the expiry, the epoch and the session each time. Forged tokens are not cached.
        self._verified = lru_cache(_KEPT_TOKENS)(self._verify)

    def sign(self, claims: Mapping[str, Any], *, audience: str) -> str:
        """Return a JWT (RFC 7519) of these claims, for one use only: the audience."""
        return jwt.encode(
            {**claims, "iss": _ISSUER, "aud": audience},
            self._newest.signing,
            algorithm=_ALGORITHM,
            headers={"kid": self._newest.id},
        )

    def claims(self, token: str, *, audience: str) -> Mapping[str, Any]:
        """Return the claims of a JWT that `sign` made for this audience; `exp` is not checked.

        Raises:
            BadTokenError: the token is anything else.
        """
        return self._verified(token, audience)

    def _verify(self, token: str, audience: str) -> Mapping[str, Any]:
        try:
            try:
                return _decoded(token, self._newest, audience)
            except jwt.InvalidSignatureError:
                # Most tokens have the newest secret, and reading the `kid` first would cost as much
                # as decoding.
                return _decoded(
                    token, self._by_id[jwt.get_unverified_header(token)["kid"]], audience
                )
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError) as e:
            raise BadTokenError from e

    def seal(self, text: str, *, bound_to: str) -> str:
        """Encrypt a text by AES-GCM; decryption needs the same `bound_to`."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._newest.sealing.encrypt(nonce, text.encode(), bound_to.encode())
        return f"{self._newest.id}.{base64.b64encode(nonce + sealed).decode()}"

    def unseal(self, sealed: str, *, bound_to: str) -> str:
        """Decrypt a sealed text.

        Raises:
            BadTokenError: it was changed, is bound to something else, or its secret is unknown.
        """
        key_id, _, text = sealed.partition(".")
        try:
            data = base64.b64decode(text, validate=True)
            sealing = self._by_id[key_id].sealing
            decrypted = sealing.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], bound_to.encode())
            return decrypted.decode()
        except (InvalidTag, KeyError, ValueError) as e:
            raise BadTokenError from e

    def fingerprint(self, text: str, *, bound_to: str) -> str:
        """Return the HMAC-SHA256 under which a short secret is stored."""
        return _fingerprint(self._newest, text, bound_to)

    def fingerprints(self, text: str, *, bound_to: str) -> list[str]:
        """Return the fingerprints with all secrets, as older ones may be stored."""
        return [_fingerprint(one, text, bound_to) for one in self._all]


def _decoded(token: str, keys: _Keys, audience: str) -> Mapping[str, Any]:
    decoded = jwt.decode_complete(
        token,
        keys.signing,
        algorithms=[_ALGORITHM],
        audience=audience,
        issuer=_ISSUER,
        options=_JWT_OPTIONS,
    )
    if decoded["header"].get("kid") not in (keys.id, keys.legacy_id):
        raise BadTokenError
    return MappingProxyType(decoded["payload"])


def _keys(secret: str) -> _Keys:
    signing = _derived(secret, "sign")
    return _Keys(
        id=_derived(secret, "key id")[:_ID_BYTES].hex(),
        legacy_id=hashlib.sha256(signing).hexdigest()[:_LEGACY_ID_LENGTH],
        signing=signing,
        sealing=AESGCM(_derived(secret, "seal")),
        fingerprinting=_derived(secret, "fingerprint"),
    )


def _derived(secret: str, use: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=f"recibo {use}".encode()).derive(secret.encode())


def _fingerprint(keys: _Keys, text: str, bound_to: str) -> str:
    message = f"{bound_to}\0{text}".encode()
    return hmac.new(keys.fingerprinting, message, hashlib.sha256).hexdigest()
