"""The samples of a document for the total."""

from decimal import Decimal

from tests.extract.typesetting import text_page
from training.fields import total

PAGES = [text_page("BREAD 4.50\nCHEESE 8.00\nSUBTOTAL 12.50\nTAX 1.00\nTOTAL 13.50", exact=False)]


def is_right(value: Decimal | None) -> bool:
    return value == Decimal("13.50")


def test_one_amount_is_right_but_none_if_the_total_is_cut_off() -> None:
    whole, cut = total.choices(PAGES, is_right)

    assert (sum(whole.right), whole.right[-1]) == (1, False)
    assert (sum(cut.right), cut.right[-1]) == (1, True)
    assert len(cut.candidates) < len(whole.candidates)
    assert cut.share < whole.share


def test_a_feature_of_only_the_right_amount_gets_a_positive_weight() -> None:
    weights = total.fit(list(total.choices(PAGES, is_right)))

    assert weights["amount"]["total"] > 0 > weights["amount"]["none"]
    assert weights["sums"]["parts"] > 0
