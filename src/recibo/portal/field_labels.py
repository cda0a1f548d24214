"""The labels of the fields of a receipt, for pages and for messages about fields."""

from collections.abc import Mapping

from recibo.portal.translations import LazyText, lazy_gettext, lazy_pgettext

#: By the names of the fields.
FIELDS: Mapping[str, LazyText] = {
    "merchant_name": lazy_gettext("Merchant"),
    "merchant_tax_id": lazy_gettext("Merchant tax ID"),
    "issued_at": lazy_gettext("Issued"),
    "total": lazy_gettext("Total"),
    "subtotal": lazy_gettext("Subtotal"),
    "tax": lazy_gettext("Tax"),
    "currency": lazy_gettext("Currency"),
    "document_number": lazy_gettext("Number"),
    "document_key": lazy_gettext("Access key"),
    "type": lazy_gettext("Type"),
    "category": lazy_gettext("Category"),
    "line_items": lazy_gettext("Line items"),
    "confidence": lazy_gettext("Confidence"),
    "merchant_address": lazy_gettext("Merchant address"),
    "customer_name": lazy_gettext("Customer"),
    "customer_tax_id": lazy_gettext("Customer tax ID"),
    "due_date": lazy_gettext("Due date"),
    "discount": lazy_gettext("Discount"),
    "tip": lazy_gettext("Tip"),
    "service_charge": lazy_gettext("Service charge"),
    "rounding": lazy_gettext("Rounding"),
    "taxes": lazy_gettext("Taxes by rate"),
    "payments": lazy_gettext("Payments"),
}
#: Of the inputs in tables: by the prefix of their names, and the column.
CELLS: Mapping[str, Mapping[str, LazyText]] = {
    "item": {
        "name": lazy_gettext("Description"),
        "qty": lazy_gettext("Quantity"),
        "unit_price": lazy_gettext("Unit price"),
        "total": lazy_gettext("Item total"),
        "code": lazy_pgettext("line item", "Code"),
        "unit": lazy_gettext("Unit"),
        "tax_rate": lazy_gettext("Tax rate in percent"),
        "discount": lazy_gettext("Item discount"),
    },
    "tax": {
        "name": lazy_gettext("Name of the tax"),
        "rate": lazy_gettext("Rate in percent"),
        "base": lazy_gettext("Taxed amount"),
        "amount": lazy_gettext("Amount of tax"),
    },
    "payment": {
        "method": lazy_gettext("Payment method"),
        "amount": lazy_gettext("Amount paid"),
        "tendered": lazy_gettext("Cash given"),
        "last4": lazy_gettext("Last digits of the card"),
    },
}


def of(name: str) -> LazyText:
    """Return the label of an input by its name, such as `total` or `item-0-qty`."""
    prefix, _, rest = name.partition("-")
    column = rest.partition("-")[2]
    return CELLS[prefix][column] if column else FIELDS[name]
