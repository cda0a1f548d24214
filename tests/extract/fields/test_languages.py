import pytest

from recibo.extract.fields.currency import currencies
from recibo.extract.fields.date import moments
from recibo.extract.fields.labelled_amounts import Role, entries
from recibo.extract.fields.locale_detection import locate
from recibo.extract.fields.total import labelled, totals
from tests.extract.fields.foreign_receipts import rows_of

RECEIPTS = {
    "RUB": """
ООО "ВКУС"  г. Москва, ул. Тверская 8
ДАТА 14.05.21 19:33
Хлеб             489.50
Сыр              760.00
ИТОГ           =1249.50
НАЛИЧНЫМИ      =1300.00
СДАЧА            =50.50
НДС 20%          208.25
""",
    "UAH": """
ТОВ "МОЛОКО"  м. Київ, вул. Хрещатик 12
Дата 14.05.2021 19:33
Сир             1200,50
Хліб              49,00
СУМА            1249,50 грн
ПДВ 20%          208,25
ГОТІВКА         1300,00
РЕШТА             50,50
""",
    "EUR": """
POTRAVINY U FERA s.r.o.  Hlavná 10, Košice
Dátum 14.05.2021 19:33
Syr             1200,50
Chlieb            49,00
SPOLU           1249,50
HOTOVOSŤ        1300,00
VYDANÉ            50,50
DPH 20%          208,25
""",
    "PLN": """
DELIKATESY U JANA  ul. Długa 12, Kraków
Data 14.05.2021 19:33
SER             1200,50
CHLEB             49,00
SUMA PLN        1249,50
PTU A 20%        208,25
GOTÓWKA         1300,00
RESZTA            50,50
""",
}


@pytest.mark.parametrize("currency", RECEIPTS)
def test_an_east_asian_receipt_is_read(currency: str) -> None:
    rows = rows_of(RECEIPTS[currency])
    place, found = locate(rows), entries(rows)

    assert currencies(rows, place)[0].value == currency
    assert str(totals(found)[0].value) == "1249.50"
    assert [str(change.value) for change in labelled(found, Role.CHANGE)] == ["50.50"]
    assert [str(tax.value) for tax in labelled(found, Role.TAX)] == ["208.25"]
    assert moments(rows, place)[0].value.isoformat().startswith("2021-05-14T19:33")


def test_a_vietnamese_bill_has_whole_dong() -> None:
    rows = rows_of("QUÁN PHỞ HÀ NỘI\nNgày 02/10/2025\nTổng cộng 245.000 đ\nTiền mặt 300.000")
    currency = currencies(rows, locate(rows))[0].value

    assert (currency, str(totals(entries(rows))[0].value)) == ("VND", "245000")


def test_the_tax_within_a_japanese_sum_is_labelled() -> None:
    found = entries(rows_of("小計 ¥808\n内消費税等 ¥64\n合計 ¥872"))

    assert [str(tax.value) for tax in labelled(found, Role.TAX)] == ["64"]
