"""Finds the parties of a document and the day on which it is due."""

from collections.abc import Sequence
from dataclasses import dataclass

from recibo.extract.candidates import PartyCandidates
from recibo.extract.fields import address, customer, date, due_date, tax_id
from recibo.extract.fields.locale_detection import Place
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted, Moment

# Less likely names of the seller may be parts of its address.
_LIKELY_NAME = 0.3


@dataclass(frozen=True, slots=True)
class Known:
    """What other finders found, the likeliest first."""

    names: Sequence[Extracted[str]]
    #: The seller's tax numbers.
    tax_ids: Sequence[Extracted[str]]
    moments: Sequence[Extracted[Moment]]
    #: The indices of the lines that are not about the seller.
    others: frozenset[int] = frozenset()

    @property
    def sellers(self) -> list[str]:
        """The likely names of the seller."""
        return [name.value for name in self.names if name.confidence >= _LIKELY_NAME]


def find(rows: Sequence[Row], place: Place, known: Known) -> PartyCandidates:
    """Return the candidates of each field."""
    seller = known.tax_ids[0].value if known.tax_ids else None
    numbers = tax_id.candidates(rows, place.country)
    issued = known.moments[0].value.date if known.moments else None
    own = [row for row in rows if row.index not in known.others]
    return PartyCandidates(
        merchant_addresses=address.addresses(own, known.sellers),
        customer_names=customer.names(rows, known.sellers),
        customer_tax_ids=customer.tax_ids(numbers, rows, seller),
        due_dates=due_date.due_dates(rows, date.orders(rows, place), issued),
    )
