"""What a fiscal document's reader says, ranked among what the general finders say."""

from recibo.extract.fields import fiscal_candidates
from recibo.extract.model import Candidates, DocumentType, Extracted, Header

HEADER = Header(type=Extracted(DocumentType.NFCE, 0.9, "NFC-e"))


def test_a_field_that_the_fiscal_reader_misses_is_the_general_finders() -> None:
    general = Candidates(merchant_names=(Extracted("PADARIA SOL", 0.8, "PADARIA SOL"),))

    merged = fiscal_candidates.merged(general, HEADER)

    assert ["PADARIA SOL"] == [found.value for found in merged.merchant_names]


def test_a_sound_tax_id_goes_before_one_without_check_digits() -> None:
    general = Candidates(merchant_tax_ids=(Extracted("11222333000181", 0.95, ""),))
    fiscal = Header(HEADER.type, merchant_tax_id=Extracted("76872220044", 0.3, ""))

    merged = fiscal_candidates.merged(general, fiscal)

    assert "11222333000181" == merged.merchant_tax_ids[0].value


def test_what_the_key_says_goes_before_what_looks_like_a_number() -> None:
    general = Candidates(document_numbers=(Extracted("00781286", 0.9, "Cupom: 00781286"),))
    fiscal = Header(HEADER.type, document_number=Extracted("296398", 0.95, ""))

    merged = fiscal_candidates.merged(general, fiscal)

    assert ["296398", "00781286"] == [found.value for found in merged.document_numbers]
