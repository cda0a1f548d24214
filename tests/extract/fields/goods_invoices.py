"""Lists of goods as makers of invoices in several countries set them."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "goods behind a sum in between": (
        """
Musterbau GmbH                    Rechnung Nr. 2026-118
Industriestr. 4, 70565 Stuttgart                    Datum 14.03.2026
Kunde: Beispiel AG

Pos   Artikel        Bezeichnung                Menge   Einheit   Einzelpreis   Rabatt    Betrag
1     4711-A         Fassadenfarbe weiss 10 l       3   Eimer          89,90      5 %     256,22
                     matt, wetterbestaendig
2     4712-B         Malerrolle 25 cm               5   Stk             7,45                37,25
3     0815           Anfahrt                        1   psch           45,00                45,00
Zwischensumme Material                                                                    338,47
4     9001           Arbeitsstunden Geselle     12,50   Std            52,00               650,00
                                                              Summe netto                  988,47
                                                              MwSt. 19 %                   187,81
                                                              Rechnungsbetrag            1.176,28
""",
        [
            ("Fassadenfarbe weiss 10 l matt, wetterbestaendig", "3", "89.90", "256.22"),
            ("Malerrolle 25 cm", "5", "7.45", "37.25"),
            ("Anfahrt", "1", "45.00", "45.00"),
            ("Arbeitsstunden Geselle", "12.50", "52.00", "650.00"),
        ],
    ),
    "two columns of names": (
        """
BRIGHT ELECTRIC LLC                    INVOICE #10442
88 Elm Street, Denver CO                    Date: 03/14/2026
Bill To: Carla Mendez

DATE         ACTIVITY    DESCRIPTION                     QTY     RATE      AMOUNT
03/10/2026   Labor       Panel upgrade                     6   110.00      660.00
03/10/2026   Materials   200A breaker panel                1   389.95      389.95
03/11/2026   Labor       Outlet installation               2   110.00      220.00
                                               SUBTOTAL                  1,269.95
                                               TAX                          31.20
                                               TOTAL                     1,301.15
                                               BALANCE DUE              $1,301.15
""",
        [
            ("Labor Panel upgrade", "6", "110.00", "660.00"),
            ("Materials 200A breaker panel", "1", "389.95", "389.95"),
            ("Labor Outlet installation", "2", "110.00", "220.00"),
        ],
    ),
    "sections with a title and a sum": (
        """
Studio Lumen                                                       Invoice 88
Item                                       Hours     Rate      Total
Design
Logo concept                                  10    80.00     800.00
Brand guide                                    6    80.00     480.00
Subtotal Design                                              1,280.00
Development
Website front end                             20    90.00    1,800.00
Hosting setup                                  2    90.00      180.00
Subtotal Development                                         1,980.00
                                             Subtotal        3,260.00
                                             VAT 20%           652.00
                                             Total           3,912.00
""",
        [
            ("Logo concept", "10", "80.00", "800.00"),
            ("Brand guide", "6", "80.00", "480.00"),
            ("Website front end", "20", "90.00", "1800.00"),
            ("Hosting setup", "2", "90.00", "180.00"),
        ],
    ),
    "delivery with a quantity": (
        """
Webwinkel De Fiets B.V.                                               Factuur 2026-0331
Aantal   Omschrijving                               Prijs      BTW      Totaal
2        Binnenband 28 inch                          € 6,95     21%     € 13,90
1        Fietsbel messing                           € 12,50     21%     € 12,50
1        Verzendkosten                               € 4,95     21%      € 4,95
                                                  Subtotaal           € 25,91
                                                  BTW 21%              € 5,44
                                                  Totaal              € 31,35
""",
        [
            ("Binnenband 28 inch", "2", "6.95", "13.90"),
            ("Fietsbel messing", "1", "12.50", "12.50"),
            ("Verzendkosten", "1", "4.95", "4.95"),
        ],
    ),
    "discounts in a column": (
        """
Rossi Forniture S.r.l.                    FATTURA N. 118
Codice   Descrizione              U.M.   Q.tà      Prezzo unit.    Sc.%    Importo     IVA
A001     Carta A4 500 fogli       PZ     10              3,90               39,00      22
A045     Toner nero originale   PZ      2             28,50      10       51,30      22
S010     Spese di trasporto       NR      1              9,00                9,00      22
                                       Imponibile                          99,30
                                       IVA 22%                             21,85
                                       Totale fattura                     121,15
""",
        [
            ("Carta A4 500 fogli", "10", "3.90", "39.00"),
            ("Toner nero originale", "2", "28.50", "51.30"),
            ("Spese di trasporto", "1", "9.00", "9.00"),
        ],
    ),
    "thousands parted by a blank in a table": (
        """
Firma Kowalski                    FAKTURA VAT 12/2026
Lp.   Nazwa              Jm    Ilość   Cena netto    VAT   Wartość netto   Wartość brutto
1     Monitor 24 Zoll   szt       2       500,00    23%        1 000,00         1 230,00
2     Kabel HDMI         szt       3        20,00    23%           60,00            73,80
                                              Razem             1 060,00         1 303,80
                                              Do zapłaty                         1 303,80
""",
        [
            ("Monitor 24 Zoll", "2", "500.00", "1000.00"),
            ("Kabel HDMI", "3", "20.00", "60.00"),
        ],
    ),
    "a table in Japanese": (
        """
株式会社サンプル                                      請求書
品名                                数量      単価        金額
ノートパソコン                         2   120,000     240,000
マウス                                 2     3,500       7,000
設定費用                               1    15,000      15,000
                                     小計             262,000
                                     消費税            26,200
                                     合計             288,200
""",
        [
            ("ノートパソコン", "2", "120000", "240000"),
            ("マウス", "2", "3500", "7000"),
            ("設定費用", "1", "15000", "15000"),
        ],
    ),
    "days in a column": (
        """
HOTEL ADLER                                                    Rechnung 4411
Gast: M. Huber        Zimmer 12
Datum         Leistung                          Anzahl     Preis       Betrag
12.03.2026    Übernachtung Einzelzimmer              1     89,00        89,00
12.03.2026    Frühstück                              1     14,00        14,00
13.03.2026    Übernachtung Einzelzimmer              1     89,00        89,00
13.03.2026    Frühstück                              1     14,00        14,00
13.03.2026    Parkplatz                              2      8,00        16,00
                                               Summe                   222,00
                                               enth. MwSt 7 %           12,58
                                               Bezahlt EC-Karte        222,00
""",
        [
            ("Übernachtung Einzelzimmer", "1", "89.00", "89.00"),
            ("Frühstück", "1", "14.00", "14.00"),
            ("Übernachtung Einzelzimmer", "1", "89.00", "89.00"),
            ("Frühstück", "1", "14.00", "14.00"),
            ("Parkplatz", "2", "8.00", "16.00"),
        ],
    ),
    "taxes in columns": (
        """
Oakfield Joinery Ltd                                               VAT INVOICE
Invoice No 2210                                                    14 March 2026
Description                               Qty    Unit Price     Net Amount    VAT Rate     VAT
Oak door 1981 x 762                         2       £245.00        £490.00        20%   £98.00
Fitting of doors                            2        £85.00        £170.00        20%   £34.00
Brass handle set                            2        £32.50         £65.00        20%   £13.00
                                         Net total                 £725.00
                                         VAT                       £145.00
                                         Invoice total             £870.00
""",
        [
            ("Oak door 1981 x 762", "2", "245.00", "490.00"),
            ("Fitting of doors", "2", "85.00", "170.00"),
            ("Brass handle set", "2", "32.50", "65.00"),
        ],
    ),
    "charges without a table": (
        """
Telefonica Movil                                           Factura F-88123
Periodo 01/03/2026 - 31/03/2026
Detalle de cargos
Cuota mensual Tarifa 20GB                                              18,18
Bono datos extra                                                        4,13
Llamadas internacionales                                                2,48
Total base imponible                                                   24,79
IVA 21%                                                                 5,21
Total a pagar                                                          30,00 €
""",
        [
            ("Cuota mensual Tarifa 20GB", None, None, "18.18"),
            ("Bono datos extra", None, None, "4.13"),
            ("Llamadas internacionales", None, None, "2.48"),
        ],
    ),
    "minus signs behind the amounts": (
        """
DROGERIE MARKT
Shampoo 250ml              2,45 1
Zahnpasta                  1,95 1
5 EUR Coupon               5,00- 1
Creme                      8,95 1
SUMME EUR                  8,35
""",
        [
            ("Shampoo 250ml", None, None, "2.45"),
            ("Zahnpasta", None, None, "1.95"),
            ("5 EUR Coupon", None, None, "-5.00"),
            ("Creme", None, None, "8.95"),
        ],
    ),
    "one amount misread": (
        """
LUNCH ROOM
2 Soup        6.50   13.00
3 Bagel       4.00   72.00
1 Tea         2.50    2.50
Subtotal             27.50
Tax                   2.20
Total                29.70
""",
        [
            ("Soup", "2", "6.50", "13.00"),
            ("Bagel", "3", "4.00", "12.00"),
            ("Tea", "1", "2.50", "2.50"),
        ],
    ),
    "rates of the tax in their own column": (
        """
FATURA                                       Primavera Lda
Designação                        Quantidade       Preço     Taxa        Total
Foco LED                                   6       14,88      23%        89,28
Licença de software                        2      314,16      23%       628,32
Prateleira carvalho                        3       67,73      23%       203,19
Total ilíquido                                                          920,79
IVA 23%                                                                 211,78
TOTAL A PAGAR                                                         1.132,57 EUR
""",
        [
            ("Foco LED", "6", "14.88", "89.28"),
            ("Licença de software", "2", "314.16", "628.32"),
            ("Prateleira carvalho", "3", "67.73", "203.19"),
        ],
    ),
    "rows counted beside items": (
        """
Wexford Joinery Limited                                        Tax Invoice
No.   Item                                  Qty    Unit Price     Code     Line Total
1     Oak shelf                               2         76.99    13.5%         153.98
2     Labour, senior engineer                 1         68.00      23%          68.00
Total excl. tax                                                                221.98
VAT                                                                             36.43
Amount Due                                                                     258.41
""",
        [
            ("Oak shelf", "2", "76.99", "153.98"),
            ("Labour, senior engineer", "1", "68.00", "68.00"),
        ],
    ),
    "a sum of the table under a name of its own": (
        """
FACTURA                                      Suministros Carrizosa Ltda.
Artículo                              Uds.       P. Unit.            Importe
Luminaria LED                            2         28.229             56.458
Licencia de software                     1        298.970            298.970
Mantenimiento                            1        393.822            393.822
Importe neto                                                         749.250
IVA 19%                                                              142.358
Total                                                                891.608 CLP
""",
        [
            ("Luminaria LED", "2", "28229", "56458"),
            ("Licencia de software", "1", "298970", "298970"),
            ("Mantenimiento", "1", "393822", "393822"),
        ],
    ),
}
