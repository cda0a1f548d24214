"""Lists of goods whose quantities and prices of one stand on rows of their own."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "a pump's words for quantity and price": (
        """
TANKSTELLE LINDE GMBH
50667 Köln
Zapfsäule 10
Diesel                  27,19
Menge                 16,39 L
Preis/L                 1,659
Gesamtbetrag EUR        27,19
Girocard                27,19
""",
        [
            ("Diesel", "16.39", "1.659", "27.19"),
        ],
    ),
    "gallons above the amount": (
        """
CORNER FUEL 0092134
PUMP# 4
UNLEADED
GALLONS      10.512
PRICE/GAL   $4.199
FUEL TOTAL  $44.14
TOTAL       $44.14
VISA        $44.14
""",
        [
            ("UNLEADED", "10.512", "4.199", "44.14"),
        ],
    ),
    "litres at a price without decimals": (
        """
GASOLINERA FONTANAR LTDA.
R.U.T. 75.837.666-4
Bomba 10
SIN PLOMO 95              38.396
Cantidad                 25,03 L
Precio/L                   1.534
Total                     38.396
Pago con tarjeta          38.396
""",
        [
            ("SIN PLOMO 95", "25.03", "1534", "38396"),
        ],
    ),
    "prices of one alone under their rows": (
        """
RAVENHILL KITCHEN
TABLE 11
3 x Diet Cola            11.34
  @ 3.78
1 x Fish & Chips         17.86
2 x Lager Pint            9.26
  @ 4.63
Total                    38.46
VISA                     38.46
""",
        [
            ("Diet Cola", "3", "3.78", "11.34"),
            ("Fish & Chips", "1", None, "17.86"),
            ("Lager Pint", "2", "4.63", "9.26"),
        ],
    ),
    "a summary of taxes behind the payments": (
        """
YARROW HOME & GARDEN
Baked Beans 4x415g            $6.86
  2 x $3.43
AA Batteries 8                $8.95
Amount Due AUD                15.81
Cash Tendered                 20.00
Change Due                     4.19
Code    Goods     GST     Total
10%     14.37    1.44     15.81
No. of items: 3
""",
        [
            ("Baked Beans 4x415g", "2", "3.43", "6.86"),
            ("AA Batteries 8", None, None, "8.95"),
        ],
    ),
    "contents of a pack that nearly make the total": (
        """
MESON LA PLAZA
1 x Chuletón 500g          501.60
1 x Ensalada mixta         128.25
TOTAL                      629.85
TARJETA                    629.85
""",
        [
            ("Chuletón 500g", "1", None, "501.60"),
            ("Ensalada mixta", "1", None, "128.25"),
        ],
    ),
    "a detail between two like prices": (
        """
EPICERIE VOLTAIRE
Chocolat noir 70%           2,36
2 @ 1,17
LAIT DEMI-ECREME            2,34
TOTAL                       4,70
CB                          4,70
""",
        [
            ("Chocolat noir 70%", None, None, "2.36"),
            ("LAIT DEMI-ECREME", "2", "1.17", "2.34"),
        ],
    ),
    "the number of a pump in front of the fuel": (
        """
GASOLINERA ZAMORANO S.R.L.
*8 SIN PLOMO 95            87.277,63
  59,31 L * 1.471,55/L
Total a pagar             $87.277,63
Tarjeta                    87.277,63
""",
        [
            ("SIN PLOMO 95", "59.31", "1471.55", "87277.63"),
        ],
    ),
    "weights in front of names": (
        """
SALUMERIA LUNGAROTTI
1 x CARTA IGIENICA           3,07
1,199 x PETTO DI POLLO      11,87
  @ 9,90
2 x UOVA FRESCHE             3,62
  @ 1,81
TOTALE EURO                 18,56
CONTANTI                    20,00
""",
        [
            ("CARTA IGIENICA", "1", None, "3.07"),
            ("PETTO DI POLLO", "1.199", "9.90", "11.87"),
            ("UOVA FRESCHE", "2", "1.81", "3.62"),
        ],
    ),
    "weights at prices without decimals": (
        """
VERDULERIA OLIVO
2159 Manzana Golden
1,608 kg x $1.930/kg    $3.103
1033 Galletas
1 x $1.123              $1.123
Total                   $4.226
Efectivo                $5.000
""",
        [
            ("Manzana Golden", "1.608", "1930", "3103"),
            ("Galletas", "1", "1123", "1123"),
        ],
    ),
    "names that go on under their amounts": (
        """
EPICERIE BEAUMARAIS
6 x EAU MINERALE            22.86
  @ 3.81
3 x ESSUIE-TOUT             14.25
  @ 4.75
2 x Yaourt au lait entier de 6.86
la ferme
  @ 3.43
1 x Beurre doux              3.41
Arrondi                      0.02
TOTAL CHF                   47.40
TWINT                       47.40
""",
        [
            ("EAU MINERALE", "6", "3.81", "22.86"),
            ("ESSUIE-TOUT", "3", "4.75", "14.25"),
            ("Yaourt au lait entier de la ferme", "2", "3.43", "6.86"),
            ("Beurre doux", "1", None, "3.41"),
        ],
    ),
    "quantities that might count the rows": (
        """
RESTAURANTE MONTESOL
1 x Menú del día            12,29
2 x Caña                     4,44
  @ 2,22
Total                       16,73
Tarjeta                     16,73
""",
        [
            ("Menú del día", "1", None, "12.29"),
            ("Caña", "2", "2.22", "4.44"),
        ],
    ),
    "names broken above their amounts": (
        """
CAFE WEXFORD
2 X 6.55
Draught Lager Pint         13.10
Grilled Salmon with
Seasonal Vegetables        19.25
Club Sandwich               7.97
no onions
Flat White                  4.01
Total                      44.33
""",
        [
            ("Draught Lager Pint", "2", "6.55", "13.10"),
            ("Grilled Salmon with Seasonal Vegetables", None, None, "19.25"),
            ("Club Sandwich", None, None, "7.97"),
            ("Flat White", None, None, "4.01"),
        ],
    ),
    "names broken below their amounts": (
        """
PADARIA HORIZONTE
1 BOLACHA MARIA             0.91
1 Iogurte natural com       2.43
pedacos de fruta
2 Paella de                74.12
marisco (2
personas)
1 Washing Up Liquid         2.49
& Mint Fresh
Total                      79.95
""",
        [
            ("BOLACHA MARIA", "1", None, "0.91"),
            ("Iogurte natural com pedacos de fruta", "1", None, "2.43"),
            ("Paella de marisco (2 personas)", "2", None, "74.12"),
            ("Washing Up Liquid & Mint Fresh", "1", None, "2.49"),
        ],
    ),
}
