"""Lists of goods whose sums tell what a word, a place or a misread figure leave open."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "an article named once and sold twice": (
        """
BATANG ENTERPRISE SDN BHD
OPEN CODE ITEM
0025679 U       3x8.00     24.00 S
0025679 U       1x7.00      7.00 S
STAR 12X13
0020323 PKT     1x1.00      1.00 S
Total                      32.00
Cash                       50.00
""",
        [
            ("OPEN CODE ITEM", "3", "8.00", "24.00"),
            ("OPEN CODE ITEM", "1", "7.00", "7.00"),
            ("STAR 12X13", "1", "1.00", "1.00"),
        ],
    ),
    "a sum within the list": (
        """
BAKERY SUPPLY SDN BHD
WHITE LOAF                  6.39
WHOLEMEAL                  13.90
JUMBO                      14.85
Total 0% supplies          35.14
CHOC ROLL RETURN           -3.60
Total Payable:             31.54
""",
        [
            ("WHITE LOAF", None, None, "6.39"),
            ("WHOLEMEAL", None, None, "13.90"),
            ("JUMBO", None, None, "14.85"),
            ("CHOC ROLL RETURN", None, None, "-3.60"),
        ],
    ),
    "a sum with a misread word": (
        """
NOODLE HOUSE
1  FISHBALL NOODLE          7.00
1 SUB T01.:                 7.00
GST 6%                      0.42
ROUNDING ADJ               -0.02
NET TOTAL                   7.40
Cash                        7.40
""",
        [
            ("FISHBALL NOODLE", "1", None, "7.00"),
        ],
    ),
    "goods as dear as the others by chance": (
        """
SEAFOOD HALL
Rice with seafood          15.00
Beverage                    5.00
Noodles                    20.00
Total (Excluding GST):     40.00
GST Payable:                2.40
TOTAL :                    42.40
""",
        [
            ("Rice with seafood", None, None, "15.00"),
            ("Beverage", None, None, "5.00"),
            ("Noodles", None, None, "20.00"),
        ],
    ),
    "a discount that the prices are without": (
        """
HERBAL HOUSE
PIPA SYRUP                 47.70
SOOTHING TEA               10.00
VIP Disc.       10.00%     -5.30
SUBTOTAL                   57.70
TOTAL                      57.70
VISA                       57.70
""",
        [
            ("PIPA SYRUP", None, None, "47.70"),
            ("SOOTHING TEA", None, None, "10.00"),
        ],
    ),
    "a misread total beside the price": (
        """
MEDICAL SUPPLY
WOUND DRESSING              57.00   57.00
ALCOHOL SWAB                 5.30    5.30
COTTON BUDS                  6.80    6.00
TOTAL                               69.10
CASH                                70.00
CHANGE                               0.90
""",
        [
            ("WOUND DRESSING", None, None, "57.00"),
            ("ALCOHOL SWAB", None, None, "5.30"),
            ("COTTON BUDS", None, None, "6.80"),
        ],
    ),
    "a size under the name": (
        """
STATIONERY SHOP
1.2002-0001   LAMINATING FILM A4
(220MMx310MM)
1 X 3.0000                  3.00 SR
Total Sales                 3.00
Total                       3.00
CASH                       20.00
CHANGE                     17.00
""",
        [
            ("LAMINATING FILM A4 (220MMx310MM)", "1", "3.0000", "3.00"),
        ],
    ),
    "a heading over a summary": (
        """
HARDWARE ALAM
TEM       OTY     U/P AKOUNT
(RM)     (RM)
079567600084      14.00   14.00
ANTI-RUST LUBRICANT
SUB-TOTAL (GST)           14.00
ROUNDING                   0.00
TOTAL                     14.00
CASH                      14.00
CHANGE                     0.00
CODE     AMOUNT     %   TAX/ANT
SR        13.21     6      0.79
""",
        [
            ("ANTI-RUST LUBRICANT", None, None, "14.00"),
        ],
    ),
    "a sign of multiplication behind the price": (
        """
WONG TRADING
QTY    CODE    PRICE      AMOUNT
BERAS ASAS 10KG
15*BAG      24.90 X     373.50 SR
SOS TIRAM 6KG
4BOTOL*     15.95 X      63.80 SR
Sub Total               437.30
Total                   437.30
""",
        [
            ("BERAS ASAS 10KG", "15", "24.90", "373.50"),
            ("SOS TIRAM 6KG", "4", "15.95", "63.80"),
        ],
    ),
    "a discount on the paper as a whole": (
        """
THE OAK INN
2 Lager Pint               11.24
1 Pot of Tea                3.28
3 Fish & Chips             50.54
Loyalty 5%                 -3.25
Balance Due                61.81
Debit Card                 61.81
""",
        [
            ("Lager Pint", "2", None, "11.24"),
            ("Pot of Tea", "1", None, "3.28"),
            ("Fish & Chips", "3", None, "50.54"),
        ],
    ),
    "a discount on one item alone": (
        """
THE OAK INN
Lager Pint                 11.24
Pot of Tea                  3.28
Discount 5%                -0.16
Total                      14.36
""",
        [
            ("Lager Pint", None, None, "11.24"),
            ("Pot of Tea", None, None, "3.28"),
            ("Discount 5%", None, None, "-0.16"),
        ],
    ),
    "a name cut at its contents": (
        """
CORNER FOODS
4  WHOLE MILK 2L            7.84
2  Sparkling Water 6x       5.74
1  White Bread              1.54
Total                      15.12
""",
        [
            ("WHOLE MILK 2L", "4", None, "7.84"),
            ("Sparkling Water 6x", "2", None, "5.74"),
            ("White Bread", "1", None, "1.54"),
        ],
    ),
    "guests beside the table": (
        """
TAQUERIA DUARTE
MESA 14       Comensales: 3
Agua mineral          2.257
Chuleton             26.374
Flan casero          18.460
Subtotal             47.091
Total               $47.091
VISA                 47.091
""",
        [
            ("Agua mineral", None, None, "2257"),
            ("Chuleton", None, None, "26374"),
            ("Flan casero", None, None, "18460"),
        ],
    ),
    "prices with a dot for thousands under their rows": (
        """
MESON DUARTE
1 x Cafe con leche    2.788
2 x Calamares        20.718
@ 10.359
1 x Flan casero       5.114
Importe Total       $28.620
""",
        [
            ("Cafe con leche", "1", None, "2788"),
            ("Calamares", "2", "10359", "20718"),
            ("Flan casero", "1", None, "5114"),
        ],
    ),
}
