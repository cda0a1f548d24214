import pytest

from recibo.extract.fields.category import categories
from recibo.extract.model import Category


@pytest.mark.parametrize(
    ("merchant", "category"),
    [
        ("AMAN HARDWARE SDN BHD", Category.HOME),
        ("BLUE HERON GRILL", Category.RESTAURANTS),
        ("Farmácia Central", Category.HEALTH),
        ("SUPERMERCADO AURORA", Category.GROCERIES),
        ("Hotel Linde", Category.LODGING),
    ],
)
def test_the_name_decides_the_category(merchant: str, category: Category) -> None:
    assert categories(merchant, [])[0] is category


@pytest.mark.parametrize(
    ("merchant", "category"),
    [
        ("Metzgerei Huber", Category.GROCERIES),
        ("Frutería Ana", Category.GROCERIES),
        ("Eetcafé De Zwaan", Category.RESTAURANTS),
        ("Marisquería del Puerto", Category.RESTAURANTS),
        ("Estación de Servicio Norte", Category.FUEL),
        ("Parcheggio Stazione", Category.TRANSPORT),
        ("Albergo Le Torri", Category.LODGING),
        ("Tandarts Jansen", Category.HEALTH),
        ("Zapatería Luna", Category.CLOTHING),
        ("Elettronica Rossi", Category.ELECTRONICS),
        ("Quincaillerie Martin", Category.HOME),
        ("Schreibwaren Kraus", Category.OFFICE),
        ("Museo Civico", Category.ENTERTAINMENT),
        ("Auto-école du Centre", Category.EDUCATION),
        ("Acquedotto Lucano", Category.UTILITIES),
        ("Telecomunicaciones del Sur", Category.TELECOM),
        ("Peluquería Marta", Category.SERVICES),
        ("Comune di Lucera", Category.TAXES),
    ],
)
def test_trades_are_known_in_many_languages(merchant: str, category: Category) -> None:
    assert categories(merchant, [])[0] is category


@pytest.mark.parametrize("merchant", ["Schlossapotheke", "Dorfapotheke Huber", "Stadsapotheek"])
def test_a_trade_at_the_end_of_a_compound_word_counts(merchant: str) -> None:
    assert categories(merchant, [])[0] is Category.HEALTH


def test_a_legal_form_is_not_a_trade() -> None:
    assert categories("Aurora S.p.A.", []) == ()
    assert categories("Aurora Spa", [])[0] is Category.SERVICES


def test_the_name_counts_more_than_the_items() -> None:
    texts = ["BREAD 2.00", "BUTTER 3.00", "CHEESE 4.00", "MILK 5.00"]

    assert categories("BLUE HERON CAKE HOUSE", texts)[0] is Category.RESTAURANTS


def test_items_decide_the_category_if_the_name_does_not() -> None:
    texts = ["MILK 2.00", "BREAD 3.00", "EGGS 4.00", "CHEESE 5.00"]

    assert categories("AMAN SDN BHD", texts)[0] is Category.GROCERIES


def test_without_evidence_there_is_no_category() -> None:
    assert categories("AMAN SDN BHD", ["THING 2.00"]) == ()
