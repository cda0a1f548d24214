"""More lists of goods, each as the tills of some country print it."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "cover charges among the goods": (
        """
   TRATTORIA DA MARIO SRL
   VIA ROMA 10 FIRENZE
   P.IVA 01234567890
  DOCUMENTO COMMERCIALE
 di vendita o prestazione
DESCRIZIONE      IVA%  Prezzo(€)
2 x 2,50
COPERTO           10%       5,00
PIZZA MARGHERITA  10%       7,50
2 x 3,00
BIRRA MEDIA       22%       6,00
CAFFE'            10%       1,30
TOTALE COMPLESSIVO         19,80
DI CUI IVA                  2,22
Pagamento contante         20,00
Resto                       0,20
""",
        [
            ("COPERTO", "2", "2.50", "5.00"),
            ("PIZZA MARGHERITA", None, None, "7.50"),
            ("BIRRA MEDIA", "2", "3.00", "6.00"),
            ("CAFFE'", None, None, "1.30"),
        ],
    ),
    "cover charges with a quantity": (
        """
OSTERIA DEL SOLE
VIA GARIBALDI 3 BOLOGNA
2 x Coperto               4,00
1 x Tagliatelle ragu     12,00
1 x Tortellini brodo     13,00
1 x Acqua 75cl            2,50
TOTALE EURO              31,50
CONTANTI                 31,50
""",
        [
            ("Coperto", "2", None, "4.00"),
            ("Tagliatelle ragu", "1", None, "12.00"),
            ("Tortellini brodo", "1", None, "13.00"),
            ("Acqua 75cl", "1", None, "2.50"),
        ],
    ),
    "weights glued to their unit": (
        """
ALBERT HEIJN
Damrak 1 Amsterdam
AANTAL OMSCHRIJVING PRIJS BEDRAG
1  AH HALFV MELK             1,15
2  CROISSANT        0,79     1,58
1  STATIEGELD                0,25
   0.342KG TOMAAT            1,02
1  AH KAAS 48+               4,99  B
   BONUS AHKAAS48+          -1,25
SUBTOTAAL                    8,99
UW VOORDEEL                  1,25
TOTAAL                       7,74
PINNEN                       7,74
""",
        [
            ("AH HALFV MELK", "1", None, "1.15"),
            ("CROISSANT", "2", "0.79", "1.58"),
            ("STATIEGELD", "1", None, "0.25"),
            ("TOMAAT", "0.342", None, "1.02"),
            ("AH KAAS 48+", "1", None, "4.99"),
            ("BONUS AHKAAS48+", None, None, "-1.25"),
        ],
    ),
    "headings of tax rates between the goods": (
        """
MORE SUPERMARKET
TAX INVOICE
HSN  Particulars    Qty   Rate  Value
1) CGST @ 2.50% SGST @ 2.50%
1006 TOOR DAL 1KG
                  1.000 145.00 145.00
1701 SUGAR LOOSE
                  2.350  42.00  98.70
2) CGST @ 9.00% SGST @ 9.00%
3401 DOVE SOAP 100G
                      3  48.00 144.00
Items: 3   Qty: 6.35   387.70
Total                         387.70
""",
        [
            ("TOOR DAL 1KG", "1.000", "145.00", "145.00"),
            ("SUGAR LOOSE", "2.350", "42.00", "98.70"),
            ("DOVE SOAP 100G", "3", "48.00", "144.00"),
        ],
    ),
    "counts and prices in Japanese": (
        """
ライフ渋谷店
牛乳                   198
食パン
  2コ X単128           256
バナナ                 158
小計                   612
外税8%                  48
合計                  ¥660
現金                ¥1,000
お釣り                ¥340
""",
        [
            ("牛乳", None, None, "198"),
            ("食パン", "2", "128", "256"),
            ("バナナ", None, None, "158"),
        ],
    ),
    "prices of one pound": (
        """
Walmart
1234 MAIN ST
ST# 02341 OP# 009041 TR# 05483
GV WHOLE MILK   007874235186 F   3.24 N
BANANAS         000000004011KF
   2.19 lb @ 1 lb /0.58           1.27 N
TSHIRT          088469522111     9.97 X
ELEC TOOTHB     030041027811    24.88 T
   2 AT  1 FOR 1.98
SOUP            005100001251 F   3.96 N
SUBTOTAL                        43.32
TAX 1   8.25 %                   2.87
TOTAL                           46.19
VISA TEND                       46.19
CHANGE DUE                       0.00
# ITEMS SOLD 6
""",
        [
            ("GV WHOLE MILK", None, None, "3.24"),
            ("BANANAS", "2.19", "0.58", "1.27"),
            ("TSHIRT", None, None, "9.97"),
            ("ELEC TOOTHB", None, None, "24.88"),
            ("SOUP", "2", "1.98", "3.96"),
        ],
    ),
    "discounts named by a number": (
        """
COSTCO WHOLESALE
  E  1136   STRAWBERRY       6.99
     847021 KS TOWEL        19.99 A
  0000314159 /847021         4.00-A
  E  96716  ORG SPINACH      4.49
     SUBTOTAL               27.47
     TAX                     1.28
**** TOTAL                  28.75
""",
        [
            ("STRAWBERRY", None, None, "6.99"),
            ("KS TOWEL", None, None, "19.99"),
            ("/847021", None, None, "-4.00"),
            ("ORG SPINACH", None, None, "4.49"),
        ],
    ),
    "tax marks in a column": (
        """
NO FRILLS
TORONTO ON
21-GROCERY
06038388 PC COOKIES      HMRJ   3.99
(2)06780000012 SODA      HMRJ
2 @ $0.99                       1.98
27-PRODUCE
4011 BANANA              MRJ
0.925 kg @ $1.52/kg             1.41
DEPOSIT 1                       0.20
SUBTOTAL                        7.58
H=HST 13% 5.97 @ 13.000%        0.78
TOTAL                           8.36
""",
        [
            ("PC COOKIES", None, None, "3.99"),
            ("SODA", "2", "0.99", "1.98"),
            ("BANANA", "0.925", "1.52", "1.41"),
            ("DEPOSIT 1", None, None, "0.20"),
        ],
    ),
    "quantities under the names": (
        """
WOOLWORTHS
ABN 88 000 014 675
TAX INVOICE
# Milk Full Cream 2L         3.10
Bananas Cavendish
  0.812 kg NET @ $3.50/kg    2.84
Tim Tam 200g
  Qty 2 @ $3.00 each         6.00
^ Bread Wholemeal            2.90
5 SUBTOTAL                 $14.84
TOTAL                      $14.84
EFT                        $14.84
""",
        [
            ("Milk Full Cream 2L", None, None, "3.10"),
            ("Bananas Cavendish", "0.812", "3.50", "2.84"),
            ("Tim Tam 200g", "2", "3.00", "6.00"),
            ("Bread Wholemeal", None, None, "2.90"),
        ],
    ),
    "discounts with the price that is left": (
        """
BIEDRONKA
JERONIMO MARTINS POLSKA S.A.
NIP 779-10-11-327
PARAGON FISKALNY
MLEKO 3,2% 1L C   2 x3,49    6,98C
CHLEB RAZOWY C    1 x4,99    4,99C
BANANY LUZ C  0,846 x5,99    5,07C
  OPUST           -1,00      4,07C
SPRZEDAZ OPODATKOWANA C     16,04
PTU C 5%                     0,76
SUMA PLN                    16,04
KARTA                       16,04
""",
        [
            ("MLEKO 3,2% 1L C", "2", "3.49", "6.98"),
            ("CHLEB RAZOWY C", "1", "4.99", "4.99"),
            ("BANANY LUZ C", "0.846", "5.99", "5.07"),
            ("OPUST", None, None, "-1.00"),
        ],
    ),
    "tax classes in front of the names": (
        """
PINGO DOCE
NIF 500829993
Fatura Simplificada FS 001/12345
(A) PAO DE MAFRA              1,29
(B) LEITE MG
    6 X 0,79                  4,74
(A) BANANA
    1,035 X 1,19              1,23
(C) VINHO TINTO               3,99
    Poupanca                 -1,00
TOTAL                        10,25
MULTIBANCO                   10,25
""",
        [
            ("PAO DE MAFRA", None, None, "1.29"),
            ("LEITE MG", "6", "0.79", "4.74"),
            ("BANANA", "1.035", "1.19", "1.23"),
            ("VINHO TINTO", None, None, "3.99"),
            ("Poupanca", None, None, "-1.00"),
        ],
    ),
    "days in front of the charges": (
        """
Grand Hotel Central                                   Guest Folio
Room 412      Arrival 12-03-26      Departure 14-03-26
Date       Description               Charges       Credits
12-03-26   Room Charge                189.00
12-03-26   City Tax                     4.50
12-03-26   Room Service - Dinner       38.20
13-03-26   Room Charge                189.00
13-03-26   City Tax                     4.50
14-03-26   Visa xxxx1234                            425.20
           Total                      425.20        425.20
           Balance                      0.00
""",
        [
            ("Room Charge", None, None, "189.00"),
            ("City Tax", None, None, "4.50"),
            ("Room Service - Dinner", None, None, "38.20"),
            ("Room Charge", None, None, "189.00"),
            ("City Tax", None, None, "4.50"),
        ],
    ),
    "litres without a sign of multiplication": (
        """
SHELL
Autobahn A3
Super E10
* 42,18 l    1,799 EUR/l
Saeule 04              75,88 A
Snickers                1,39 B
SUMME EUR              77,27
Visa                   77,27
""",
        [
            ("Super E10", "42.18", "1.799", "75.88"),
            ("Snickers", None, None, "1.39"),
        ],
    ),
    "discounts in brackets": (
        """
BOOK NOOK
The Long Way Home        $18.00
Paper Moon               $12.50
Member Discount 10%     ($3.05)
Subtotal                 $27.45
Tax 8%                    $2.20
Total                    $29.65
""",
        [
            ("The Long Way Home", None, None, "18.00"),
            ("Paper Moon", None, None, "12.50"),
            ("Member Discount 10%", None, None, "-3.05"),
        ],
    ),
    "quantities without unit prices": (
        """
스타벅스 강남점
아메리카노         2    9,000
카페라떼           1    5,000
치즈케이크         1    6,500
합계                  20,500
부가세                 1,864
카드                  20,500
""",
        [
            ("아메리카노", "2", None, "9000"),
            ("카페라떼", "1", None, "5000"),
            ("치즈케이크", "1", None, "6500"),
        ],
    ),
    "details in money without decimals": (
        """
JUMBO
BOLETA ELECTRONICA
7801234567890 PAN MOLDE     2.490
7809876543210 LECHE 1L      1.090
   2 X 1.250
7805551112223 YOGURT        2.500
TOTAL                    $  6.080
TARJETA DEBITO           $  6.080
""",
        [
            ("PAN MOLDE", None, None, "2490"),
            ("LECHE 1L", None, None, "1090"),
            ("YOGURT", "2", "1250", "2500"),
        ],
    ),
    "thousands parted by a blank": (
        """
SPAR MAGYARORSZAG KFT
C18 TEJ 1,5% 1L            399
C18 KENYER FEHER 1KG       649
  3 db x 249 Ft/db
C18 JOGHURT                747
RESZOSSZESEN             1 795
OSSZESEN:            1 795 Ft
KESZPENZ             2 000 Ft
VISSZAJARO             205 Ft
""",
        [
            ("C18 TEJ 1,5% 1L", None, None, "399"),
            ("C18 KENYER FEHER 1KG", None, None, "649"),
            ("C18 JOGHURT", "3", "249", "747"),
        ],
    ),
    "totals not in the column of the goods": (
        """
INDOMARET
INDOMIE GORENG    5   3,100  15,500
AQUA 600ML        2   3,500   7,000
ROTI TAWAR        1  16,500  16,500
HARGA JUAL:              39,000
TOTAL :                  39,000
TUNAI :                  50,000
KEMBALI :                11,000
PPN : 3,865
""",
        [
            ("INDOMIE GORENG", "5", "3100", "15500"),
            ("AQUA 600ML", "2", "3500", "7000"),
            ("ROTI TAWAR", "1", "16500", "16500"),
        ],
    ),
    "thousands in front of decimals": (
        """
MEUBLES DURAND
1 CANAPE 3 PLACES       1 290,00
2 COUSSINS       24,90     49,80
TOTAL TTC               1 339,80
CB                      1 339,80
""",
        [
            ("CANAPE 3 PLACES", "1", None, "1290.00"),
            ("COUSSINS", "2", "24.90", "49.80"),
        ],
    ),
    "goods called as a payment": (
        """
DOLLAR BARN
GUM               .99
CARD             1.50
CANDY   3 @ .25   .75
SUBTOTAL         3.24
TAX               .26
TOTAL            3.50
CASH             5.00
CHANGE           1.50
""",
        [
            ("GUM", None, None, "0.99"),
            ("CARD", None, None, "1.50"),
            ("CANDY", "3", "0.25", "0.75"),
        ],
    ),
    "quantities behind the price of one": (
        """
ICA SUPERMARKET
Mjölk 3% 1,5L 731123 18,90 1,00 st 18,90
Bananer       4011   24,95 0,84 kg 20,96
Bröd Lingon   731555 32,50 2,00 st 65,00
Pant          1,00 2,00 st 2,00
Att betala                    106,86
Moms % Moms Netto Brutto
12,00  11,45 95,41 106,86
Kontokort                     106,86
""",
        [
            ("Mjölk 3% 1,5L", "1.00", "18.90", "18.90"),
            ("Bananer", "0.84", "24.95", "20.96"),
            ("Bröd Lingon", "2.00", "32.50", "65.00"),
            ("Pant", "2.00", "1.00", "2.00"),
        ],
    ),
    "stars in front of the amounts": (
        """
MIGROS TICARET A.S.
TARIH: 14/03/2026 SAAT: 19:02
EKMEK              %1    *10,00
SUT 1L             %1    *32,50
2 ADET X 15,00
SU 1,5L            %10   *30,00
TOPKDV                    *3,15
TOPLAM                   *72,50
NAKIT                    *72,50
""",
        [
            ("EKMEK", None, None, "10.00"),
            ("SUT 1L", None, None, "32.50"),
            ("SU 1,5L", "2", "15.00", "30.00"),
        ],
    ),
    "days in front of the names": (
        """
CITY LAUNDRY
14/03 WASH & FOLD 8KG      16.00
15/03 IRONING 5 PCS        10.00
TOTAL                      26.00
CASH                       30.00
CHANGE                      4.00
""",
        [
            ("WASH & FOLD 8KG", None, None, "16.00"),
            ("IRONING 5 PCS", None, None, "10.00"),
        ],
    ),
    "deposits between the goods": (
        """
BEVERAGE BARN
SIERRA NEVADA 12PK   17.99
CT DEPOSIT            1.20
TONIC 1L              1.99
DEPOSIT               0.10
SUBTOTAL             21.28
TAX                   1.27
TOTAL                22.55
""",
        [
            ("SIERRA NEVADA 12PK", None, None, "17.99"),
            ("CT DEPOSIT", None, None, "1.20"),
            ("TONIC 1L", None, None, "1.99"),
            ("DEPOSIT", None, None, "0.10"),
        ],
    ),
    "times behind the names": (
        """
KIOSK AM BAHNHOF
Brezel x3            4,50
Kaffee gross x1      3,20
Summe                7,70
Bar                 10,00
Zurück               2,30
""",
        [
            ("Brezel", "3", None, "4.50"),
            ("Kaffee gross", "1", None, "3.20"),
        ],
    ),
}
