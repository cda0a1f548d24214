"""Codes of authenticator apps."""

import base64
import datetime as dt
import io
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import zxingcpp
from PIL import Image

from recibo.lib import totp

# RFC 6238, appendix B, SHA-1; the last six of the eight digits printed there.
SECRET = base64.b32encode(b"12345678901234567890").decode()
VECTORS = {59: "287082", 1111111109: "081804", 1234567890: "005924", 20000000000: "353130"}


def _at(seconds: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


@pytest.mark.parametrize(("seconds", "code"), VECTORS.items())
def test_codes_of_the_standard_match_their_step(seconds: int, code: str) -> None:
    assert seconds // 30 == totp.matching_step(SECRET, code, _at(seconds))


@pytest.mark.parametrize(
    ("steps_late", "matches"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_code_matches_one_step_either_side(steps_late: int, matches: bool) -> None:
    seconds = 1234567890

    step = totp.matching_step(SECRET, VECTORS[seconds], _at(seconds + 30 * steps_late))

    assert (seconds // 30 if matches else None) == step


@pytest.mark.parametrize(
    "code",
    [
        "",
        "00592",
        "0005924",
        " 005924",
        "005924\n",
        "005 924",
        "٠٠٥٩٢٤",
        "\uff10\uff10\uff15\uff19\uff12\uff14",
    ],
)
def test_code_of_another_shape_matches_nothing(code: str) -> None:
    assert None is totp.matching_step(SECRET, code, _at(1234567890))


def test_secrets_are_of_160_bits_and_differ() -> None:
    secrets = {totp.new_secret() for _ in range(50)}

    assert 50 == len(secrets)
    assert {20} == {len(base64.b32decode(one)) for one in secrets}


def test_uri_names_issuer_and_account() -> None:
    uri = urlsplit(totp.provisioning_uri(SECRET, account="ana+x@people.test"))

    assert ("otpauth", "totp") == (uri.scheme, uri.netloc)
    assert "/Recibo:ana+x@people.test" == unquote(uri.path)
    assert {"secret": [SECRET], "issuer": ["Recibo"]}.items() <= parse_qs(uri.query).items()


def test_qr_code_reads_back() -> None:
    uri = totp.provisioning_uri(SECRET, account="a-rather-long-address@people.test")

    picture = Image.open(io.BytesIO(totp.qr_png(uri)))

    assert "PNG" == picture.format
    assert [uri] == [one.text for one in zxingcpp.read_barcodes(picture.convert("L"))]
