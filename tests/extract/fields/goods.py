"""Lists of goods as tills and makers of invoices of several countries set them."""

Row = tuple[str, str | None, str | None, str | None]

LISTS: dict[str, tuple[str, list[Row]]] = {
    "weights above, refunds": (
        """
        WHOLESOME MARKET
      123 MAIN ST AUSTIN TX
ORG BANANAS
  2.34 lb @ 0.69/lb              1.61 F
365 ALMOND MILK                  3.49 F
EGGS LARGE BROWN                 4.99 F
BAG REFUND                      -0.10
SUBTOTAL                         9.99
TAX                              0.00
TOTAL                            9.99
VISA                             9.99
""",
        [
            ("ORG BANANAS", "2.34", "0.69", "1.61"),
            ("365 ALMOND MILK", None, None, "3.49"),
            ("EGGS LARGE BROWN", None, None, "4.99"),
            ("BAG REFUND", None, None, "-0.10"),
        ],
    ),
    "headings in two rows": (
        """
PANIFICADORA REI DO SUL LTDA
CNPJ: 11.222.333/0001-81
CUPOM FISCAL ELETRONICO - SAT
#   COD   DESC   QTD   UN   VL UN R$  (VL
TR R$)*  VL ITEM R$
001 7894377500728 SONHO DE CREME
25 UN X 5,10 (34,88)              127,50
Total bruto de itens              127,50
Desconto sobre subtotal            -6,38
TOTAL R$                          121,12
""",
        [("SONHO DE CREME", "25", "5.10", "127.50")],
    ),
    "taxes in brackets, totals below": (
        """
AUTO POSTO BURITI LTDA
CNPJ: 11.222.333/0001-81
CUPOM FISCAL ELETRONICO - SAT
001 2001 GASOLINA ADITIVADA
50,115 L X 6,099 (55,60)
                                  305,65
002 2002 AREIA M3 FINA
1,000 KG X 72,09                   72,09
003 2003 BRITA
44 M3 145,00                    6.380,00
TOTAL R$                        6.757,74
Outros                          6.757,74
""",
        [
            ("GASOLINA ADITIVADA", "50.115", "6.099", "305.65"),
            ("AREIA M3 FINA", "1.000", "72.09", "72.09"),
            ("BRITA", "44", "145.00", "6380.00"),
        ],
    ),
    "figures with their labels": (
        """
PADARIA SAO BENTO LTDA
CNPJ: 11.222.333/0001-81
DANFE NFC-e
7891 - CAFE TORRADO 500G
Qtde.:2 UN: UN Vl. Unit.: 19,00  38,00
7892 - PRESUNTO COZIDO
Qtde.:0,535 UN: KG Vl. Unit.: 39,9    21,35
7893 - LUVA TAM. G
Qtde: 1 Unid: PAR Valor Unit: 10,395  10,40
QTD TOTAL DE ITENS                   3
Valor Total R$                   69,75
FORMA PAGAMENTO             VALOR PAGO
PIX                              69,75
""",
        [
            ("CAFE TORRADO 500G", "2", "19.00", "38.00"),
            ("PRESUNTO COZIDO", "0.535", "39.9", "21.35"),
            ("LUVA TAM. G", "1", "10.395", "10.40"),
        ],
    ),
    "details below": (
        """
MUSTERMARKT GmbH
Domstr. 20
50668 Koeln
                          EUR
BANANE CHIQUITA          1,99 B
   0,996 kg x  2,00 EUR/kg
MILCH 3,5%               2,58 B
   2 Stk x  1,29
PFAND 0,25 EURO          0,50 A*
   2 Stk x  0,25
--------------------------------
SUMME           EUR      5,07
Geg. BAR        EUR     10,00
Rueckgeld BAR   EUR      4,93
""",
        [
            ("BANANE CHIQUITA", "0.996", "2.00", "1.99"),
            ("MILCH 3,5%", "2", "1.29", "2.58"),
            ("PFAND 0,25 EURO", "2", "0.25", "0.50"),
        ],
    ),
    "details above": (
        """
SUPERMERCADO DEL BARRIO
C/ MAYOR 3 MADRID
2 x 1,20
LECHE ENTERA             2,40
PAN BARRA                0,85
3 x 0,50
AGUA 50CL                1,50
TOTAL                    4,75
EFECTIVO                 5,00
CAMBIO                   0,25
""",
        [
            ("LECHE ENTERA", "2", "1.20", "2.40"),
            ("PAN BARRA", None, None, "0.85"),
            ("AGUA 50CL", "3", "0.50", "1.50"),
        ],
    ),
    "names above codes": (
        """
KEDAI RUNCIT ALI SDN BHD
NO 5 JALAN BESAR
ITEM          QTY   U/P    AMOUNT
GULA PASIR 1KG
9556001234567   2   2.85     5.70 SR
MINYAK MASAK
9556007654321   1   6.70     6.70 ZR
SUB TOTAL                   12.40
GST 6%                       0.34
ROUNDING                     0.01
TOTAL                       12.75
CASH                        20.00
""",
        [("GULA PASIR 1KG", "2", "2.85", "5.70"), ("MINYAK MASAK", "1", "6.70", "6.70")],
    ),
    "names below codes": (
        """
BIG ELECTRONICS #478
LONG ISLAND CITY, NY 11101

4274779 25301475            16.99
50PK BLANK DISCS
4766809 7981A004             9.99
PHOTO MATTE PAPER

SUBTOTAL                    26.98
TOTAL                       26.98
""",
        [
            ("50PK BLANK DISCS", None, None, "16.99"),
            ("PHOTO MATTE PAPER", None, None, "9.99"),
        ],
    ),
    "quantities in front": (
        """
LE PETIT BISTROT
12 rue de la Paix 75002 Paris
Table 5   Couverts 2
2 Menu midi        18.50     37.00
1 Verre de vin      5.00      5.00
2 Cafe              2.20      4.40
1 Remise fidelite            -1.40
TOTAL TTC                    45.00
Dont TVA 10%                  4.09
CB                           45.00
""",
        [
            ("Menu midi", "2", "18.50", "37.00"),
            ("Verre de vin", "1", "5.00", "5.00"),
            ("Cafe", "2", "2.20", "4.40"),
            ("Remise fidelite", "1", None, "-1.40"),
        ],
    ),
    "money without decimals": (
        """
WARUNG MAKAN SEDERHANA
Nasi Goreng      2   25.000    50.000
Es Teh           2    5.000    10.000
Total                          60.000
Tunai                         100.000
Kembali                        40.000
""",
        [("Nasi Goreng", "2", "25000", "50000"), ("Es Teh", "2", "5000", "10000")],
    ),
    "tax digit behind amounts": (
        """
ILIOS Restaurant
4x Hausbier Original a 3,00 12,00 1
1x Grosses Wasser            2,40 1
1x Gyros                     8,90 1
1x Stifado                  14,901
Summe:             Eur      38,20
""",
        [
            ("Hausbier Original", "4", "3.00", "12.00"),
            ("Grosses Wasser", "1", None, "2.40"),
            ("Gyros", "1", None, "8.90"),
            ("Stifado", "1", None, "14.90"),
        ],
    ),
    "final prices": (
        """
Citadel Outlet
WMNS RUNNING SHOE        $59.99
Discount:               $-20.00
Final Price              $39.99 T
CLASSIC SNEAKER          $74.99 T
Item Percent Discount   $-15.00
Final Price              $59.99 T
Subtotal                 $99.98
Tax                      $10.00
Total                   $109.98
""",
        [
            ("WMNS RUNNING SHOE", None, None, "39.99"),
            ("CLASSIC SNEAKER", None, None, "59.99"),
        ],
    ),
    "invoice": (
        """
ACME Consulting Ltd                                                                 INVOICE
1 High Street, London                                                    Invoice No: INV-2024-001
Bill To: Client plc                                                      Date: 12 March 2024

Description                                      Hours       Rate          Amount
---------------------------------------------------------------------------------
Software development - backend services             40      95.00        3,800.00
Code review                                       12.5      95.00        1,187.50
Notes: two pull requests
Travel expenses                                                            250.00
                                                      Subtotal            5,237.50
                                                      VAT (20%)           1,047.50
                                                      Total Due          £6,285.00
""",
        [
            ("Software development - backend services", "40", "95.00", "3800.00"),
            ("Code review", "12.5", "95.00", "1187.50"),
            ("Travel expenses", None, None, "250.00"),
        ],
    ),
    "rechnung": (
        """
Muster GmbH                                                                  Rechnung Nr. 2024-17
Pos.  Artikel-Nr.  Bezeichnung                        Menge  Einheit  Einzelpreis   Gesamtpreis
1     A-1001       Schrauben M8x40 verzinkt           1.000  Stk           0,12 €      120,00 €
2     B-2002       Unterlegscheiben                     500  Stk           0,03 €       15,00 €
3     C-3003       Montageleistung                        8  Std          55,00 €      440,00 €
                                                            Nettobetrag                575,00 €
                                                            zzgl. 19% MwSt.            109,25 €
                                                            Rechnungsbetrag            684,25 €
""",
        [
            ("Schrauben M8x40 verzinkt", "1000", "0.12", "120.00"),
            ("Unterlegscheiben", "500", "0.03", "15.00"),
            ("Montageleistung", "8", "55.00", "440.00"),
        ],
    ),
    "a bill in sections": (
        """
Cloud Services Invoice                                            Invoice Number: 42183017
                                                                  TOTAL AMOUNT DUE        $4.10
  Summary
    Service Charges                                                                       $4.10
      Charges                                                                             $4.10
      Credits                                                                             $0.00
  Total for this invoice                                                                  $4.10
  Detail
    Data Transfer                                                                         $0.01
      Charges                                                                             $0.01
      VAT                                                                                 $0.00
    Elastic Compute                                                                       $1.87
      Charges                                                                             $1.87
      VAT                                                                                 $0.00
    Storage                                                                               $2.22
      Charges                                                                             $2.22
      VAT                                                                                 $0.00
""",
        [
            ("Data Transfer", None, None, "0.01"),
            ("Elastic Compute", None, None, "1.87"),
            ("Storage", None, None, "2.22"),
        ],
    ),
    "amounts slipped a row": (
        """
BISTRO CENTRAL
12 CANAL STREET


                     8.00
1 Soup of the day    7.50
1 Lamb chops        12.00
I Iced tea
                    27.50
TOTAL               30.00
CASH                 2.50
CHANGE
""",
        [
            ("Soup of the day", "1", None, "8.00"),
            ("Lamb chops", "1", None, "7.50"),
            ("Iced tea", "1", None, "12.00"),
        ],
    ),
    "amounts right behind the names": (
        """
CAFE MORGENROT GMBH
Kaffee 2 x 2,50  5,00
Kuchen mit Sahne  3,90
SUMME EUR  8,90
Bar  10,00
Rueckgeld  1,10
""",
        [("Kaffee", "2", "2.50", "5.00"), ("Kuchen mit Sahne", None, None, "3.90")],
    ),
    "a word much like a total abroad": (
        """
CARREFOUR CITY
CAFE MOULU             3,49
LAIT X6                5,94
TOTAL A PAYER          9,43
CB                     9,43
""",
        [("CAFE MOULU", None, None, "3.49"), ("LAIT X6", None, None, "5.94")],
    ),
    "a letter misread in the subtotal": (
        """
TACOS EL GORDO
Tacos               75.00
Refresco            20.00
SUBT0TAL            95.00
IVA 16%             15.20
TOTAL              110.20
""",
        [("Tacos", None, None, "75.00"), ("Refresco", None, None, "20.00")],
    ),
    "weight between name and amount": (
        """
POSTO CENTRO LTDA
GASOLINA COMUM
32,150 L x 6,299
                   202,51
TOTAL R$           202,51
CARTAO             202,51
""",
        [("GASOLINA COMUM", "32.150", "6.299", "202.51")],
    ),
    "rows counted": (
        """
LOCKSMITH
1 NORMAL KEY    4 x 4.00   16.00
2 LONG KEY      1 x 5.00    5.00
3 KEY RING      2 x 1.00    2.00
TOTAL                      23.00
CASH                       23.00
""",
        [
            ("NORMAL KEY", "4", "4.00", "16.00"),
            ("LONG KEY", "1", "5.00", "5.00"),
            ("KEY RING", "2", "1.00", "2.00"),
        ],
    ),
    "quantities that seem to count the rows": (
        """
MERCADO MAYOR
1 LECHE ENTERA              0,95
2 PAN BARRA       0,60      1,20
TOTAL EUR                   2,15
TARJETA                     2,15
""",
        [("LECHE ENTERA", "1", None, "0.95"), ("PAN BARRA", "2", "0.60", "1.20")],
    ),
    "prices without decimals": (
        """
TOKYO RAMEN BAR
14 Mar 2026 20:10
Table 5
Ramen                 1,200
Gyoza                   600
Beer                    700
Total             JPY 2,500
""",
        [
            ("Ramen", None, None, "1200"),
            ("Gyoza", None, None, "600"),
            ("Beer", None, None, "700"),
        ],
    ),
    "numbers above prices without decimals": (
        """
SUPERMERCADO LIDER
RUT 76.134.941-4
BOLETA ELECTRONICA N 123456
14-03-2026 19:02
PAN MARRAQUETA             1.290
LECHE 1L                   1.090
TOTAL $                    2.380
EFECTIVO                   5.000
VUELTO                     2.620
""",
        [("PAN MARRAQUETA", None, None, "1290"), ("LECHE 1L", None, None, "1090")],
    ),
    "a letter with amounts": (
        """
Dear customer, thank you for your order of 12 March 2024, placed in our shop in London

Our usual delivery fee for parcels of this size and weight in the whole country is        4.99
We would like to offer you a voucher for your next purchase, to be used this year, of    10.00
Yours sincerely, the whole team of the shop, always at your service in word and deed
""",
        [],
    ),
    "a bill without goods": (
        """
PARKING CITY CENTRE
ENTRY 10:00 EXIT 12:30
TOTAL  5.00
CASH  10.00
CHANGE 5.00
""",
        [],
    ),
}
