from hypothesis import given, settings
from hypothesis import strategies as st

from recibo.extract.brazil import fiscal
from recibo.extract.fields.items import line_items
from recibo.extract.model import Box, Code, Line, TextPage, Word

# Texts that are printed on documents, in any order and place, and some that are not.
FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            "VALOR TOTAL DA NOTA",
            "CNPJ:", "11.222.333/0001-81", "DANFE", "NFS-e", "PRESTADOR",
            "CUPOM FISCAL", "COO:023456", "TOTAL R$", "12,50", "1.234,56", "2 UN X 3,50", "QTY",
            "DESCRIPTION", "AMOUNT", "PRICE", "12/03/2024 10:11:12", "DISCRIMINACAO DOS SERVICOS",
            "Item", "-3.00", "0,183 KG x 29,90 (1,70) 5,47", "RECEBEMOS DE", "OS PRODUTOS", "%",
            "35180834128745000152550010000474281920007498", "@", "x", "-", "SUBTOTAL",
            "Final Price",
        ]
    ),
    st.text(max_size=12),
)  # fmt: skip
PLACES = st.floats(0, 2000)


@st.composite
def words(draw: st.DrawFn) -> Word:
    x0, y0 = draw(PLACES), draw(PLACES)
    box = Box(x0, y0, x0 + draw(st.floats(0, 400)), y0 + draw(st.floats(0, 60)))
    return Word(draw(FRAGMENTS), box, draw(st.floats(0, 1)))


@st.composite
def lines(draw: st.DrawFn) -> Line:
    held = draw(st.lists(words(), min_size=1, max_size=6))
    box = held[0].box
    for word in held:
        box = box.union(word.box)
    return Line(tuple(held), box)


@st.composite
def text_pages(draw: st.DrawFn) -> TextPage:
    codes = [
        Code("QRCode", text, Box(0, 0, 9, 9)) for text in draw(st.lists(FRAGMENTS, max_size=2))
    ]
    return TextPage(1, 2000, 2000, tuple(draw(st.lists(lines(), max_size=12))), tuple(codes))


@given(st.lists(text_pages(), max_size=2))
@settings(max_examples=80, deadline=None)
def test_any_page_is_read_without_an_error(held: list[TextPage]) -> None:
    record = fiscal.read(held)
    listed = line_items.find(held, fiscal.identify(held))

    assert record is None or (record.currency and record.currency.value == "BRL")
    assert all(item.value.name.strip() for item in listed)
