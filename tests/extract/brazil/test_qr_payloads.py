import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.brazil import qr_payloads
from tests.extract.brazil.strategies import nfe_keys, nfse_keys

NFCE = "41260368682157000188650010006114791550481859"
BRASILIA = dt.timezone(dt.timedelta(hours=-3))
moments = st.datetimes(dt.datetime(2010, 1, 1))  # noqa: DTZ001  (local time as printed)
cents = st.decimals(min_value=0, max_value=10**9, places=2)


@given(nfe_keys(models=("65",)), moments, cents)
def test_version_1_contains_time_with_offset_and_total(
    key: str, at: dt.datetime, total: Decimal
) -> None:
    issued_at = at.replace(microsecond=0, tzinfo=BRASILIA)
    stamp = issued_at.isoformat().encode().hex()

    payload = qr_payloads.parse(
        f"http://nfce.example/q?chNFe={key}&nVersao=100&tpAmb=1&dhEmi={stamp}&vNF={total}&vICMS=0"
    )

    assert payload is not None
    assert (key, issued_at, total) == (payload.key.text, payload.issued_at, payload.total)


@given(nfe_keys(models=("65",)), st.integers(1, 28), cents)
def test_offline_version_2_contains_day_and_total(key: str, day: int, total: Decimal) -> None:
    payload = qr_payloads.parse(f"https://x/qrcode?p={key}|2|1|{day:02}|{total}|6167|1|ABCDEF")

    assert payload is not None
    assert (day, total) == (payload.day, payload.total)


@given(nfe_keys(models=("59",)), moments, cents)
def test_a_sat_code_contains_local_time_and_total(
    key: str, at: dt.datetime, total: Decimal
) -> None:
    local = at.replace(microsecond=0)

    payload = qr_payloads.parse(f"{key}|{local:%Y%m%d%H%M%S}|{total}||p2q+Fpf/AB==")

    assert payload is not None
    assert (local, total) == (payload.issued_at, payload.total)


@given(nfse_keys())
def test_the_code_of_an_nfse_contains_its_key(key: str) -> None:
    payload = qr_payloads.parse(f"https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave={key}")

    assert payload is not None
    assert key == payload.key.text


@pytest.mark.parametrize(
    "text",
    [
        f"http://www.fazenda.pr.gov.br/nfce/qrcode?p={NFCE}|3|1",
        f"www.fazenda.pr.gov.br/nfce/qrcode?p={NFCE}%7C2%7C1%7C1%7CE12CC711",
        f"HTTP://WWW.FAZENDA.PR.GOV.BR/NFCE/QRCODE?P={NFCE}|2|1|1|AB",
        f"  https://x/?chave={NFCE}  ",
    ],
)
def test_a_key_is_found_in_any_address(text: str) -> None:
    payload = qr_payloads.parse(text)

    assert payload is not None
    assert payload.key.text == NFCE
    assert payload.total is None


def test_the_test_environment_is_detected() -> None:
    payload = qr_payloads.parse(f"https://x/q?p={NFCE}|2|2|1|AB")

    assert payload is not None
    assert payload.is_test


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00020126580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR",
        "https://example.com/loyalty?card=123456789012345678901234567890123456789012345678901",
        "7891000100103",
        "WIFI:S:loja;T:WPA;P:senha;;",
    ],
)
def test_other_codes_contain_no_key(text: str) -> None:
    assert qr_payloads.parse(text) is None


@pytest.mark.parametrize("stamp", ["zz", "3230", "", "ff" * 12])
def test_a_broken_time_is_left_out(stamp: str) -> None:
    payload = qr_payloads.parse(f"http://x/?chNFe={NFCE}&dhEmi={stamp}&vNF=1,50")

    assert payload is not None
    assert payload.issued_at is None
    assert payload.total == Decimal("1.50")


@pytest.mark.parametrize("day", ["9" * 5_000, "0x1", "\u00b2"])
def test_an_invalid_day_is_left_out(day: str) -> None:
    """Python refuses to parse numbers as long as those that fit into a QR code."""
    payload = qr_payloads.parse(f"https://x/qrcode?p={NFCE}|2|1|{day}|10.00|6167|1|ABCDEF")

    assert payload is not None
    assert payload.day is None


@pytest.mark.parametrize(("printed", "total"), [("09", None), ("299,65", Decimal("299.65"))])
def test_a_whole_number_is_not_the_total(printed: str, total: Decimal | None) -> None:
    payload = qr_payloads.parse(f"https://x/qrcode?p={NFCE}|2|1|09|{printed}|6167AB|1|ABCDEF")

    assert payload is not None
    assert payload.total == total
