"""Words of Brazilian documents in the spellings of several programs."""

ITEM_DISCOUNTS = ("Desconto", "desconto sobre item", "DESCONTO ITEM", "Desc. item", "(-) Desconto")
CONSUMER_TITLES = (
    ("Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica",),
    ("DANFE NFC-e - Documento Auxiliar da Nota Fiscal Eletrônica para Consumidor Final",),
    (
        "DANFE NFC-e - Documento Auxiliar",
        "da Nota Fiscal de Consumidor Eletrônica",
        "NFC-e não permite aproveitamento de crédito de ICMS",
    ),
    ("DANFE NFC-e", "Documento Auxiliar da Nota Fiscal Eletronica", "para Consumidor Final"),
    ("Documento Auxiliar da Nota Fiscal", "de Consumidor Eletrônica"),
)
SUMS = (
    {
        "count": "Qtde. total de itens",
        "gross": "Valor total R$",
        "discount": "Desconto R$",
        "surcharge": "Acréscimo R$",
        "payable": "Valor a Pagar R$",
    },
    {
        "count": "QTD. TOTAL DE ITENS",
        "gross": "VALOR TOTAL R$",
        "discount": "Descontos R$",
        "surcharge": "Acréscimos R$",
        "payable": "VALOR A PAGAR R$",
    },
    {
        "count": "Qtde. Total de Itens",
        "gross": "Valor Total dos Produtos R$",
        "discount": "Valor Descontos R$",
        "surcharge": "Outras Despesas R$",
        "payable": "Valor a Pagar R$",
    },
    {
        "count": "QUANTIDADE TOTAL DE ITENS",
        "gross": "VALOR TOTAL",
        "discount": "DESCONTO",
        "surcharge": "FRETE",
        "payable": "VALOR A PAGAR",
    },
)
PAYMENT_HEADS = (
    ("FORMA PAGAMENTO", "VALOR PAGO R$"),
    ("FORMA DE PAGAMENTO", "Valor Pago"),
    ("Forma de Pagamento", "Valor Pago R$"),
)
PAYMENTS = (
    "Dinheiro",
    "Cartão de Crédito",
    "Cartão de Débito",
    "PIX",
    "Vale Alimentação",
    "Outros",
)
UNKNOWN_CONSUMERS = (
    "CONSUMIDOR NÃO IDENTIFICADO",
    "Consumidor não identificado",
    "CONSUMIDOR NAO INFORMADO",
)
IDENTITIES = (
    ("NFC-e nº {number:09d} Série {series:03d} {day} {clock}",),
    ("NFC-e nº {number:09d} Série {series:03d}", "{day} {clock}"),
    ("NFC-e n. {number} Serie {series} {day} {clock} - Via Consumidor",),
    ("Número: {number} Série: {series} Emissão: {day} {clock}", "Via Consumidor"),
    ("Número {number:09d} Série {series:03d}", "Emissão {day} {clock} - Via do Consumidor"),
    ("NFC-e Nº: {number} Série: {series}", "Data de Emissão: {day} {clock}"),
    ("EMISSÃO: {day} {clock}", "NFC-e No {number:09d} SERIE {series:03d}"),
    ("Nº {number:09d} SÉRIE {series:03d} EMISSÃO {day} {clock}",),
)
TAXES = (
    "Tributos Totais Incidentes (Lei Federal 12.741/2012): R$ {taxes}",
    "Informação dos Tributos Totais Incidentes (Lei Federal 12.741/2012) R$ {taxes}",
    "Val Aprox dos Tributos R$ {taxes} ({share}%) Fonte: IBPT",
    "Valor aproximado dos tributos R$ {taxes} Federal R$ {federal} Estadual R$ {state}",
    "Trib aprox R$: {federal} Federal e {state} Estadual. Fonte: IBPT",
    "Valor Aprox. dos Tributos: {taxes}",
    "",
)
FAREWELLS = (
    "Obrigado pela preferência! Volte sempre.",
    "PROCON 151 - Operador: JOANA Caixa: 003",
    "Placa: BRA2E19 KM: 84213 Bico: 07",
    "Vendedor: 12 - MARCOS  PDV: 002",
)
