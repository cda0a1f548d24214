"""Common parts of the NFS-e pages of many municipalities."""

from collections.abc import Sequence
from decimal import Decimal

from training.receipts.brazil import ids
from training.receipts.brazil.sales import brazilian
from training.receipts.brazil.service import Service
from training.receipts.brazil.sheets import Box, Sheets

_HALL = "PREFEITURA MUNICIPAL DE {city}"


def hall_rows(note: Service, office: str) -> tuple[str, str]:
    """Return the heading of a town hall: the municipality and the office."""
    return _HALL.format(city=note.seller.place.city.upper()), office


def print_hall(pages: Sheets, rows: Sequence[str], title: str) -> None:
    """Print the heading and the title of a page."""
    for count, row in enumerate(rows):
        pages.text(35, 4 + 4 * count, row, size=9 - count, is_bold=not count)
    pages.text(35, 13, title, size=9, is_bold=True)
    pages.y = 18


def print_corner(pages: Sheets, boxes: Sequence[tuple[str, str]]) -> None:
    """Print boxes one below the other in the upper right corner."""
    x, width = pages.form.width_mm * 0.76, pages.form.width_mm * 0.24
    for count, (label, value) in enumerate(boxes):
        box = Box(label, value, anchor="middle", is_bold=not count)
        pages.box(x, 7.6 * count, (width, 7.6), box)
    pages.y = max(pages.y, 7.6 * len(boxes) + 1)


def print_party_lines(pages: Sheets, note: Service, provider: str, taker: str) -> None:
    """Print both parties as lines of labels with colons."""
    seller, other = note.seller, note.taker
    pages.heading(provider)
    for row in (
        f"CPF/CNPJ: {seller.printed_id}     Inscrição Municipal: {seller.city_id}",
        f"Nome/Razão Social: {seller.name}",
        f"Endereço: {seller.street} - {seller.quarter} - CEP: {seller.postal_code}",
        f"Município: {seller.place.city}     UF: {seller.place.state}",
    ):
        pages.y += 4
        pages.text(20, pages.y, row, size=7)
    pages.y += 2
    pages.heading(taker)
    for row in (
        f"Nome/Razão Social: {other.name}",
        f"CPF/CNPJ: {ids.printed(other.tax_id)}     Inscrição Municipal: ----",
        f"Endereço: {other.street} - CEP: {other.place.postal}-000",
        f"Município: {other.place.city}     UF: {other.place.state}     E-mail: ----",
    ):
        pages.y += 4
        pages.text(20, pages.y, row, size=7)
    pages.y += 2


def print_party_boxes(pages: Sheets, note: Service, provider: str, taker: str) -> None:
    """Print both parties as boxes."""
    seller, other = note.seller, note.taker
    pages.heading(provider)
    pages.row(
        [Box("Razão Social/Nome", seller.name, 2), Box("Nome Fantasia", seller.trade_name, 1.4)]
    )
    pages.row(
        [
            Box("CNPJ/CPF", seller.printed_id),
            Box("Inscrição Municipal", seller.city_id),
            Box("Município", town(note)),
        ]
    )
    pages.row(
        [Box("Endereço e CEP", f"{seller.street}, {seller.quarter} CEP: {seller.postal_code}")]
    )
    pages.heading(taker)
    pages.row([Box("Razão Social/Nome", other.name)])
    pages.row(
        [
            Box("CNPJ/CPF", ids.printed(other.tax_id)),
            Box("Inscrição Municipal", ""),
            Box("Município", f"{other.place.city} - {other.place.state}"),
        ]
    )
    pages.row([Box("Endereço e CEP", f"{other.street} CEP: {other.place.postal}-000")])


def print_done(pages: Sheets, note: Service, heading: str) -> None:
    """Print the description of the service, with room below."""
    pages.heading(heading)
    top = pages.y
    pages.y += 1
    pages.paragraph(2, note.done, pages.form.width_mm - 6)
    # Some providers add information for the accounting of the customer.
    for row in note.remarks:
        pages.y += 1
        pages.paragraph(2, row, pages.form.width_mm - 6)
    pages.y = max(pages.y + 4, top + 22)


def print_amounts(pages: Sheets, *boxes: tuple[str, Decimal | str]) -> None:
    """Print a row of boxes with amounts at their right edges."""
    pages.row(
        [
            Box(label, brazilian(amount) if isinstance(amount, Decimal) else amount, anchor="right")
            for label, amount in boxes
        ]
    )


def shown(amount: Decimal | str) -> str:
    """Return an amount in reais, other text unchanged."""
    return f"R$ {brazilian(amount)}" if isinstance(amount, Decimal) else amount


def town(note: Service) -> str:
    """Return the municipality and the state of the provider."""
    return f"{note.seller.place.city} - {note.seller.place.state}"
