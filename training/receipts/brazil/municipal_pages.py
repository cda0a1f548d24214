"""Pages of municipalities' own systems of service notes, as they were before the national one."""

import random
from collections.abc import Mapping, Sequence
from decimal import Decimal

from training.receipts.brazil import ids
from training.receipts.brazil.sales import brazilian
from training.receipts.brazil.service import Layout, Service
from training.receipts.brazil.sheets import Box, Sheets

_HALL = "PREFEITURA MUNICIPAL DE {city}"


def _paulistana(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print São Paulo's page: labels with colons, a line for the total, boxes below."""
    _print_hall(
        paper,
        ("PREFEITURA DO MUNICÍPIO DE SÃO PAULO", "SECRETARIA MUNICIPAL DA FAZENDA"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇOS - NFS-e",
    )
    paper.text(35, 17, f"RPS Nº {note.rps} Série A, emitido em {note.at:%d/%m/%Y}", size=7)
    _print_corner(
        paper,
        (
            ("Número da Nota", f"{note.number:08d}"),
            ("Data e Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Código de Verificação", note.verification),
        ),
    )
    _print_party_lines(paper, note, "PRESTADOR DE SERVIÇOS", "TOMADOR DE SERVIÇOS")
    _print_done(paper, note, "DISCRIMINAÇÃO DE SERVIÇOS")
    paper.y += 8
    paper.text(50, paper.y, f"VALOR TOTAL DO SERVIÇO = R$ {brazilian(note.gross)}", is_bold=True)
    paper.y += 2
    kept = note.withheld
    _print_amounts(
        paper,
        ("INSS (R$)", kept.inss),
        ("IRRF (R$)", kept.ir),
        ("CSLL (R$)", kept.csll),
        ("COFINS (R$)", kept.cofins),
        ("PIS/PASEP (R$)", kept.pis),
    )
    paper.row([Box("Código do Serviço", f"0{note.listed.replace('.', '')} - {note.done[:40]}")])
    _print_amounts(
        paper,
        ("Valor Total das Deduções (R$)", note.deductions + note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("Crédito (R$)", Decimal(0)),
    )
    paper.heading("OUTRAS INFORMAÇÕES")
    due = "Data de vencimento do ISS desta NFS-e: 10/07/2023"
    paper.paragraph(1, f"(1) Esta NFS-e foi emitida com respaldo na Lei nº 14.097/2005. {due}", 180)


def _carioca(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print Rio de Janeiro's page."""
    _print_hall(
        paper,
        ("PREFEITURA DA CIDADE DO RIO DE JANEIRO", "SECRETARIA MUNICIPAL DE FAZENDA"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    paper.text(60, 17, "- NOTA CARIOCA -", size=9, is_bold=True)
    _print_corner(
        paper,
        (
            ("Número da Nota", f"{note.number:08d}"),
            ("Data e Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Código de Verificação", note.verification),
        ),
    )
    _print_party_lines(paper, note, "PRESTADOR DE SERVIÇOS", "TOMADOR DE SERVIÇOS")
    _print_done(paper, note, "DISCRIMINAÇÃO DOS SERVIÇOS")
    paper.y += 8
    paper.text(60, paper.y, f"VALOR DA NOTA = R$ {brazilian(note.gross)}", is_bold=True)
    paper.y += 2
    paper.row([Box("Serviço Prestado", f"{note.listed}.01 - {note.done}")])
    _print_amounts(
        paper,
        ("Deduções (R$)", note.deductions),
        ("Desconto Incond. (R$)", note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("Crédito p/ IPTU (R$)", Decimal(0)),
    )
    paper.heading("OUTRAS INFORMAÇÕES")
    paper.paragraph(1, "Esta NFS-e foi emitida com respaldo na Lei nº 5.098 de 15/10/2009.", 180)


def _ginfes(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print a GINFES page: two columns of sums with other information between them."""
    _print_hall(
        paper,
        _hall_rows(note, "Secretaria de Finanças"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇO - NFS-e",
    )
    _print_corner(paper, (("Número da NFS-e", str(note.number)),))
    paper.row(
        [
            Box("Data e Hora da Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            Box("Competência", f"{note.at:%m/%Y}"),
            Box("Código de Verificação", note.verification),
        ]
    )
    paper.row(
        [
            Box("Número do RPS", str(note.rps)),
            Box("No. da NFS-e substituída", ""),
            Box("Local da Prestação", _town(note)),
        ]
    )
    _print_party_boxes(
        paper, note, "Dados do Prestador de Serviços", "Dados do Tomador de Serviços"
    )
    _print_done(paper, note, "Discriminação dos Serviços")
    paper.heading("Código do Serviço / Atividade")
    paper.paragraph(1, f"{note.listed} / {note.listed.replace('.', '')}0100 - serviços", 150)
    kept = note.withheld
    paper.heading("Tributos Federais")
    _print_amounts(
        paper,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("IR(R$)", kept.ir),
        ("INSS(R$)", kept.inss),
        ("CSLL(R$)", kept.csll),
    )
    _print_columns(paper, note)


def _print_columns(paper: Sheets, note: Service) -> None:
    """Print the sums of the provider, other information and the ISS side by side."""
    own = (
        ("Valor dos Serviços", note.gross),
        ("(-) Desconto Incondicionado", note.discount),
        ("(-) Desconto Condicionado", Decimal(0)),
        ("(-) Retenções Federais", note.withheld.total),
        ("(-) Outras Retenções", Decimal(0)),
        ("(-) ISS Retido", note.kept_iss),
        ("(=) Valor Líquido", note.net),
    )
    others = (
        *("Natureza Operação", "1-Tributação no município", "Regime especial Tributação"),
        *("0-Nenhum", "Opção Simples Nacional", "2-Não", "Incentivador Cultural 2-Não"),
    )
    tax: tuple[tuple[str, Decimal | str], ...] = (
        ("Valor dos Serviços", note.gross),
        ("(-) Deduções permitidas em lei", note.deductions),
        ("(-) Desconto Incondicionado", note.discount),
        ("Base de Cálculo", note.base),
        ("(x) Alíquota - %", f"{brazilian(note.rate)}"),
        ("ISS a reter:", "(X) Sim ( ) Não" if note.is_iss_withheld else "( ) Sim (X) Não"),
        ("(=) Valor do ISS", note.iss),
    )
    width = paper.form.width_mm / 3
    paper.heading("Detalhamento de Valores - Prestador dos Serviços")
    paper.text(width + 2, paper.y - 0.8, "Outras Informações", size=7, is_bold=True)
    paper.text(2 * width + 2, paper.y - 0.8, "Cálculo do ISSQN devido no Município", size=7)
    for (label, amount), other, (tax_label, tax_amount) in zip(own, others, tax, strict=True):
        paper.y += 5
        paper.text(1, paper.y, label, size=7)
        paper.text(width - 3, paper.y, f"R$ {brazilian(amount)}", size=7, anchor="right")
        paper.text(width + 2, paper.y, other, size=7)
        paper.text(2 * width + 2, paper.y, tax_label, size=7)
        paper.text(3 * width - 3, paper.y, _shown(tax_amount), size=7, anchor="right")


def _betha(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print a Betha page: the head's values beside their labels, sums in one row of boxes."""
    _print_hall(
        paper,
        _hall_rows(note, "SECRETARIA MUNICIPAL DA FAZENDA"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    _print_corner(
        paper,
        (
            ("Número da NFS-e", str(note.number)),
            ("Data e hora da emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Competência", f"{note.at:%d/%m/%Y}"),
            ("Cód. de verificação", note.verification),
        ),
    )
    _print_party_lines(paper, note, "PRESTADOR DE SERVIÇO", "TOMADOR DE SERVIÇO")
    _print_done(paper, note, "DISCRIMINAÇÃO DOS SERVIÇOS")
    paper.row([Box("Atividade", f"{note.listed} - {note.done[:50]}"), Box("CNAE", "6201501", 0.4)])
    _print_amounts(
        paper,
        ("Valor dos serviços", note.gross),
        ("Deduções", note.deductions),
        ("Desc. incondicionado", note.discount),
        ("Base de cálculo", note.base),
        ("Alíquota", f"{brazilian(note.rate, 4)}"),
        ("Valor do ISS", note.iss),
    )
    kept = note.withheld
    _print_amounts(
        paper,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("INSS", kept.inss),
        ("IRRF", kept.ir),
        ("CSLL", kept.csll),
        ("ISS retido", note.kept_iss),
        ("Valor líquido", note.net),
    )


def _issnet(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print an ISSNet page: date and hour in boxes of their own, the total as a heading."""
    _print_hall(
        paper,
        _hall_rows(note, "Secretaria da Fazenda"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇOS - NFS-e",
    )
    paper.row(
        [
            Box("Nº da Nota Fiscal", f"{note.number:07d}"),
            Box("Data do Serviço", f"{note.at:%d/%m/%Y}"),
            Box("Data da Emissão", f"{note.at:%d/%m/%Y}"),
            Box("Hora da Emissão", f"{note.at:%H:%M:%S}"),
            Box("Cód. Autenticidade", note.verification),
        ]
    )
    _print_party_boxes(paper, note, "PRESTADOR DOS SERVIÇOS", "TOMADOR DOS SERVIÇOS")
    _print_done(paper, note, "DESCRIÇÃO DOS SERVIÇOS")
    paper.row([Box("Item da Lista de Serviços", f"{note.listed} - {note.done[:60]}")])
    _print_amounts(
        paper,
        ("Base de Cálculo", note.base),
        ("Alíquota", f"{brazilian(note.rate)} %"),
        ("ISSQN Retido", "Sim" if note.is_iss_withheld else "Não"),
        ("Valor ISSQN", note.iss),
        ("Deduções", note.deductions),
    )
    kept = note.withheld
    _print_amounts(
        paper,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("INSS", kept.inss),
        ("IR", kept.ir),
        ("CSLL", kept.csll),
        ("Descontos", note.discount),
    )
    _print_amounts(paper, ("VALOR TOTAL DA NOTA", note.gross), ("VALOR LÍQUIDO DA NOTA", note.net))


def _webiss(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print a WebISS page: number with its series, time without seconds."""
    _print_hall(
        paper,
        _hall_rows(note, "Secretaria Municipal de Fazenda"),
        "Nota Fiscal de Serviços Eletrônica - NFS-e",
    )
    paper.row(
        [
            Box("Número / Série", f"{note.number} / E"),
            Box("Emitida em", f"{note.at:%d/%m/%Y} às {note.at:%H:%M}"),
            Box("Competência", f"{note.at:%m/%Y}"),
            Box("Código de Verificação", note.verification),
        ]
    )
    _print_party_lines(paper, note, "Prestador do(s) Serviço(s)", "Tomador do(s) Serviço(s)")
    _print_done(paper, note, "Discriminação do(s) Serviço(s)")
    _print_amounts(
        paper,
        ("Valor dos Serviços R$", note.gross),
        ("Deduções R$", note.deductions),
        ("Desc. Incond. R$", note.discount),
        ("Base de Cálculo R$", note.base),
    )
    _print_amounts(
        paper,
        ("Alíquota %", f"{brazilian(note.rate)}"),
        ("Valor do ISSQN R$", note.iss),
        ("ISSQN Retido R$", note.kept_iss),
        ("Retenções Federais R$", note.withheld.total),
        ("Valor Líquido R$", note.net),
    )


def _ipm(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print an IPM page: the services in a table with their own taxes."""
    _print_hall(
        paper,
        _hall_rows(note, "Secretaria Municipal da Fazenda"),
        "NOTA FISCAL DE SERVIÇO ELETRÔNICA - NFS-e",
    )
    paper.row(
        [
            Box("Número da NFS-e / Série", f"{note.number} / 1"),
            Box("Data do Fato Gerador", f"{note.at:%d/%m/%Y}"),
            Box("Data/Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            Box("Código de Autenticidade", note.verification),
        ]
    )
    _print_party_boxes(paper, note, "PRESTADOR DO SERVIÇO", "TOMADOR DO SERVIÇO")
    _print_done(paper, note, "DESCRIÇÃO DOS SERVIÇOS PRESTADOS")
    paper.row(
        [
            Box("Item da lista", note.listed, 0.6),
            Box("Alíquota", f"{brazilian(note.rate)}", 0.6),
            Box("Valor do Serviço", brazilian(note.gross), anchor="right"),
            Box("Dedução", brazilian(note.deductions), anchor="right"),
            Box("Desconto", brazilian(note.discount), anchor="right"),
            Box("Base de Cálculo", brazilian(note.base), anchor="right"),
            Box("Valor do ISS", brazilian(note.iss), anchor="right"),
        ]
    )
    _print_amounts(
        paper,
        ("Valor Total dos Serviços", note.gross),
        ("ISS Retido", note.kept_iss),
        ("Retenções Federais", note.withheld.total),
        ("Valor Líquido da Nota", note.net),
    )


def _abrasf(_: random.Random, paper: Sheets, note: Service) -> None:
    """Print a page after ABRASF's model: the number behind its year."""
    _print_hall(
        paper,
        _hall_rows(note, "SECRETARIA MUNICIPAL DE FINANÇAS"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    _print_corner(
        paper,
        (
            ("Número da NFS-e", f"{note.at:%Y}/{note.number}"),
            ("Data e Hora da Emissão", f"{note.at:%d/%m/%Y} {note.at:%H:%M:%S}"),
            ("Competência", f"{note.at:%m/%Y}"),
            ("Código de Verificação", note.verification),
        ),
    )
    _print_party_lines(paper, note, "DADOS DO PRESTADOR", "DADOS DO TOMADOR")
    _print_done(paper, note, "DESCRIÇÃO DOS SERVIÇOS")
    paper.y += 7
    paper.text(50, paper.y, f"VALOR TOTAL DA NOTA: R$ {brazilian(note.gross)}", is_bold=True)
    paper.y += 2
    kept = note.withheld
    _print_amounts(
        paper,
        ("INSS (R$)", kept.inss),
        ("IRRF (R$)", kept.ir),
        ("CSLL (R$)", kept.csll),
        ("COFINS (R$)", kept.cofins),
        ("PIS/PASEP (R$)", kept.pis),
        ("Outras Retenções (R$)", Decimal(0)),
    )
    _print_amounts(
        paper,
        ("Valor Total das Deduções (R$)", note.deductions),
        ("Descontos (R$)", note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("ISS Retido (R$)", note.kept_iss),
        ("Valor Líquido da Nota (R$)", note.net),
    )


def _hall_rows(note: Service, office: str) -> tuple[str, str]:
    return _HALL.format(city=note.seller.place.city.upper()), office


def _print_hall(paper: Sheets, rows: Sequence[str], title: str) -> None:
    for count, row in enumerate(rows):
        paper.text(35, 4 + 4 * count, row, size=9 - count, is_bold=not count)
    paper.text(35, 13, title, size=9, is_bold=True)
    paper.y = 18


def _print_corner(paper: Sheets, boxes: Sequence[tuple[str, str]]) -> None:
    """Print boxes one under the other in the upper right corner."""
    x, width = paper.form.width_mm * 0.76, paper.form.width_mm * 0.24
    for count, (label, value) in enumerate(boxes):
        box = Box(label, value, anchor="middle", is_bold=not count)
        paper.box(x, 7.6 * count, (width, 7.6), box)
    paper.y = max(paper.y, 7.6 * len(boxes) + 1)


def _print_party_lines(paper: Sheets, note: Service, provider: str, taker: str) -> None:
    """Print both parties as lines of labels with colons."""
    seller, other = note.seller, note.taker
    paper.heading(provider)
    for row in (
        f"CPF/CNPJ: {seller.printed_id}     Inscrição Municipal: {seller.city_id}",
        f"Nome/Razão Social: {seller.name}",
        f"Endereço: {seller.street} - {seller.quarter} - CEP: {seller.postal_code}",
        f"Município: {seller.place.city}     UF: {seller.place.state}",
    ):
        paper.y += 4
        paper.text(20, paper.y, row, size=7)
    paper.y += 2
    paper.heading(taker)
    for row in (
        f"Nome/Razão Social: {other.name}",
        f"CPF/CNPJ: {ids.printed(other.tax_id)}     Inscrição Municipal: ----",
        f"Endereço: {other.street} - CEP: {other.place.postal}-000",
        f"Município: {other.place.city}     UF: {other.place.state}     E-mail: ----",
    ):
        paper.y += 4
        paper.text(20, paper.y, row, size=7)
    paper.y += 2


def _print_party_boxes(paper: Sheets, note: Service, provider: str, taker: str) -> None:
    """Print both parties as boxes."""
    seller, other = note.seller, note.taker
    paper.heading(provider)
    paper.row(
        [Box("Razão Social/Nome", seller.name, 2), Box("Nome Fantasia", seller.trade_name, 1.4)]
    )
    paper.row(
        [
            Box("CNPJ/CPF", seller.printed_id),
            Box("Inscrição Municipal", seller.city_id),
            Box("Município", _town(note)),
        ]
    )
    paper.row(
        [Box("Endereço e CEP", f"{seller.street}, {seller.quarter} CEP: {seller.postal_code}")]
    )
    paper.heading(taker)
    paper.row([Box("Razão Social/Nome", other.name)])
    paper.row(
        [
            Box("CNPJ/CPF", ids.printed(other.tax_id)),
            Box("Inscrição Municipal", ""),
            Box("Município", f"{other.place.city} - {other.place.state}"),
        ]
    )
    paper.row([Box("Endereço e CEP", f"{other.street} CEP: {other.place.postal}-000")])


def _print_done(paper: Sheets, note: Service, heading: str) -> None:
    """Print what was done, with room below."""
    paper.heading(heading)
    top = paper.y
    paper.y += 1
    paper.paragraph(2, note.done, paper.form.width_mm - 6)
    paper.y = max(paper.y + 4, top + 22)


def _print_amounts(paper: Sheets, *boxes: tuple[str, Decimal | str]) -> None:
    paper.row(
        [
            Box(label, brazilian(amount) if isinstance(amount, Decimal) else amount, anchor="right")
            for label, amount in boxes
        ]
    )


def _shown(amount: Decimal | str) -> str:
    return f"R$ {brazilian(amount)}" if isinstance(amount, Decimal) else amount


def _town(note: Service) -> str:
    return f"{note.seller.place.city} - {note.seller.place.state}"


LAYOUTS: Mapping[str, Layout] = {
    "paulistana": Layout(_paulistana, states=("SP",), has_net=False),
    "carioca": Layout(_carioca, states=("RJ",), has_net=False),
    "ginfes": Layout(_ginfes),
    "betha": Layout(_betha, states=("SC", "RS", "PR", "MG")),
    "issnet": Layout(_issnet),
    "webiss": Layout(_webiss, has_seconds=False),
    "ipm": Layout(_ipm, states=("SC", "PR", "RS")),
    "abrasf": Layout(_abrasf),
}
