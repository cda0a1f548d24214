"""Rolls that break names, lead with prices, take goods back, or need no decimals."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "names broken above their indented rest": (
        """
 HOMEWARE DEPOT
 12 Mill Rd Cork
 STAINLESS STEEL WATER
   BOTTLE 750ML           18.00
 DOOR MAT COIR             9.50
 LED BULB E27 WARM WHITE
   DIMMABLE 9W             7.25
 TOTAL                    34.75
 CASH                     40.00
 CHANGE                    5.25
""",
        [
            ("STAINLESS STEEL WATER BOTTLE 750ML", None, None, "18.00"),
            ("DOOR MAT COIR", None, None, "9.50"),
            ("LED BULB E27 WARM WHITE DIMMABLE 9W", None, None, "7.25"),
        ],
    ),
    "amounts in front of the names": (
        """
 KOPITIAM CORNER
 Jalan Besar 12
  2.50  Kopi O
  4.80  Nasi Lemak
  1.20  Teh
  8.50  TOTAL
 10.00  CASH
  1.50  CHANGE
""",
        [
            ("Kopi O", None, None, "2.50"),
            ("Nasi Lemak", None, None, "4.80"),
            ("Teh", None, None, "1.20"),
        ],
    ),
    "goods given back with a count and a price": (
        """
 SPORTS CITY
 REFUND RECEIPT
 RUNNING SHOES 42         -89.99
   1 @ -89.99
 SOCKS 3PK                -12.00
   2 @ 6.00-
 TOTAL REFUND            -101.99
 VISA                    -101.99
""",
        [
            ("RUNNING SHOES 42", "1", "89.99", "-89.99"),
            ("SOCKS 3PK", "2", "6.00", "-12.00"),
        ],
    ),
    "empties given back and a sale voided": (
        """
        KAUFRING
   Hauptstr. 12, 50667 Köln
     UID Nr. DE123456789
                           EUR
TOMATEN RISPE             2,67 B
  0,894 kg x   2,99 EUR/kg
MILCH 3,5%                1,19 B
SCHOKOLADE                1,49 B
SCHOKOLADE               -1,49 B
  STORNO
LEERGUT                  -3,25 A
  13 Stk x    0,25
BIER PILS 20X0,5         12,99 A
PFAND 3,10 EUR            3,10 A
-----------------------------
SUMME           EUR      16,70
Geg. BAR        EUR      20,00
Rückgeld BAR    EUR       3,30
""",
        [
            ("TOMATEN RISPE", "0.894", "2.99", "2.67"),
            ("MILCH 3,5%", None, None, "1.19"),
            ("SCHOKOLADE", None, None, "1.49"),
            ("SCHOKOLADE", None, None, "-1.49"),
            ("LEERGUT", "13", "0.25", "-3.25"),
            ("BIER PILS 20X0,5", None, None, "12.99"),
            ("PFAND 3,10 EUR", None, None, "3.10"),
        ],
    ),
    "a tax digit behind a currency mark": (
        """
      CARREFOUR CITY
   12 RUE DE LYON 75012 PARIS
 LAIT DEMI ECREME        1.09 €  1
 3 X 0.85€
 BAGUETTE                2.55 €  1
 REMISE IMMEDIATE       -0.40 €
 FILET ORANGE 2KG        3.99 €  1
 0.485 kg X 4.95 €/kg
 POIRES                  2.40 €  1
 TOTAL A PAYER           9.63 €
 CB EMV                  9.63 €
""",
        [
            ("LAIT DEMI ECREME", None, None, "1.09"),
            ("BAGUETTE", "3", "0.85", "2.55"),
            ("REMISE IMMEDIATE", None, None, "-0.40"),
            ("FILET ORANGE 2KG", None, None, "3.99"),
            ("POIRES", "0.485", "4.95", "2.40"),
        ],
    ),
    "the price of one in front of a count": (
        """
セブンマート 渋谷店
東京都渋谷区1-2-3
2025年11月02日 14:33
 おにぎり鮭          ¥150軽
 緑茶 500ml          ¥138軽
 レジ袋                ¥3
  コーヒー
  @110 x 2           ¥220
 小計               ¥511
 (税率 8%対象       ¥288)
 合計               ¥511
 お預り           ¥1,011
 お釣               ¥500
""",
        [
            ("おにぎり鮭", None, None, "150"),
            ("緑茶 500ml", None, None, "138"),
            ("レジ袋", None, None, "3"),
            ("コーヒー", "2", "110", "220"),
        ],
    ),
    "a title in another language above a name": (
        """
 CO.OPMART NGUYEN DINH CHIEU
 168 Nguyen Dinh Chieu, Q3, TP.HCM
 HOA DON BAN LE
 Sua tuoi Vinamilk 1L
   2 x 32.500             65.000
 Mi Hao Hao
   10 x 3.500             35.000
 Rau muong
   0,450 x 18.000          8.100
 Tong cong:              108.100
 Tien mat:               110.000
 Tien thua:                1.900
""",
        [
            ("Sua tuoi Vinamilk 1L", "2", "32500", "65000"),
            ("Mi Hao Hao", "10", "3500", "35000"),
            ("Rau muong", "0.450", "18000", "8100"),
        ],
    ),
    "goods for nothing": (
        """
 BAKERY BLOOM
 1 Croissant              3.20
 1 Coffee (free)          0.00
 2 Bagel                  5.00
 Total                    8.20
 Paid                     8.20
""",
        [
            ("Croissant", "1", None, "3.20"),
            ("Coffee (free)", "1", None, "0.00"),
            ("Bagel", "2", None, "5.00"),
        ],
    ),
    "names above and discounts without a name": (
        """
    TESCO EXPRESS
    HIGH ST READING
SEMI SKIMMED MILK 4PT     £1.55
CHICKEN BREAST 650G       £5.20
  Cc £4.50               -£0.70
HEINZ BEANS
  2 @ £1.40               £2.80
MEAL DEAL:
 BLT SANDWICH             £3.00
 WALKERS CRISPS           £1.25
 COKE ZERO 500ML          £1.75
 MEAL DEAL SAVING        -£2.40
SUBTOTAL                 £15.55
SAVINGS                  -£3.10
TOTAL TO PAY             £12.45
VISA CONTACTLESS         £12.45
""",
        [
            ("SEMI SKIMMED MILK 4PT", None, None, "1.55"),
            ("CHICKEN BREAST 650G", None, None, "5.20"),
            ("Cc £4.50", None, None, "-0.70"),
            ("HEINZ BEANS", "2", "1.40", "2.80"),
            ("BLT SANDWICH", None, None, "3.00"),
            ("WALKERS CRISPS", None, None, "1.25"),
            ("COKE ZERO 500ML", None, None, "1.75"),
            ("MEAL DEAL SAVING", None, None, "-2.40"),
        ],
    ),
    "a name whose rest is a word for a charge": (
        """
 RESTAURANTE SABOR MINEIRO
 RUA DAS FLORES 12 BELO HORIZONTE
 CNPJ 11.222.333/0001-81
 BUFFET SELF
 SERVICE KG
 0,485 x 79,90            38,75
 REFRIGERANTE LATA         6,00
 TOTAL                    44,75
 DINHEIRO                 50,00
 TROCO                     5,25
""",
        [
            ("BUFFET SELF SERVICE KG", "0.485", "79.90", "38.75"),
            ("REFRIGERANTE LATA", None, None, "6.00"),
        ],
    ),
    "signs glued to names": (
        """
 Woolworths
 1234 BALMAIN
 ABN 88 000 014 675
 TAX INVOICE
 #Chobani Yoghurt 170g
   Qty 4 @ $2.00 each        8.00
 Bananas Cavendish
   0.722 kg NET @ $3.90/kg   2.82
 ^Woolworths Bread White     2.40
   PRICE REDUCED BY $0.60 each
 Tim Tam Original            4.00
   20% off                  -0.80
 4 SUBTOTAL                $16.42
 TOTAL                     $16.42
 EFT                        16.42
""",
        [
            ("Chobani Yoghurt 170g", "4", "2.00", "8.00"),
            ("Bananas Cavendish", "0.722", "3.90", "2.82"),
            ("Woolworths Bread White", None, None, "2.40"),
            ("Tim Tam Original", None, None, "4.00"),
            ("20% off", None, None, "-0.80"),
        ],
    ),
    "a total with its mark, goods without": (
        """
 SPAR MAGYARORSZAG KFT
 NYUGTA
 TEJ 2,8%               399
 KENYER 1KG
     2 DB X 899 Ft        1.798
 SZATYOR                 89
 OSSZESEN:             2.286 Ft
 KESZPENZ:             2.500 Ft
 VISSZAJARO:             214 Ft
""",
        [
            ("TEJ 2,8%", None, None, "399"),
            ("KENYER 1KG", "2", "899", "1798"),
            ("SZATYOR", None, None, "89"),
        ],
    ),
}
