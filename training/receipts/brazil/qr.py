"""The contents of the codes on fiscal documents.

Sources: the manual of the NFC-e's QR code (versions 1 to 3), NT 2025.001, the SAT's specification,
NT 008/2026 of the national NFS-e.
"""

import base64
import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil.sellers import Place, table

#: The bytes of an RSA signature of 2048 bits.
_SIGNATURE_BYTES = 256
_SHA1_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Consumer:
    """The contents of an NFC-e's QR code after the key."""

    key: str
    at: dt.datetime
    offset: str
    total: Decimal
    is_test: bool = False
    is_offline: bool = False


def consumer_note(rng: random.Random, where: Place, said: Consumer, *, version: int) -> str:
    """Return the URL in the QR code of an NFC-e, of version 1, 2 or 3."""
    base = str(table("places")[where.state]["qr"])
    makers = {1: _first, 2: _second, 3: _third}
    return f"{base}?{makers[version](rng, said)}"


def _first(rng: random.Random, said: Consumer) -> str:
    """Return named parameters, with the time as hexadecimal of its text."""
    at = f"{said.at:%Y-%m-%dT%H:%M:%S}{said.offset}".encode().hex()
    return (
        f"chNFe={said.key}&nVersao=100&tpAmb={_environment(said)}&dhEmi={at}"
        f"&vNF={said.total:.2f}&vICMS=0.00&digVal={_hexadecimal(rng, 56)}"
        f"&cIdToken=000001&cHashQRCode={_hexadecimal(rng)}"
    )


def _second(rng: random.Random, said: Consumer) -> str:
    fields = [said.key, "2", _environment(said)]
    if said.is_offline:
        fields += [f"{said.at:%d}", f"{said.total:.2f}", _hexadecimal(rng, 56)]
    separator = rng.choice(("|", "|", "%7C"))
    return "p=" + separator.join([*fields, "1", _hexadecimal(rng).upper()])


def _third(rng: random.Random, said: Consumer) -> str:
    fields = [said.key, "3", _environment(said)]
    if said.is_offline:
        fields += [f"{said.at:%d}", f"{said.total:.2f}", "", "", _signature(rng)]
    return "p=" + "|".join(fields)


def coupon(rng: random.Random, key: str, at: dt.datetime, total: Decimal, consumer: str) -> str:
    """Return the content of the QR code of a CF-e: not a URL, with a signature at the end."""
    return f"{key}|{at:%Y%m%d%H%M%S}|{total:.2f}|{consumer}|{_signature(rng)}"


def service_note(key: str) -> str:
    """Return the URL in the QR code of a national NFS-e."""
    return f"https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave={key}"


def _environment(said: Consumer) -> str:
    return "2" if said.is_test else "1"


def _hexadecimal(rng: random.Random, digits: int = _SHA1_DIGITS) -> str:
    return f"{rng.getrandbits(4 * digits):0{digits}x}"


def _signature(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(_SIGNATURE_BYTES)).decode("ascii")
