"""Brazilian fiscal papers as different makers set them, with what stands on them."""

from collections.abc import Mapping

from recibo.extract.model import Found, Header, Moment
from tests.extract.typesetting import bare, checked, cnpj, goods_key

CNPJ = cnpj("046413760001")
ISSUER = "".join(filter(str.isalnum, CNPJ))
NFCE_KEY = goods_key(f"312403{ISSUER}65003000123456112345678")
NFE_KEY = goods_key(f"412403{ISSUER}55001000045678187654321")
SERVICE_KEY = checked(f"350950222{ISSUER}0000000000012240212345678" + "9")
CFE_KEY = goods_key(f"352109{ISSUER}59000123456000789123456")

NFCE = f"""
   SUPERMERCADO BH COMERCIO DE ALIMENTOS
                   S.A
CNPJ: {CNPJ}  IE: 0621234567890
AV DOM PEDRO II, 1234, PADRE EUSTAQUIO
BELO HORIZONTE - MG
 DANFE NFC-e - Documento Auxiliar da Nota
     Fiscal de Consumidor Eletronica
------------------------------------------
CODIGO DESCRICAO QTDE UN VL.UNIT VL.TOTAL
7891000100103 LEITE COND MOCA 395G
   2 UN x 7,49                       14,98
000123 BANANA PRATA KG
   1,245 KG x 5,99                    7,46
Qtde. total de itens                     2
Valor total R$                       22,44
Desconto R$                           2,00
Valor a Pagar R$                     20,44
FORMA DE PAGAMENTO           VALOR PAGO R$
Cartao de Debito                     20,44
Consulte pela Chave de Acesso em
http://nfce.fazenda.mg.gov.br/portalnfce
{NFCE_KEY[:34]}
{NFCE_KEY[35:]}
CONSUMIDOR NAO IDENTIFICADO
NFC-e no 000123456 Serie 003 15/03/2024 18:22:10
Protocolo de autorizacao: 131240000000000
Data de autorizacao 15/03/2024 18:22:12
Tributos Totais Incidentes (Lei Federal 12.741/2012): R$ 5,31
"""
NFCE_TRUTH = {
    "type": "nfce",
    "merchant_name": "SUPERMERCADO BH COMERCIO DE ALIMENTOS S.A",
    "merchant_tax_id": ISSUER,
    "issued_at": "2024-03-15T18:22:10-03:00",
    "total": "20.44",
    "subtotal": "22.44",
    "tax": "5.31",
    "currency": "BRL",
    "document_number": "123456",
    "document_key": bare(NFCE_KEY),
}

CFE = f"""
MERCADINHO TRES IRMAOS
COMERCIO DE ALIMENTOS TRES IRMAOS LTDA
RUA AUGUSTA, 1000 CERQUEIRA CESAR SAO PAULO
CNPJ:{CNPJ} IE:111.111.111.111 IM:123
----------------------------------------------
             Extrato No.000789
        CUPOM FISCAL ELETRONICO - SAT
----------------------------------------------
CPF/CNPJ do Consumidor: 123.456.789-09
----------------------------------------------
#|COD|DESC|QTD|UN|VL UN R$|(VL TR R$)*|VL ITEM R$
001 7891234567895 ARROZ TIPO 1 5KG 2,0000 UN X 25,90
(6,10)                                     51,80
desconto sobre item                        -1,00
002 00222 TOMATE ITALIANO 0,8350 KG X 7,99 (1,50) 6,67
Total bruto de itens                       58,47
Total de descontos/acrescimos sobre item   -1,00
TOTAL R$                                   57,47
Dinheiro                                   60,00
Troco R$                                    2,53
----------------------------------------------
OBSERVACOES DO CONTRIBUINTE
Valor aproximado dos tributos deste cupom R$ 7,60
(conforme Lei Fed. 12.741/2012)
            SAT No. 000.123.456
          10/09/2021 - 19:45:33
{CFE_KEY.replace(" ", "-")[:29]}
{CFE_KEY.replace(" ", "-")[30:]}
"""
CFE_TRUTH = {
    "type": "cupom_fiscal",
    "merchant_name": "COMERCIO DE ALIMENTOS TRES IRMAOS LTDA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2021-09-10T19:45:33-03:00",
    "total": "57.47",
    "subtotal": "58.47",
    "tax": "7.60",
    "currency": "BRL",
    "document_number": "789",
    "document_key": bare(CFE_KEY),
}

ECF = f"""
        LOJAS RENASCER DO NORTE S/A
RENASCER
AV PRESIDENTE VARGAS 100 CENTRO BELEM PA
CNPJ: {CNPJ}
IE: 15.123.456-7
IM: ISENTO
--------------------------------------------
10/05/2016 14:22:31 CCF:012345 COO:023456
CNPJ/CPF consumidor: 529.982.247-25
              CUPOM FISCAL
ITEM CODIGO DESCRICAO QTD.UN.VL UNIT(R$) ST VL ITEM(R$)
--------------------------------------------
001 7891234500001 CAMISETA BASICA
              2UNx19,90      T17,00%  39,80
002 7891234500002 MEIA INFANTIL
              3PRx5,99       T17,00%  17,97
SUBTOTAL R$                           57,77
desconto                              -2,77
TOTAL  R$                             55,00
Cartao Credito                        55,00
Val Aprox dos Tributos R$ 15,59 (26,99%) Fonte:IBPT
MD-5: 0123456789ABCDEF0123456789ABCDEF
BEMATECH MP-4000 TH FI ECF-IF
VERSAO:01.00.01 ECF:002 LJ:0001
QQQQQQQQQQWYWERR 10/05/2016 14:23:01
FAB:BE0123456789012345678           BR
"""
ECF_TRUTH = {
    "type": "cupom_fiscal",
    "merchant_name": "LOJAS RENASCER DO NORTE S/A",
    "merchant_tax_id": ISSUER,
    "issued_at": "2016-05-10T14:22:31-03:00",
    "total": "55.00",
    "subtotal": "57.77",
    "tax": "15.59",
    "currency": "BRL",
    "document_number": "23456",
    "document_key": None,
}

# Landscape: the stub is turned at the left edge and gives no text; the box holds the name.
NFE = f"""
 IDENTIFICACAO DO EMITENTE                                    DANFE                          CONTROLE DO FISCO
                                                    Documento Auxiliar da Nota
 METALURGICA SAO JORGE DO PARANA LTDA                    Fiscal Eletronica
 Rodovia BR 277, km 102, s/n                           0 - ENTRADA    1          CHAVE DE ACESSO
 Cidade Industrial - 81170-000                         1 - SAIDA                 {NFE_KEY}
 Curitiba - PR  Fone (41) 3333-4444                    N. 000.045.678
                                                       SERIE 001                 Consulta de autenticidade no portal nacional da NF-e
                                                       FOLHA 1/1                 www.nfe.fazenda.gov.br/portal
 NATUREZA DA OPERACAO                                                            PROTOCOLO DE AUTORIZACAO DE USO
 VENDA DE PRODUCAO DO ESTABELECIMENTO                                            141240000012345 - 12/03/2024 10:11:12
 INSCRICAO ESTADUAL                 INSC. EST. DO SUBST. TRIB.                   CNPJ
 9012345678                                                                      {CNPJ}
 DESTINATARIO / REMETENTE
 NOME / RAZAO SOCIAL                                        CNPJ / CPF                      DATA DA EMISSAO
 CONSTRUTORA ALFA LTDA                                      11.222.333/0001-81              12/03/2024
 ENDERECO                                  BAIRRO / DISTRITO          CEP                   DATA DA SAIDA/ENTRADA
 RUA A, 10                                 CENTRO                     80010-000             12/03/2024
 MUNICIPIO                          UF     FONE / FAX                 INSCRICAO ESTADUAL    HORA DA SAIDA
 CURITIBA                           PR     4133334444                                       08:00:00
 CALCULO DO IMPOSTO
 BASE DE CALCULO DO ICMS   VALOR DO ICMS   BASE DE CALCULO DO ICMS SUBST.   VALOR DO ICMS SUBST.   VALOR TOTAL DOS PRODUTOS
                1.000,00          180,00                             0,00                   0,00                   1.000,00
 VALOR DO FRETE   VALOR DO SEGURO   DESCONTO   OUTRAS DESPESAS ACESSORIAS   VALOR TOTAL DO IPI   VALOR TOTAL DA NOTA
          10,00              0,00       0,00                         0,00                50,00              1.060,00
 DADOS DO PRODUTO / SERVICO
 COD. PROD.  DESCRICAO DO PRODUTO / SERVICO            NCM/SH    CST  CFOP  UN   QTDE      VLR. UNIT.   VLR. TOTAL   BC ICMS   VLR. ICMS  VLR. IPI  %ICMS  %IPI
 P-100/A     PERFIL DE ACO GALVANIZADO CHAPA 18        72166190  000  5101  KG   100,000        5,0000       500,00    500,00      90,00     25,00  18,00  5,00
             DOBRADO A FRIO 6 METROS
 P-200       TELHA TRAPEZOIDAL                         72104910  000  5101  M2     20,000      25,0000       500,00    500,00      90,00     25,00  18,00  5,00
 DADOS ADICIONAIS
 INFORMACOES COMPLEMENTARES                                                             RESERVADO AO FISCO
 Pedido 1234
"""  # noqa: E501
NFE_TRUTH = {
    "type": "nfe",
    "merchant_name": "METALURGICA SAO JORGE DO PARANA LTDA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2024-03-12T08:00:00-03:00",
    "total": "1060.00",
    "subtotal": "1000.00",
    "tax": "180.00",
    "currency": "BRL",
    "document_number": "45678",
    "document_key": bare(NFE_KEY),
}

LABEL = f"""
DANFE SIMPLIFICADO - ETIQUETA
CHAVE DE ACESSO
{NFE_KEY}
PROTOCOLO DE AUTORIZACAO DE USO
141240000012345 12/03/2024 10:11:12
EMITENTE
NOME / RAZAO SOCIAL
METALURGICA SAO JORGE DO PARANA LTDA
CNPJ                  IE            UF
{CNPJ}    9012345678    PR
DADOS GERAIS DA NF-e
TIPO OPERACAO: 1 - SAIDA
NUMERO: 45678   SERIE: 1   EMISSAO: 12/03/2024
DESTINATARIO
NOME / RAZAO SOCIAL
CONSTRUTORA ALFA LTDA
CNPJ                  IE            UF
11.222.333/0001-81                  PR
VALOR TOTAL DA NF-e: R$ 1.060,00
"""
LABEL_TRUTH = NFE_TRUTH | {"issued_at": "2024-03-12T00:00:00-03:00", "subtotal": None, "tax": None}

# Box at the top right, headings in the middle, values beside their labels.
NFSE_BOXED = f"""
                          PREFEITURA DA CIDADE DO RIO DE JANEIRO                        Numero da Nota
                              SECRETARIA MUNICIPAL DE FAZENDA                           00001234
                       NOTA FISCAL DE SERVICOS ELETRONICA - NFS-e                       Data e Hora de Emissao
                                    - NOTA CARIOCA -                                    05/07/2023 17:45:10
                                                                                        Codigo de Verificacao
                                                                                        ABCD-1234
                                   PRESTADOR DE SERVICOS
   CPF/CNPJ: {CNPJ}       Inscricao Municipal: 0.123.456-7     Inscricao Estadual: ----
   Nome/Razao Social: ESTUDIO DE DESIGN GUANABARA LTDA
   Endereco: RUA DO OUVIDOR 50, SALA 301 - CENTRO - CEP: 20040-030
   Municipio: RIO DE JANEIRO          UF: RJ      E-mail: contato@guanabara.com.br
                                   TOMADOR DE SERVICOS
   CPF/CNPJ: 11.222.333/0001-81      Inscricao Municipal: ----
   Nome/Razao Social: CONSTRUTORA ALFA LTDA
   Municipio: CURITIBA                UF: PR
                                 DISCRIMINACAO DOS SERVICOS
   Criacao de identidade visual

   Vencimento 20/07/2023

                                VALOR DA NOTA = R$ 1.500,00
   Deducoes (R$)    Desconto Incond. (R$)    Base de Calculo (R$)   Aliquota (%)   Valor do ISS (R$)   Credito p/ IPTU (R$)
            0,00                     0,00               1.500,00          5,00%               75,00                  0,00
                                   OUTRAS INFORMACOES
   - Esta NFS-e foi emitida com respaldo na Lei n 5.098 de 15/10/2009
"""  # noqa: E501
NFSE_BOXED_TRUTH = {
    "type": "nfse",
    "merchant_name": "ESTUDIO DE DESIGN GUANABARA LTDA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2023-07-05T17:45:10-03:00",
    "total": "1500.00",
    "subtotal": "1500.00",
    "tax": "75.00",
    "currency": "BRL",
    "document_number": "1234",
    "document_key": None,
}

# No labels before name and address; the net differs from the gross.
NFSE_BARE = f"""
MUNICIPIO DE BLUMENAU                                  NFS-e No: 5678
Nota Fiscal de Servico Eletronica                      Serie: 1
                                                       Emitida em: 01/04/2022 16:20
PRESTADOR DO SERVICO
SOFTWARE HOUSE VALE EUROPEU LTDA
CNPJ: {CNPJ}   Insc. Municipal: 99887
RUA XV DE NOVEMBRO, 999 - CENTRO - BLUMENAU/SC - CEP 89010-000
TOMADOR DO SERVICO
CONSTRUTORA ALFA LTDA
CNPJ: 11.222.333/0001-81
RUA A, 10 - CURITIBA/PR
DESCRICAO DOS SERVICOS PRESTADOS
Licenciamento de software mensal
Valor do Servico   Deducoes   Base de Calculo   Aliquota   Valor ISS   ISS Retido   Valor Liquido
        350,00       0,00          350,00       2,00 %       7,00        7,00         343,00
"""
NFSE_BARE_TRUTH = {
    "type": "nfse",
    "merchant_name": "SOFTWARE HOUSE VALE EUROPEU LTDA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2022-04-01T16:20:00-03:00",
    "total": "343.00",
    "subtotal": "350.00",
    "tax": "7.00",
    "currency": "BRL",
    "document_number": "5678",
    "document_key": None,
}

# The national layout of 2023: headings level with labels, dashes for what is not there.
NFSE_NATIONAL = f"""
  DANFSe v1.0                                                              MUNICIPIO DE CAMPINAS
  Documento Auxiliar da NFS-e                                              Secretaria de Financas
  Chave de Acesso da NFS-e
  {SERVICE_KEY}
  Numero da NFS-e           Competencia da NFS-e         Data e Hora da emissao da NFS-e
  12                        01/02/2024                   01/02/2024 10:00:00
  Numero da DPS             Serie da DPS                 Data e Hora da emissao da DPS       A autenticidade desta NFS-e pode ser verificada
  12                        900                          01/02/2024 09:59:58                 pela leitura deste codigo QR
  EMITENTE DA NFS-e         CNPJ / CPF / NIF             Inscricao Municipal                 Telefone
  Prestador do Servico      {CNPJ}           -                                   (19) 3222-1111
  Nome / Nome Empresarial                                E-mail
  52.123.456 MARIA APARECIDA DE SOUZA                    MARIA@EXEMPLO.COM.BR
  Endereco                                               Municipio                           CEP
  RUA BARAO, 99, CENTRO                                  Campinas - SP                       13010-000
  Simples Nacional na Data de Competencia                Regime de Apuracao Tributaria pelo SN
  Optante - Microempreendedor Individual (MEI)           -
  TOMADOR DO SERVICO        CNPJ / CPF / NIF             Inscricao Municipal                 Telefone
                            11.222.333/0001-81           -                                   -
  Nome / Nome Empresarial                                E-mail
  CONSTRUTORA ALFA LTDA                                  -
  INTERMEDIARIO DO SERVICO NAO IDENTIFICADO NA NFS-e
  SERVICO PRESTADO
  Codigo de Tributacao Nacional    Codigo de Tributacao Municipal   Local da Prestacao    Pais da Prestacao
  01.07.01 - Suporte tecnico em    -                                Campinas - SP         -
  informatica
  Descricao do Servico
  Manutencao de computadores e rede, janeiro
  TRIBUTACAO MUNICIPAL
  Tributacao do ISSQN              Pais Resultado da Prestacao do Servico   Municipio de Incidencia do ISSQN   Regime Especial de Tributacao
  Operacao Tributavel              -                                        Campinas - SP                      Nenhum
  Valor do Servico                 Desconto Incondicionado                  Total Deducoes/Reducoes            Calculo do BM
  R$ 1.000,00                      -                                        -                                  -
  BC ISSQN                         Aliquota Aplicada                        Retencao do ISSQN                  ISSQN Apurado
  -                                -                                        Nao Retido                         -
  TRIBUTACAO FEDERAL
  IRRF                             CP                                       CSLL
  -                                -                                        -
  VALOR TOTAL DA NFS-E
  Valor do Servico                 Desconto Condicionado                    Desconto Incondicionado            ISSQN Retido
  R$ 1.000,00                      R$                                       R$                                 -
  IRRF, CP, CSLL - Retidos         PIS/COFINS Retidos                       Valor Liquido da NFS-e
  R$ 0,00                          -                                        R$ 1.000,00
  TOTAIS APROXIMADOS DOS TRIBUTOS
  Federais                         Estaduais                                Municipais
  -                                -                                        -
"""  # noqa: E501
NFSE_NATIONAL_TRUTH = {
    "type": "nfse",
    "merchant_name": "52.123.456 MARIA APARECIDA DE SOUZA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2024-02-01T10:00:00-03:00",
    "total": "1000.00",
    "subtotal": "1000.00",
    "tax": None,
    "currency": "BRL",
    "document_number": "12",
    "document_key": SERVICE_KEY,
}

# The description is a table of its own.
NFSE_TABLE = f"""
PREFEITURA MUNICIPAL DE CRICIUMA
NOTA FISCAL ELETRONICA DE SERVICOS
No: 000987          Emissao: 02/03/2024 08:15:00       Chave: AB12-CD34
PRESTADOR DE SERVICOS
Nome: TRANSPORTES LITORAL LTDA
CNPJ: {CNPJ}        Insc. Mun.: 4455
Rua Henrique Lage, 222 - Centro
Criciuma - SC
TOMADOR DE SERVICOS
Nome: CONSTRUTORA ALFA LTDA
CNPJ: 11.222.333/0001-81
DISCRIMINACAO DOS SERVICOS
Item   Descricao                          Qtde    Valor Unitario    Valor Total
1      Frete municipal                    3       150,00            450,00
VALOR TOTAL DA NOTA R$ 450,00
Base de Calculo do ISS: 450,00    Aliquota: 3,00%   Valor do ISS: 13,50   Valor Liquido: 450,00
"""
NFSE_TABLE_TRUTH = {
    "type": "nfse",
    "merchant_name": "TRANSPORTES LITORAL LTDA",
    "merchant_tax_id": ISSUER,
    "issued_at": "2024-03-02T08:15:00-03:00",
    "total": "450.00",
    "subtotal": "450.00",
    "tax": "13.50",
    "currency": "BRL",
    "document_number": "987",
    "document_key": None,
}

# Portrait: a stub above, the number twice, all taxes in a box, no hour of departure.
NFE_STUB = f"""
RECEBEMOS DE COMERCIO DE FERRAGENS UNIAO LTDA EPP OS PRODUTOS E/OU SERVICOS CONSTANTES DA NOTA FISCAL      NF-e
ELETRONICA INDICADA AO LADO                                                                               No 000.045.678
DATA DE RECEBIMENTO    IDENTIFICACAO E ASSINATURA DO RECEBEDOR                                            SERIE 001
COMERCIO DE FERRAGENS UNIAO            DANFE
LTDA EPP                               Documento Auxiliar da     CHAVE DE ACESSO
RUA DOS PINHEIROS, 500                 Nota Fiscal Eletronica    {NFE_KEY}
CURITIBA - PR                          0 - Entrada  1
                                       1 - Saida
                                       No 000.045.678
NATUREZA DA OPERACAO                                             PROTOCOLO DE AUTORIZACAO DE USO
VENDA                                                            141240000012345 12/03/2024 10:11:12
INSCRICAO ESTADUAL        INSC. EST. SUBST. TRIB.                CNPJ/CPF
9012345678                                                       {CNPJ}
DESTINATARIO/REMETENTE
NOME/RAZAO SOCIAL                                                CNPJ/CPF                DATA EMISSAO
JOAO DA SILVA                                                    529.982.247-25          12/03/2024
ENDERECO                                                         BAIRRO     CEP          DATA SAIDA
RUA A, 10                                                        CENTRO     80010-000
MUNICIPIO                          FONE/FAX       UF             IE                      HORA SAIDA
CURITIBA                                          PR
CALCULO DO IMPOSTO
BASE CALC. ICMS    VALOR ICMS    BASE CALC. ICMS ST    VALOR ICMS ST    V. TOT. TRIB.    VALOR TOTAL PRODUTOS
150,00             27,00         0,00                  0,00             35,10            150,00
VALOR FRETE        VALOR SEGURO  DESCONTO              OUTRAS DESP.     VALOR IPI        VALOR TOTAL NOTA
0,00               0,00          10,00                 0,00             0,00             140,00
DADOS DO PRODUTO/SERVICO
CODIGO    DESCRICAO                     NCM       CST   CFOP   UN    QTD     V. UNIT     V. TOTAL    BC ICMS   V. ICMS   V. IPI   ICMS%   IPI%
MART-01   MARTELO UNHA CABO MADEIRA     82052000  000   5102   PC    3,00    50,00       150,00      150,00    27,00     0,00     18      0
"""  # noqa: E501
NFE_STUB_TRUTH = NFE_TRUTH | {
    "merchant_name": "COMERCIO DE FERRAGENS UNIAO LTDA EPP",
    "issued_at": "2024-03-12T00:00:00-03:00",
    "total": "140.00",
    "subtotal": "150.00",
    "tax": "35.10",
}

Truth = Mapping[str, str | None]


def said(fiscal: Header | None) -> Truth:
    """Return the values of a record as texts."""
    assert fiscal is not None
    return {field: _text(getattr(fiscal, field)) for field in NFCE_TRUTH}


def _text(found: Found[object] | None) -> str | None:
    if found is None:
        return None
    assert found.text
    assert 0 < found.confidence <= 1
    return found.value.isoformat() if isinstance(found.value, Moment) else str(found.value)
