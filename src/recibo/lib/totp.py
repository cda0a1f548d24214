"""Time-based one-time passwords (RFC 6238), as authenticator apps show them."""

import datetime as dt
import io
import re

import pyotp
import segno
from pyotp.totp import TOTP

ISSUER = "Recibo"
# RFC 6238, 5.2: allow for slow typing and clocks that are slightly off.
_STEPS_EITHER_SIDE = 1
# RFC 6238 counts ASCII digits; `\d` would take those of every script.
_CODE = re.compile(r"[0-9]{6}")
# Pixels a module: a phone reads it from a screen, and the PNG stays below 2 kB.
_SCALE = 6


def new_secret() -> str:
    """Return a new secret in base32: 160 random bits, as RFC 4226 asks for."""
    return pyotp.random_base32()


def provisioning_uri(secret: str, *, account: str) -> str:
    """Return the otpauth URI that an authenticator app takes a secret from."""
    return TOTP(secret).provisioning_uri(name=account, issuer_name=ISSUER)


def qr_png(text: str) -> bytes:
    """Return a QR code of a text as PNG."""
    picture = io.BytesIO()
    segno.make_qr(text).save(picture, kind="png", scale=_SCALE)
    return picture.getvalue()


def qr_rows(text: str) -> list[list[bool]]:
    """Return a QR code as rows of modules with the quiet zone; True is dark."""
    return [[bool(dark) for dark in row] for row in segno.make_qr(text).matrix_iter()]


def matching_step(secret: str, code: str, at: dt.datetime) -> int | None:
    """Return the time step of a code, now or one before or after; None if it is wrong."""
    if not _CODE.fullmatch(code):
        return None
    totp = TOTP(secret)
    step = totp.verify_and_get_timecode(code, at, valid_window=_STEPS_EITHER_SIDE)
    return None if step is False else step
