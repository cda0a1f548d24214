"""Fields of a fiscal document are merged with the candidates of the general finders."""

from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Details, DocumentType, Extracted, Header

HEADER = Header(type=Extracted(DocumentType.NFCE, 0.9, "NFC-e"))


def test_a_field_missing_in_the_fiscal_header_comes_from_the_general_finders() -> None:
    general = Candidates(merchant_names=(Extracted("PADARIA SOL", 0.8, "PADARIA SOL"),))

    merged = collect.merged(general, HEADER, Details())

    assert ["PADARIA SOL"] == [found.value for found in merged.merchant_names]


def test_a_valid_tax_id_ranks_before_one_with_wrong_check_digits() -> None:
    general = Candidates(merchant_tax_ids=(Extracted("11222333000181", 0.95, ""),))
    fiscal = Header(HEADER.type, merchant_tax_id=Extracted("76872220044", 0.3, ""))

    merged = collect.merged(general, fiscal, Details())

    assert "11222333000181" == merged.merchant_tax_ids[0].value


def test_the_number_in_the_key_ranks_before_a_printed_one() -> None:
    general = Candidates(document_numbers=(Extracted("00781286", 0.9, "Cupom: 00781286"),))
    fiscal = Header(HEADER.type, document_number=Extracted("296398", 0.95, ""))

    merged = collect.merged(general, fiscal, Details())

    assert ["296398", "00781286"] == [found.value for found in merged.document_numbers]
