"""Generated Brazilian documents match their truth in keys, codes and sums."""

import random
import re
from decimal import Decimal

import pytest

from recibo.extract.brazil import access_keys, qr_payloads, tax_ids
from training.receipts import kinds
from training.receipts.brazil import ids
from training.receipts.faces import Case
from training.receipts.truth import Document

KINDS = ("nfe", "nfce", "nfse", "sat", "ecf", "ecf report")
KEYED = ("nfe", "nfce", "sat")
SEEDS = range(12)


def drawn(kind: str, seed: int) -> Document:
    return kinds.make(f"{kind} {seed}", kind, "pt-BR", Case())


@pytest.mark.parametrize("kind", KINDS)
def test_seed_determines_the_document(kind: str) -> None:
    assert drawn(kind, 3) == drawn(kind, 3)
    assert drawn(kind, 3) != drawn(kind, 4)


@pytest.mark.parametrize("kind", KEYED)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_is_valid_and_contains_seller_number_and_month(kind: str, seed: int) -> None:
    truth = drawn(kind, seed).truth

    key = access_keys.parse(truth.document_key or "")

    assert key is not None
    assert key.is_valid
    assert truth.merchant_tax_id == key.issuer
    assert truth.document_number == key.number
    assert (truth.issued_at or "").startswith(f"{key.year}-{key.month:02d}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_the_truth_are_printed(kind: str, seed: int) -> None:
    document = drawn(kind, seed)
    printed = _bare("".join(document.print.texts()))
    truth = document.truth

    # In two columns, other texts may be between the parts of a long name.
    assert all(_bare(word) in printed for word in (truth.merchant_name or "").split())
    assert _bare(truth.merchant_tax_id or "") in printed
    assert truth.document_key is None or _bare(truth.document_key) in printed
    assert (truth.document_number or "") in printed
    for amount in (truth.total, truth.subtotal):
        assert amount is None or _bare(amount) in printed
    for item in truth.line_items:
        assert all(_bare(word) in printed for word in item.name.split())
        assert item.total is None or _bare(item.total) in printed


@pytest.mark.parametrize("kind", ["nfce", "sat", "nfse"])
@pytest.mark.parametrize("seed", SEEDS)
def test_qr_code_has_the_key_and_the_values_of_the_document(kind: str, seed: int) -> None:
    document = drawn(kind, seed)
    codes = [code.text for code in document.print.codes() if code.symbology == "QRCode"]

    for payload in map(qr_payloads.parse, codes):
        assert payload is not None
        assert document.truth.document_key == payload.key.text
        assert payload.total in (None, Decimal(document.truth.total or 0))
        if payload.issued_at is not None:
            assert (document.truth.issued_at or "").startswith(
                f"{payload.issued_at:%Y-%m-%dT%H:%M:%S}"
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_items_of_a_note_add_up_to_its_gross(seed: int) -> None:
    truth = drawn("nfce", seed).truth

    total = sum(Decimal(item.total or 0) for item in truth.line_items)
    assert not truth.line_items or total == Decimal(truth.subtotal or 0)


def test_reports_of_a_printer_are_not_coupons() -> None:
    assert all(drawn("ecf report", seed).truth.type == "receipt" for seed in SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_tax_ids_are_valid_with_letters_and_without(seed: int) -> None:
    rng = random.Random(seed)

    assert tax_ids.is_cnpj(ids.cnpj(rng))
    assert tax_ids.is_cnpj(ids.cnpj(rng, has_letters=True))
    assert tax_ids.is_cpf(ids.cpf(rng))


def _bare(text: str) -> str:
    return re.sub(r"[^0-9A-Za-zÀ-ÿ]", "", text).upper()
