"""NFS-e pages of municipal systems, as they were before the national one."""

import random
from collections.abc import Mapping
from decimal import Decimal

from training.receipts.brazil import ids, note_parts
from training.receipts.brazil.sales import brazilian
from training.receipts.brazil.service import Layout, Service
from training.receipts.brazil.sheets import Box, Sheets


def _paulistana(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print São Paulo's page: labels with colons, a line for the total, boxes below."""
    note_parts.print_hall(
        pages,
        ("PREFEITURA DO MUNICÍPIO DE SÃO PAULO", "SECRETARIA MUNICIPAL DA FAZENDA"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇOS - NFS-e",
    )
    pages.text(35, 17, f"RPS Nº {note.rps} Série A, emitido em {note.at:%d/%m/%Y}", size=7)
    note_parts.print_corner(
        pages,
        (
            ("Número da Nota", f"{note.number:08d}"),
            ("Data e Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Código de Verificação", note.verification),
        ),
    )
    note_parts.print_party_lines(pages, note, "PRESTADOR DE SERVIÇOS", "TOMADOR DE SERVIÇOS")
    note_parts.print_done(pages, note, "DISCRIMINAÇÃO DE SERVIÇOS")
    pages.y += 8
    pages.text(50, pages.y, f"VALOR TOTAL DO SERVIÇO = R$ {brazilian(note.gross)}", is_bold=True)
    pages.y += 2
    kept = note.withheld
    note_parts.print_amounts(
        pages,
        ("INSS (R$)", kept.inss),
        ("IRRF (R$)", kept.ir),
        ("CSLL (R$)", kept.csll),
        ("COFINS (R$)", kept.cofins),
        ("PIS/PASEP (R$)", kept.pis),
    )
    pages.row([Box("Código do Serviço", f"0{note.listed.replace('.', '')} - {note.done[:40]}")])
    note_parts.print_amounts(
        pages,
        ("Valor Total das Deduções (R$)", note.deductions + note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("Crédito (R$)", Decimal(0)),
    )
    pages.heading("OUTRAS INFORMAÇÕES")
    due = "Data de vencimento do ISS desta NFS-e: 10/07/2023"
    pages.paragraph(1, f"(1) Esta NFS-e foi emitida com respaldo na Lei nº 14.097/2005. {due}", 180)


def _carioca(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print Rio de Janeiro's page."""
    note_parts.print_hall(
        pages,
        ("PREFEITURA DA CIDADE DO RIO DE JANEIRO", "SECRETARIA MUNICIPAL DE FAZENDA"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    pages.text(60, 17, "- NOTA CARIOCA -", size=9, is_bold=True)
    note_parts.print_corner(
        pages,
        (
            ("Número da Nota", f"{note.number:08d}"),
            ("Data e Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Código de Verificação", note.verification),
        ),
    )
    note_parts.print_party_lines(pages, note, "PRESTADOR DE SERVIÇOS", "TOMADOR DE SERVIÇOS")
    note_parts.print_done(pages, note, "DISCRIMINAÇÃO DOS SERVIÇOS")
    pages.y += 8
    pages.text(60, pages.y, f"VALOR DA NOTA = R$ {brazilian(note.gross)}", is_bold=True)
    pages.y += 2
    pages.row([Box("Serviço Prestado", f"{note.listed}.01 - {note.done}")])
    note_parts.print_amounts(
        pages,
        ("Deduções (R$)", note.deductions),
        ("Desconto Incond. (R$)", note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("Crédito p/ IPTU (R$)", Decimal(0)),
    )
    pages.heading("OUTRAS INFORMAÇÕES")
    pages.paragraph(1, "Esta NFS-e foi emitida com respaldo na Lei nº 5.098 de 15/10/2009.", 180)


def _ginfes(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print a GINFES page: two columns of sums with other information between them."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "Secretaria de Finanças"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇO - NFS-e",
    )
    note_parts.print_corner(pages, (("Número da NFS-e", str(note.number)),))
    pages.row(
        [
            Box("Data e Hora da Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            Box("Competência", f"{note.at:%m/%Y}"),
            Box("Código de Verificação", note.verification),
        ]
    )
    pages.row(
        [
            Box("Número do RPS", str(note.rps)),
            Box("No. da NFS-e substituída", ""),
            Box("Local da Prestação", note_parts.town(note)),
        ]
    )
    note_parts.print_party_boxes(
        pages, note, "Dados do Prestador de Serviços", "Dados do Tomador de Serviços"
    )
    note_parts.print_done(pages, note, "Discriminação dos Serviços")
    pages.heading("Código do Serviço / Atividade")
    pages.paragraph(1, f"{note.listed} / {note.listed.replace('.', '')}0100 - serviços", 150)
    kept = note.withheld
    pages.heading("Tributos Federais")
    note_parts.print_amounts(
        pages,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("IR(R$)", kept.ir),
        ("INSS(R$)", kept.inss),
        ("CSLL(R$)", kept.csll),
    )
    _print_columns(pages, note)


def _print_columns(pages: Sheets, note: Service) -> None:
    """Print the sums of the provider, other information and the ISS next to each other."""
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
    width = pages.form.width_mm / 3
    pages.heading("Detalhamento de Valores - Prestador dos Serviços")
    pages.text(width + 2, pages.y - 0.8, "Outras Informações", size=7, is_bold=True)
    pages.text(2 * width + 2, pages.y - 0.8, "Cálculo do ISSQN devido no Município", size=7)
    for (label, amount), other, (tax_label, tax_amount) in zip(own, others, tax, strict=True):
        pages.y += 5
        pages.text(1, pages.y, label, size=7)
        pages.text(width - 3, pages.y, f"R$ {brazilian(amount)}", size=7, anchor="right")
        pages.text(width + 2, pages.y, other, size=7)
        pages.text(2 * width + 2, pages.y, tax_label, size=7)
        pages.text(3 * width - 3, pages.y, note_parts.shown(tax_amount), size=7, anchor="right")


def _betha(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print a Betha page: the head's values next to their labels, sums in one row of boxes."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "SECRETARIA MUNICIPAL DA FAZENDA"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    note_parts.print_corner(
        pages,
        (
            ("Número da NFS-e", str(note.number)),
            ("Data e hora da emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            ("Competência", f"{note.at:%d/%m/%Y}"),
            ("Cód. de verificação", note.verification),
        ),
    )
    note_parts.print_party_lines(pages, note, "PRESTADOR DE SERVIÇO", "TOMADOR DE SERVIÇO")
    note_parts.print_done(pages, note, "DISCRIMINAÇÃO DOS SERVIÇOS")
    pages.row([Box("Atividade", f"{note.listed} - {note.done[:50]}"), Box("CNAE", "6201501", 0.4)])
    note_parts.print_amounts(
        pages,
        ("Valor dos serviços", note.gross),
        ("Deduções", note.deductions),
        ("Desc. incondicionado", note.discount),
        ("Base de cálculo", note.base),
        ("Alíquota", f"{brazilian(note.rate, 4)}"),
        ("Valor do ISS", note.iss),
    )
    kept = note.withheld
    note_parts.print_amounts(
        pages,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("INSS", kept.inss),
        ("IRRF", kept.ir),
        ("CSLL", kept.csll),
        ("ISS retido", note.kept_iss),
        ("Valor líquido", note.net),
    )


def _issnet(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print an ISSNet page: date and hour in separate boxes, the total as a heading."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "Secretaria da Fazenda"),
        "NOTA FISCAL ELETRÔNICA DE SERVIÇOS - NFS-e",
    )
    pages.row(
        [
            Box("Nº da Nota Fiscal", f"{note.number:07d}"),
            Box("Data do Serviço", f"{note.at:%d/%m/%Y}"),
            Box("Data da Emissão", f"{note.at:%d/%m/%Y}"),
            Box("Hora da Emissão", f"{note.at:%H:%M:%S}"),
            Box("Cód. Autenticidade", note.verification),
        ]
    )
    note_parts.print_party_boxes(pages, note, "PRESTADOR DOS SERVIÇOS", "TOMADOR DOS SERVIÇOS")
    note_parts.print_done(pages, note, "DESCRIÇÃO DOS SERVIÇOS")
    pages.row([Box("Item da Lista de Serviços", f"{note.listed} - {note.done[:60]}")])
    note_parts.print_amounts(
        pages,
        ("Base de Cálculo", note.base),
        ("Alíquota", f"{brazilian(note.rate)} %"),
        ("ISSQN Retido", "Sim" if note.is_iss_withheld else "Não"),
        ("Valor ISSQN", note.iss),
        ("Deduções", note.deductions),
    )
    kept = note.withheld
    note_parts.print_amounts(
        pages,
        ("PIS", kept.pis),
        ("COFINS", kept.cofins),
        ("INSS", kept.inss),
        ("IR", kept.ir),
        ("CSLL", kept.csll),
        ("Descontos", note.discount),
    )
    note_parts.print_amounts(
        pages, ("VALOR TOTAL DA NOTA", note.gross), ("VALOR LÍQUIDO DA NOTA", note.net)
    )


def _webiss(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print a WebISS page: number with its series, time without seconds."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "Secretaria Municipal de Fazenda"),
        "Nota Fiscal de Serviços Eletrônica - NFS-e",
    )
    pages.row(
        [
            Box("Número / Série", f"{note.number} / E"),
            Box("Emitida em", f"{note.at:%d/%m/%Y} às {note.at:%H:%M}"),
            Box("Competência", f"{note.at:%m/%Y}"),
            Box("Código de Verificação", note.verification),
        ]
    )
    note_parts.print_party_lines(
        pages, note, "Prestador do(s) Serviço(s)", "Tomador do(s) Serviço(s)"
    )
    note_parts.print_done(pages, note, "Discriminação do(s) Serviço(s)")
    note_parts.print_amounts(
        pages,
        ("Valor dos Serviços R$", note.gross),
        ("Deduções R$", note.deductions),
        ("Desc. Incond. R$", note.discount),
        ("Base de Cálculo R$", note.base),
    )
    note_parts.print_amounts(
        pages,
        ("Alíquota %", f"{brazilian(note.rate)}"),
        ("Valor do ISSQN R$", note.iss),
        ("ISSQN Retido R$", note.kept_iss),
        ("Retenções Federais R$", note.withheld.total),
        ("Valor Líquido R$", note.net),
    )


def _ipm(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print an IPM page: the services in a table with their taxes."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "Secretaria Municipal da Fazenda"),
        "NOTA FISCAL DE SERVIÇO ELETRÔNICA - NFS-e",
    )
    pages.row(
        [
            Box("Número da NFS-e / Série", f"{note.number} / 1"),
            Box("Data do Fato Gerador", f"{note.at:%d/%m/%Y}"),
            Box("Data/Hora de Emissão", f"{note.at:%d/%m/%Y %H:%M:%S}"),
            Box("Código de Autenticidade", note.verification),
        ]
    )
    note_parts.print_party_boxes(pages, note, "PRESTADOR DO SERVIÇO", "TOMADOR DO SERVIÇO")
    note_parts.print_done(pages, note, "DESCRIÇÃO DOS SERVIÇOS PRESTADOS")
    pages.row(
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
    note_parts.print_amounts(
        pages,
        ("Valor Total dos Serviços", note.gross),
        ("ISS Retido", note.kept_iss),
        ("Retenções Federais", note.withheld.total),
        ("Valor Líquido da Nota", note.net),
    )


def _abrasf(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print a page of ABRASF's model: the number after its year."""
    note_parts.print_hall(
        pages,
        note_parts.hall_rows(note, "SECRETARIA MUNICIPAL DE FINANÇAS"),
        "NOTA FISCAL DE SERVIÇOS ELETRÔNICA - NFS-e",
    )
    note_parts.print_corner(
        pages,
        (
            ("Número da NFS-e", f"{note.at:%Y}/{note.number}"),
            ("Data e Hora da Emissão", f"{note.at:%d/%m/%Y} {note.at:%H:%M:%S}"),
            ("Competência", f"{note.at:%m/%Y}"),
            ("Código de Verificação", note.verification),
        ),
    )
    note_parts.print_party_lines(pages, note, "DADOS DO PRESTADOR", "DADOS DO TOMADOR")
    note_parts.print_done(pages, note, "DESCRIÇÃO DOS SERVIÇOS")
    pages.y += 7
    pages.text(50, pages.y, f"VALOR TOTAL DA NOTA: R$ {brazilian(note.gross)}", is_bold=True)
    pages.y += 2
    kept = note.withheld
    note_parts.print_amounts(
        pages,
        ("INSS (R$)", kept.inss),
        ("IRRF (R$)", kept.ir),
        ("CSLL (R$)", kept.csll),
        ("COFINS (R$)", kept.cofins),
        ("PIS/PASEP (R$)", kept.pis),
        ("Outras Retenções (R$)", Decimal(0)),
    )
    note_parts.print_amounts(
        pages,
        ("Valor Total das Deduções (R$)", note.deductions),
        ("Descontos (R$)", note.discount),
        ("Base de Cálculo (R$)", note.base),
        ("Alíquota (%)", f"{brazilian(note.rate)}%"),
        ("Valor do ISS (R$)", note.iss),
        ("ISS Retido (R$)", note.kept_iss),
        ("Valor Líquido da Nota (R$)", note.net),
    )


def _unlabelled(_: random.Random, pages: Sheets, note: Service) -> None:
    """Print the page of Belo Horizonte and Porto Alegre: the provider without labels."""
    seller, taker = note.seller, note.taker
    pages.text(30, 5, "NFS-e - NOTA FISCAL DE SERVIÇOS ELETRÔNICA", size=11, is_bold=True)
    day = f"{note.at:%d/%m/%Y}"
    pages.text(4, 12, f"Nº:{note.at:%Y}/{note.number}", size=9, is_bold=True)
    pages.text(44, 12, f"Emitida em: {day} às {note.at:%H:%M:%S}", size=8)
    pages.text(104, 12, f"Competência: {day}", size=8)
    pages.text(144, 12, f"Código de Verificação: {note.verification}", size=7)
    for count, row in enumerate(
        (
            f"CPF/CNPJ: {seller.printed_id}     Inscrição Municipal: {seller.city_id}",
            f"{seller.street}, {seller.quarter} - Cep: {seller.postal_code}",
            f"{seller.place.city}     {seller.place.state}",
            f"Telefone: {seller.phone}     Email: ",
        )
    ):
        pages.text(40, 24 + 4 * count, row, size=7)
    pages.text(40, 20, seller.name, size=9, is_bold=True)
    pages.y = 40
    pages.heading("Tomador do(s) Serviço(s)")
    for row in (
        f"CPF/CNPJ: {ids.printed(taker.tax_id)}     Inscrição Municipal: Não Informado",
        taker.name,
        f"{taker.street} - Cep: {taker.place.postal}-000",
    ):
        pages.y += 4
        pages.text(20, pages.y, row, size=7)
    pages.y += 2
    note_parts.print_done(pages, note, "Discriminação do(s) Serviço(s)")
    pages.heading("Código de Tributação do Município (CTISS)")
    pages.paragraph(2, f"{note.listed.replace('.', '')}-0/01-88 / Serviços", 150)
    _print_two_columns(pages, note)


def _print_two_columns(pages: Sheets, note: Service) -> None:
    """Print the calculation of the net at the left, that of the ISS at the right."""
    left = (
        ("Valor dos serviços:", note.gross),
        ("(-) Descontos:", note.discount),
        ("(-) Retenções Federais:", note.withheld.total),
        ("(-) ISS Retido na Fonte:", note.kept_iss),
        ("Valor Líquido:", note.net),
    )
    right: tuple[tuple[str, Decimal | str], ...] = (
        ("Valor dos serviços:", note.gross),
        ("(-) Deduções:", note.deductions),
        ("(-) Desconto Incondicionado:", note.discount),
        ("(=) Base de Cálculo:", note.base),
        ("(x) Alíquota:", f"{brazilian(note.rate)}%"),
    )
    half = pages.form.width_mm / 2
    for (label, amount), (tax_label, tax_amount) in zip(left, right, strict=True):
        pages.y += 4.5
        pages.text(2, pages.y, label, size=7)
        pages.text(half - 5, pages.y, note_parts.shown(amount), size=7, anchor="right")
        pages.text(half + 5, pages.y, tax_label, size=7)
        pages.text(2 * half - 3, pages.y, note_parts.shown(tax_amount), size=7, anchor="right")
    pages.y += 4.5
    pages.text(half + 5, pages.y, "(=) Valor do ISS:", size=7)
    pages.text(2 * half - 3, pages.y, note_parts.shown(note.iss), size=7, anchor="right")


LAYOUTS: Mapping[str, Layout] = {
    "paulistana": Layout(_paulistana, states=("SP",), has_net=False),
    "carioca": Layout(_carioca, states=("RJ",), has_net=False),
    "ginfes": Layout(_ginfes),
    "betha": Layout(_betha, states=("SC", "RS", "PR", "MG")),
    "issnet": Layout(_issnet),
    "webiss": Layout(_webiss, has_seconds=False),
    "ipm": Layout(_ipm, states=("SC", "PR", "RS")),
    "abrasf": Layout(_abrasf),
    "unlabelled": Layout(_unlabelled, states=("MG", "RS")),
}
