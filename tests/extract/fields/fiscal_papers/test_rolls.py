"""What rolls say in more than one row."""

import datetime as dt
from decimal import Decimal

import pytest

from recibo.extract.fields import fiscal
from tests.extract.fields import papers
from tests.extract.typesetting import roll


@pytest.mark.parametrize(
    ("said", "taxes"),
    [
        ("Informação dos Tributos Totais\nIncidentes (Lei Federal\n12.741/2012) R$ 41,04", "41.04"),
        ("Valor aproximado dos tributos R$\n41,04 Federal R$ 16,42 Estadual\nR$ 24,62", "41.04"),
        ("Valor aproximado de tributos R$: 16,42 Federal e\n24,62 Estadual. Fonte: IBPT", "41.04"),
        (
            "Tributos incidentes Lei Federal 12.741/2012\nFederal 16,42\nEstadual 24,62\nTroco 7",
            "41.04",
        ),
        ("Valor aproximado de tributos R$ 41,04 (13,45%) Fonte: IBPT\nPIX 7,00", "41.04"),
        ("Valor aproximado dos tributos\nPIX R$ 7,00", None),
    ],
)
def test_taxes_are_told_over_several_rows_and_in_parts(said: str, taxes: str | None) -> None:
    text = _without_taxes() + said

    assert _taxes(text) == (Decimal(taxes) if taxes else None)


@pytest.mark.parametrize(
    "said",
    [
        "NFC-e n. 123456 Série 3 15/03/2024\n18:22:10 - Via Consumidor",
        "EMISSÃO: 15/03/2024 18:22:10\nNFC-e No 000123456 SÉRIE 003",
    ],
)
def test_the_time_of_issue_is_not_that_of_the_authorisation_below(said: str) -> None:
    issued = next(row for row in papers.NFCE.splitlines() if row.startswith("NFC-e no"))
    text = papers.NFCE.replace(issued, said).replace(
        "131240000000000\nData de autorizacao ", "131240000000000 "
    )

    header = fiscal.read([roll(text)])

    assert header is not None
    assert header.issued_at is not None
    assert dt.time(18, 22, 10) == header.issued_at.value.time


def _taxes(text: str) -> Decimal | None:
    header = fiscal.read([roll(text)])
    assert header is not None
    return header.tax.value if header.tax else None


def _without_taxes() -> str:
    """Return a note of a shop up to where its taxes are told."""
    return papers.NFCE[: papers.NFCE.index("Tributos")]
