"""The names of roles, plans, categories, ways to pay and accuracies on pages."""

from collections.abc import Mapping

from recibo.extract.model import Accuracy, Category, DocumentType, PaymentMethod
from recibo.portal.translations import LazyText, gettext, lazy_gettext, lazy_pgettext
from recibo.schemas.plans import PlanName
from recibo.schemas.states import Role

_ROLES: Mapping[str, LazyText] = {
    Role.OWNER: lazy_pgettext("role", "Owner"),
    Role.ADMIN: lazy_pgettext("role", "Admin"),
    Role.DEVELOPER: lazy_pgettext("role", "Developer"),
    Role.VIEWER: lazy_pgettext("role", "Viewer"),
    Role.BILLING: lazy_pgettext("role", "Billing"),
}
# The other plans have names, not words.
_PLANS: Mapping[str, LazyText] = {PlanName.FREE: lazy_pgettext("plan", "Free")}
_CATEGORIES: Mapping[str, LazyText] = {
    Category.GROCERIES: lazy_pgettext("category", "Groceries"),
    Category.RESTAURANTS: lazy_pgettext("category", "Restaurants"),
    Category.FUEL: lazy_pgettext("category", "Fuel"),
    Category.TRANSPORT: lazy_pgettext("category", "Transport"),
    Category.LODGING: lazy_pgettext("category", "Lodging"),
    Category.HEALTH: lazy_pgettext("category", "Health"),
    Category.CLOTHING: lazy_pgettext("category", "Clothing"),
    Category.ELECTRONICS: lazy_pgettext("category", "Electronics"),
    Category.HOME: lazy_pgettext("category", "Home"),
    Category.OFFICE: lazy_pgettext("category", "Office"),
    Category.ENTERTAINMENT: lazy_pgettext("category", "Entertainment"),
    Category.EDUCATION: lazy_pgettext("category", "Education"),
    Category.UTILITIES: lazy_pgettext("category", "Utilities"),
    Category.TELECOM: lazy_pgettext("category", "Telecom"),
    Category.SERVICES: lazy_pgettext("category", "Services"),
    Category.TAXES: lazy_pgettext("category", "Taxes"),
}
#: The types of documents by their values.
DOCUMENT_TYPES: Mapping[str, LazyText | str] = {
    DocumentType.RECEIPT: lazy_gettext("Receipt"),
    DocumentType.INVOICE: lazy_gettext("Invoice"),
    DocumentType.NFE: "NF-e",
    DocumentType.NFCE: "NFC-e",
    DocumentType.NFSE: "NFS-e",
    DocumentType.CUPOM_FISCAL: lazy_gettext("Cupom fiscal"),
}
_PAYMENT_METHODS: Mapping[str, LazyText] = {
    PaymentMethod.CASH: lazy_gettext("Cash"),
    PaymentMethod.CARD: lazy_gettext("Card"),
    PaymentMethod.CREDIT_CARD: lazy_gettext("Credit card"),
    PaymentMethod.DEBIT_CARD: lazy_gettext("Debit card"),
    PaymentMethod.BANK_TRANSFER: lazy_gettext("Bank transfer"),
    PaymentMethod.VOUCHER: lazy_gettext("Voucher"),
    PaymentMethod.CHECK: lazy_pgettext("payment", "Check"),
    PaymentMethod.WALLET: lazy_gettext("Wallet app"),
    PaymentMethod.OTHER: lazy_gettext("Other"),
}
_ACCURACIES: Mapping[str, LazyText] = {
    Accuracy.STANDARD: lazy_pgettext("accuracy", "Standard"),
    Accuracy.HIGH: lazy_pgettext("accuracy", "High"),
}


def role(value: str, *, viewers_write: bool = False) -> str:
    """Return the name of a role; unknown ones as they are.

    Viewers who may upload and correct are bookkeepers.
    """
    if viewers_write and value == Role.VIEWER:
        return gettext("Bookkeeper (viewer)")
    return _of(_ROLES, value)


def plan(value: str) -> str:
    """Return the name of a plan."""
    return _of(_PLANS, value)


def category(value: str) -> str:
    """Return the name of a category."""
    return _of(_CATEGORIES, value)


def payment_method(value: str) -> str:
    """Return the name of a way to pay."""
    return _of(_PAYMENT_METHODS, value)


def accuracy(value: str) -> str:
    """Return the name of an accuracy."""
    return _of(_ACCURACIES, value)


def _of(names: Mapping[str, LazyText], value: str) -> str:
    name = names.get(value)
    return str(name) if name is not None else str(value).capitalize()
