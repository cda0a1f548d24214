"""Bills of restaurants, pumps and counters: parts of meals, sums of groups, offers."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "sums of groups behind the goods": (
        """
 THE RED LION
 TABLE 22  COVERS 4
 2 FISH & CHIPS      @ 15.50   31.00
 1 STEAK PIE                   16.95
 4 PINT IPA          @ 5.80    23.20
 1 STICKY TOFFEE PUD            7.25
 FOOD                          55.20
 DRINK                         23.20
 SUBTOTAL                      78.40
 SERVICE 12.5%                  9.80
 TOTAL                         88.20
""",
        [
            ("FISH & CHIPS", "2", "15.50", "31.00"),
            ("STEAK PIE", "1", None, "16.95"),
            ("PINT IPA", "4", "5.80", "23.20"),
            ("STICKY TOFFEE PUD", "1", None, "7.25"),
        ],
    ),
    "counts of one and two under a heading of quantities": (
        """
 BURGER KINGDOM #221
 ORD #41  REG #2
 QTY ITEM              TOTAL
 1 Big Combo Meal       9.49
   1 Big Burger
   1 Med Fries
   1 Med Cola
 2 Apple Pie            3.00
 Subtotal              12.49
 Tax                    1.06
 Take-Out Total        13.55
 Cash Tendered         20.00
 Change                 6.45
""",
        [
            ("Big Combo Meal", "1", None, "9.49"),
            ("Apple Pie", "2", None, "3.00"),
        ],
    ),
    "counters glued to quantities": (
        """
 居酒屋 とり吉
 2025/11/02 21:14  テーブル 5
 生ビール        3点    1,650
 焼き鳥盛合せ      1点    1,280
 枝豆          2点      760
 お通し         3点      990
 小計                4,680
 消費税10%              468
 合計               ¥5,148
""",
        [
            ("生ビール", "3", None, "1650"),
            ("焼き鳥盛合せ", "1", None, "1280"),
            ("枝豆", "2", None, "760"),
            ("お通し", "3", None, "990"),
        ],
    ),
    "a pump's number in front of the litres": (
        """
 ARAL TANKSTELLE
 *Super E10       61,23 EUR A
  ZP 3    35,62 l  1,719 EUR/l
 Kaffee gross      2,99 EUR A
 SUMME            64,22 EUR
 EC-Karte         64,22 EUR
""",
        [
            ("Super E10", "35.62", "1.719", "61.23"),
            ("Kaffee gross", None, None, "2.99"),
        ],
    ),
    "a pump's number in front of the fuel, a discount below": (
        """
 Z ENERGY ALBANY
 Pump 05 ZX Premium
 28.51 L @ $2.899/L      82.65
 Discount 6c/L           -1.71
 Pie Mince                5.90
 TOTAL  NZD              86.84
 EFTPOS                  86.84
""",
        [
            ("ZX Premium", "28.51", "2.899", "82.65"),
            ("Discount 6c/L", None, None, "-1.71"),
            ("Pie Mince", None, None, "5.90"),
        ],
    ),
    "one row counted under a heading of codes": (
        """
 POSTO ESTRELA LTDA
 CNPJ 11.222.333/0001-81
 DANFE NFC-e
 CODIGO DESCRICAO QTDE UN VL UNIT VL TOTAL
 1 GASOLINA COMUM
   32,450 LT X 5,799   188,18
 QTD. TOTAL DE ITENS            1
 VALOR TOTAL R$            188,18
 CARTAO DE CREDITO         188,18
""",
        [
            ("GASOLINA COMUM", "32.450", "5.799", "188.18"),
        ],
    ),
    "a tax within the only amount": (
        """
 Parkhaus Am Markt
 Einfahrt 02.11.2025 09:12
 Ausfahrt 02.11.2025 12:30
 Parkdauer 3:18
 Parkgebühr         6,50 EUR
 enth. MwSt 19%     1,04 EUR
 Summe              6,50 EUR
""",
        [
            ("Parkgebühr", None, None, "6.50"),
        ],
    ),
    "a fare with its surcharges": (
        """
 YELLOW CAB 3X12
 Trip 4.2 mi
 Fare            $16.50
 State surcharge  $0.50
 Airport fee      $1.75
 Tip              $3.75
 TOTAL           $22.50
""",
        [
            ("Fare", None, None, "16.50"),
            ("State surcharge", None, None, "0.50"),
            ("Airport fee", None, None, "1.75"),
        ],
    ),
    "an offer above the goods": (
        """
 CVS/pharmacy
 1  ADVIL 200MG TAB 50    10.49T
 1  TISSUE 3PK             4.79T
    2 @ 1/2.00
 2  CHAPSTICK              4.00T
 SUBTOTAL                 19.28
 TAX 6.25%                 1.21
 TOTAL                    20.49
 CHARGE                   20.49
""",
        [
            ("ADVIL 200MG TAB 50", "1", None, "10.49"),
            ("TISSUE 3PK", "1", None, "4.79"),
            ("CHAPSTICK", "2", "2.00", "4.00"),
        ],
    ),
    "rows counted above their products": (
        """
 MINI MERCADO LUZ
 CNPJ 11.222.333/0001-81
 DANFE NFC-e
 1 QUEIJO MUSSARELA
   0.352 KG x 49.90         17,56
 2 PRESUNTO
   0.208 KG x 39.90          8,30
 3 PAO DE FORMA
   1 UN x 9.99               9,99
 VALOR TOTAL R$             35,85
 DINHEIRO                   40,00
""",
        [
            ("QUEIJO MUSSARELA", "0.352", "49.90", "17.56"),
            ("PRESUNTO", "0.208", "39.90", "8.30"),
            ("PAO DE FORMA", "1", "9.99", "9.99"),
        ],
    ),
}
