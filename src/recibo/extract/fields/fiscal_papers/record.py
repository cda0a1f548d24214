"""What a Brazilian fiscal paper says of itself."""

from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.model import DocumentType, Found, Moment


@dataclass(frozen=True, slots=True)
class Fiscal:
    """The header fields of a fiscal document; None where the paper does not tell."""

    type: Found[DocumentType]
    currency: Found[str]
    merchant_name: Found[str] | None = None
    #: Letters and digits of a CNPJ or CPF.
    merchant_tax_id: Found[str] | None = None
    issued_at: Found[Moment] | None = None
    total: Found[Decimal] | None = None
    subtotal: Found[Decimal] | None = None
    tax: Found[Decimal] | None = None
    #: Without separators and leading zeros.
    document_number: Found[str] | None = None
    #: 44 or 50 letters and digits.
    document_key: Found[str] | None = None
