"""What a document teaches about the total."""

from decimal import Decimal

from tests.extract.typesetting import roll
from training.fields import total

PAGES = [roll("BREAD 4.50\nCHEESE 8.00\nSUBTOTAL 12.50\nTAX 1.00\nTOTAL 13.50", exact=False)]


def is_right(value: Decimal | None) -> bool:
    return value == Decimal("13.50")


def test_one_amount_is_right_and_none_where_it_is_cut_off() -> None:
    whole, cut = total.choices(PAGES, is_right)

    assert (sum(whole.right), whole.right[-1]) == (1, False)
    assert (sum(cut.right), cut.right[-1]) == (1, True)
    assert len(cut.candidates) < len(whole.candidates)
    assert cut.share < whole.share


def test_what_the_right_amount_has_alone_speaks_for_it() -> None:
    weights = total.fit(list(total.choices(PAGES, is_right)))

    assert weights["amount"]["total"] > 0 > weights["amount"]["none"]
    assert weights["sums"]["parts"] > 0
