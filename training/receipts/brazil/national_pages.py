"""The DANFSe, the printed form of the national NFS-e, in both versions."""

import datetime as dt
import random
from collections.abc import Mapping
from decimal import Decimal

from training.receipts.brazil import ids, qr, sales
from training.receipts.brazil.sales import brazilian
from training.receipts.brazil.service import Layout, Service
from training.receipts.brazil.sheets import Box, Sheets

_BLANK = "-"


def _first(rng: random.Random, pages: Sheets, note: Service) -> None:
    """Print version 1.0."""
    _print_head(pages, note, "DANFSe v1.0")
    _print_identity(pages, note)
    seller, taker = note.seller, note.taker
    pages.heading("EMITENTE DA NFS-e")
    _print_provider(pages, note, "Prestador do Serviço")
    pages.heading("TOMADOR DO SERVIÇO")
    pages.row(
        [
            Box("CNPJ / CPF / NIF", ids.printed(taker.tax_id)),
            Box("Inscrição Municipal", _BLANK),
            Box("Telefone", _BLANK),
        ]
    )
    pages.row([Box("Nome / Nome Empresarial", taker.name, 2), Box("E-mail", _BLANK, 1)])
    pages.row([Box("Endereço", taker.street, 2), Box("Município", _town(note), 1)])
    pages.text(30, pages.y + 4, "INTERMEDIÁRIO DO SERVIÇO NÃO IDENTIFICADO NA NFS-e", size=6)
    pages.y += 5
    _print_service(pages, note)
    _print_taxes(pages, note)
    pages.heading("VALOR TOTAL DA NFS-E")
    net = Box("Valor Líquido da NFS-e", _reais(note.net), is_bold=True)
    pages.row(
        [
            Box("Valor do Serviço", _reais(note.gross)),
            Box("Desconto Condicionado", _BLANK),
            Box("Desconto Incondicionado", _money(note.discount)),
            Box("ISSQN Retido", _money(note.kept_iss)),
        ]
    )
    pages.row(
        [
            Box("IRRF, CP, CSLL - Retidos", _money(note.withheld.total)),
            Box("PIS/COFINS Retidos", _BLANK),
            Box("", ""),
            net,
        ]
    )
    _print_estimates(pages, note)
    pages.heading("INFORMAÇÕES COMPLEMENTARES")
    pages.paragraph(1, rng.choice(("NBS: 113024000", f"Contrato 17/{seller.city_id[:3]}", "")), 150)


def _second(rng: random.Random, pages: Sheets, note: Service) -> None:
    """Print version 2.0, with the boxes of the tax reform."""
    _print_head(pages, note, "DANFSe v2.0")
    _print_identity(pages, note)
    pages.heading("PRESTADOR / FORNECEDOR")
    _print_provider(pages, note, "Indicador Municipal (Inscrição)")
    taker = note.taker
    pages.heading("TOMADOR / ADQUIRENTE")
    pages.row([Box("CNPJ / CPF / NIF", ids.printed(taker.tax_id)), Box("Telefone", _BLANK)])
    pages.row([Box("Nome / Nome Empresarial", taker.name, 2), Box("E-mail", _BLANK, 1)])
    pages.row([Box("Endereço", taker.street, 2), Box("Município / Sigla UF", _town(note), 1)])
    pages.text(20, pages.y + 4, "DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e", size=6)
    pages.y += 5
    _print_service(pages, note)
    _print_taxes(pages, note)
    ibs, cbs = (sales.cents(note.base * Decimal(rate)) for rate in ("0.001", "0.009"))
    pages.heading("TRIBUTAÇÃO IBS / CBS")
    pages.row(
        [
            Box("CST / cClassTrib", "000 / 000001"),
            Box("BC Após Exclusões", _reais(note.base)),
            Box("Valor Apurado IBS", _reais(ibs)),
            Box("Valor Apurado CBS", _reais(cbs)),
        ]
    )
    pages.heading("VALOR TOTAL DA NFS-e")
    pages.row(
        [
            Box("Valor da Operação / Serviço", _reais(note.gross)),
            Box("Desconto Incondicionado", _money(note.discount)),
            Box("Desconto Condicionado", _BLANK),
            Box(
                "Total das Retenções (ISSQN / Federais)",
                _money(note.withheld.total + note.kept_iss),
            ),
        ]
    )
    pages.row(
        [
            Box("Valor Líquido da NFS-e", _reais(note.net), is_bold=True),
            Box("Total do IBS/CBS", _reais(ibs + cbs)),
            Box("Valor Líquido da NFS-e + IBS/CBS", _reais(note.net + ibs + cbs)),
        ]
    )
    pages.heading("INFORMAÇÕES COMPLEMENTARES")
    pages.paragraph(1, rng.choice(("Sem retenções adicionais.", "Doc. ref. 118", "")), 150)


def _print_head(pages: Sheets, note: Service, version: str) -> None:
    pages.text(70, 5, version, size=11, is_bold=True)
    pages.text(62, 9, "Documento Auxiliar da NFS-e", size=9)
    pages.text(140, 5, f"Município de {note.seller.place.city}", size=7)
    pages.y = 12


def _print_identity(pages: Sheets, note: Service) -> None:
    declared = note.at - dt.timedelta(minutes=1)
    top = pages.y
    rows = (
        (Box("Chave de Acesso da NFS-e", note.key or "", 3),),
        (
            Box("Número da NFS-e", str(note.number)),
            Box("Competência da NFS-e", f"{note.at:%d/%m/%Y}"),
            Box("Data e Hora da emissão da NFS-e", f"{note.at:%d/%m/%Y %H:%M:%S}"),
        ),
        (
            Box("Número da DPS", str(note.rps)),
            Box("Série da DPS", "900"),
            Box("Data e Hora da emissão da DPS", f"{declared:%d/%m/%Y %H:%M:%S}"),
        ),
    )
    for row in rows:
        pages.row([*row, Box("", "", 0.9)])
    side = 3 * 7.6 - 2
    pages.qr(qr.service_note(note.key or ""), pages.form.width_mm - side - 4, top + 1, side)


def _print_provider(pages: Sheets, note: Service, label: str) -> None:
    seller = note.seller
    pages.row(
        [
            Box("CNPJ / CPF / NIF", seller.printed_id),
            Box(label, seller.city_id),
            Box("Telefone", seller.phone),
        ]
    )
    pages.row([Box("Nome / Nome Empresarial", seller.name, 2), Box("E-mail", _BLANK, 1)])
    pages.row(
        [
            Box("Endereço", f"{seller.street}, {seller.quarter}", 2),
            Box("Município", _town(note), 1),
            Box("CEP", seller.postal_code, 0.6),
        ]
    )
    pages.row(
        [
            Box("Simples Nacional na Data de Competência", "Não Optante"),
            Box("Regime de Apuração Tributária pelo SN", _BLANK),
        ]
    )


def _print_service(pages: Sheets, note: Service) -> None:
    pages.heading("SERVIÇO PRESTADO")
    pages.row(
        [
            Box("Código de Tributação Nacional", f"{note.listed}.01 - Serviços"),
            Box("Código de Tributação Municipal", _BLANK),
            Box("Local da Prestação", _town(note)),
            Box("País da Prestação", _BLANK, 0.6),
        ]
    )
    pages.row([Box("Descrição do Serviço", note.done)])


def _print_taxes(pages: Sheets, note: Service) -> None:
    withheld = "Retido pelo Tomador" if note.is_iss_withheld else "Não Retido"
    pages.heading("TRIBUTAÇÃO MUNICIPAL")
    pages.row(
        [
            Box("Tributação do ISSQN", "Operação Tributável"),
            Box("Município da Incidência do ISSQN", _town(note)),
            Box("Regime Especial de Tributação", "Nenhum"),
        ]
    )
    pages.row(
        [
            Box("Valor do Serviço", _reais(note.gross)),
            Box("Desconto Incondicionado", _money(note.discount)),
            Box("Total Deduções/Reduções", _money(note.deductions)),
            Box("BC ISSQN", _reais(note.base)),
        ]
    )
    pages.row(
        [
            Box("Alíquota Aplicada", f"{brazilian(note.rate)}%"),
            Box("Retenção do ISSQN", withheld),
            Box("ISSQN Apurado", _reais(note.iss)),
        ]
    )
    kept = note.withheld
    pages.heading("TRIBUTAÇÃO FEDERAL")
    boxes: Mapping[str, Decimal] = {
        "IRRF": kept.ir,
        "Contribuição Previdenciária - Retida": kept.inss,
        "Contribuições Sociais - Retidas": kept.csll + kept.pis + kept.cofins,
    }
    pages.row([Box(label, _money(amount)) for label, amount in boxes.items()])


def _print_estimates(pages: Sheets, note: Service) -> None:
    pages.heading("TOTAIS APROXIMADOS DOS TRIBUTOS")
    share = sales.cents(note.gross * 13 / 100)
    pages.row([Box("Federais", _reais(share)), Box("Estaduais", _BLANK), Box("Municipais", _BLANK)])


def _town(note: Service) -> str:
    return f"{note.seller.place.city} - {note.seller.place.state}"


def _reais(amount: Decimal) -> str:
    return f"R$ {brazilian(amount)}"


def _money(amount: Decimal) -> str:
    """Return an amount, or a dash if there is none."""
    return _reais(amount) if amount else _BLANK


LAYOUTS: Mapping[str, Layout] = {
    "national 1.0": Layout(_first),
    "national 2.0": Layout(_second, label_size=5.5),
}
