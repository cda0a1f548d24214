"""Tables of goods whose headings, quantities and sums no two programs set alike."""

from tests.extract.fields.goods import Row

LISTS: dict[str, tuple[str, list[Row]]] = {
    "a heading that means nothing to us": (
        """
SARL DUPONT PLOMBERIE                                        FACTURE N° FA00123
12 rue des Lilas 69003 LYON                                  Date : 12/10/2025
Réf.      Désignation                    Qté   Unité    P.U. HT   % Rem    Montant HT    TVA
MO01      Main d'oeuvre plombier        3,50   H          48,00                 168,00    20
ROB25     Robinet mitigeur évier        1,00   U          89,50      10          80,55    20
          chromé bec haut
DEP       Forfait déplacement           1,00   F          35,00                  35,00    20
                                                   Total HT                     283,55
                                                   TVA 20,00 %                   56,71
                                                   Total TTC                    340,26
                                                   Net à payer                  340,26 €
""",
        [
            ("Main d'oeuvre plombier", "3.50", "48.00", "168.00"),
            ("Robinet mitigeur évier chromé bec haut", "1.00", "89.50", "80.55"),
            ("Forfait déplacement", "1.00", "35.00", "35.00"),
        ],
    ),
    "names under a heading of any word": (
        """
Smith Consulting Ltd                                   INVOICE SC-77
12 Fleet St, London                                    4 November 2025
Date         Consultant      Task                         Hours     Rate (£)     Amount (£)
01/10/2025   J Smith         Requirements workshop         6.00        95.00         570.00
03/10/2025   A Khan          Data migration                7.50        80.00         600.00
07/10/2025   J Smith         Report writing                3.25        95.00         308.75
                                                      Total hours      16.75
                                                      Net                          1,478.75
                                                      VAT @ 20%                      295.75
                                                      Total due                   £1,774.50
""",
        [
            ("Requirements workshop", "6.00", "95.00", "570.00"),
            ("Data migration", "7.50", "80.00", "600.00"),
            ("Report writing", "3.25", "95.00", "308.75"),
        ],
    ),
    "a discount in percent beside prices of three decimals": (
        """
SUMINISTROS ORTEGA SA    NIF A87654321
Factura nº 25/1204         Fecha 31/10/2025       Cliente 430123
REFERENCIA    DESCRIPCIÓN                     CANTIDAD   PRECIO   %DTO   IMPORTE
TR-0612       Tornillo rosca chapa 6x12         200,00    0,045             9,00
TQ-1010       Taquete nylon 10 mm               100,00    0,120     15     10,20
DIS-115       Disco corte inox 115              25,00     1,950     20     39,00
ALB. Nº 5512 DE 14/10/2025
BR-08         Broca widia 8 mm                   3,00     4,250            12,75
                                              SUMA                         70,95
              BASE        IVA      CUOTA
              70,95       21,00    14,90          TOTAL FACTURA            85,85
""",
        [
            ("Tornillo rosca chapa 6x12", "200.00", "0.045", "9.00"),
            ("Taquete nylon 10 mm", "100.00", "0.120", "10.20"),
            ("Disco corte inox 115", "25.00", "1.950", "39.00"),
            ("Broca widia 8 mm", "3.00", "4.250", "12.75"),
        ],
    ),
    "quantities in front of the names under no heading": (
        """
Fietsenmaker Jansen                                        Factuur 2025-0142
KvK 12345678  BTW NL001234567B01                           Factuurdatum 04-11-2025
        Omschrijving                                         Bedrag      Totaal   btw
2 x     Buitenband Schwalbe Marathon                        € 32,95     € 65,90   21%
1 x     Ketting vervangen inclusief arbeid                  € 45,00     € 45,00   9%
0,5 uur Afstellen remmen                                    € 50,00     € 25,00   9%
                                               Subtotaal                € 135,90
                                               21% btw                   € 13,84
                                               9% btw                     € 6,30
                                               Totaal                   € 156,04
""",
        [
            ("Buitenband Schwalbe Marathon", "2", "32.95", "65.90"),
            ("Ketting vervangen inclusief arbeid", "1", "45.00", "45.00"),
            ("Afstellen remmen", "0.5", "50.00", "25.00"),
        ],
    ),
    "a sum of hours and of amounts": (
        """
ANDERSON LAW PLLC                                       Invoice 5531
Professional services
Date        Description                                    Hours     Amount
10/02/25    Review of lease agreement                       1.20     420.00
10/05/25    Telephone conference with client re:            0.50     175.00
            termination clause
10/09/25    Draft letter to landlord                        2.00     700.00
            Total fees                                      3.70   1,295.00
Expenses
10/09/25    Certified mail                                            8.95
            Total due                                             1,303.95
""",
        [
            ("Review of lease agreement", "1.20", None, "420.00"),
            ("Telephone conference with client re: termination clause", "0.50", None, "175.00"),
            ("Draft letter to landlord", "2.00", None, "700.00"),
            ("Certified mail", None, None, "8.95"),
        ],
    ),
    "a discount behind a sum in between": (
        """
Velo Müller AG                                           Rechnung 10233
CHE-123.456.789 MWST                                     Datum 03.11.2025
Anzahl    Bezeichnung                                   Preis      Total CHF
    1.0   Service gross inkl. Kleinmaterial            180.00         180.00
    2.0   Bremsbeläge Shimano                           24.50          49.00
    1.0   Kette 12-fach                                 65.00          65.00
          Zwischentotal                                               294.00
          Rabatt 5%                                                   -14.70
          MWST 8.1%                                                    22.62
          Total CHF                                                   301.90
""",
        [
            ("Service gross inkl. Kleinmaterial", "1.0", "180.00", "180.00"),
            ("Bremsbeläge Shimano", "2.0", "24.50", "49.00"),
            ("Kette 12-fach", "1.0", "65.00", "65.00"),
        ],
    ),
    "a balance carried from the last bill": (
        """
CITY WATER DEPARTMENT
Account 5512-0098      Bill date 11/01/2025
Previous balance                                         84.20
Payment received 10/12/2025 - thank you                 -84.20
Current charges
Water 6 CCF @ 4.12                                       24.72
Sewer service                                            38.50
Stormwater fee                                           11.25
Total current charges                                    74.47
Amount due                                               74.47
""",
        [
            ("Water", "6", "4.12", "24.72"),
            ("Sewer service", None, None, "38.50"),
            ("Stormwater fee", None, None, "11.25"),
        ],
    ),
    "thousands parted by a blank without decimals": (
        """
Alpha Media Kft                        Számla 2025/118
Megnevezés                    Menny.   Egys.   Nettó egységár    Nettó érték   ÁFA    Bruttó érték
Weboldal karbantartás
november                        1      hó            45 000         45 000     27%         57 150
Domain regisztráció .hu         2      db             3 500          7 000     27%          8 890
                                        Összesen                   52 000                 66 040 Ft
""",
        [
            ("Weboldal karbantartás november", "1", "45000", "45000"),
            ("Domain regisztráció .hu", "2", "3500", "7000"),
        ],
    ),
    "totals without and with their tax": (
        """
Kontor AG            Rechnung 771
Pos  Bezeichnung              Menge   Einzelpreis   Netto     USt %   USt     Brutto
1    Hefter A4 breit             10          2,10   21,00        19   3,99     24,99
2    Kugelschreiber blau         50          0,35   17,50        19   3,33     20,83
     Summe                                          38,50             7,32     45,82
""",
        [
            ("Hefter A4 breit", "10", "2.10", "21.00"),
            ("Kugelschreiber blau", "50", "0.35", "17.50"),
        ],
    ),
    "letters between the digits of a dimension": (
        """
Beispiel Meyer GmbH                                     Rechnung
Werkstr. 3                                              Rechnungs-Nr.  RE-2025-0188
80331 München                                           Datum          05.11.2025

Pos.  Menge      Art.-Nr.   Bezeichnung                    Einzelpreis   Rabatt      Gesamtpreis
 1     4,00 Stk  AB-1001    Brandmelder VdS, weiß                49,90               199,60
                            inkl. Batterie 9V
                            Montage Decke
 2     1,50 Std  ST-01      Technikerstunde                      85,00               127,50
 3    10,00 m    KB-33      Brandmeldekabel J-Y(ST)Y 2x2x0,8      1,35   10,00 %      12,15
                                                      Nettobetrag                    339,25 €
                                                      zzgl. 19 % MwSt.                64,46 €
                                                      Gesamtbetrag                   403,71 €
Zahlbar innerhalb von 14 Tagen ohne Abzug.
""",
        [
            ("Brandmelder VdS, weiß", "4.00", "49.90", "199.60"),
            ("Technikerstunde", "1.50", "85.00", "127.50"),
            ("Brandmeldekabel J-Y(ST)Y 2x2x0,8", "10.00", "1.35", "12.15"),
        ],
    ),
    "goods given back in a table": (
        """
Musterhandel GmbH                                      Gutschrift GS-118
zu Rechnung RE-1001
Pos  Artikel          Menge   Einzelpreis     Gesamt
1    Tischlampe Nora      1         49,00     -49,00
2    Glühbirne E14        -4         3,50     -14,00
                         Summe              -63,00
                         MwSt 19% enthalten  -10,06
""",
        [
            ("Tischlampe Nora", "1", "49.00", "-49.00"),
            ("Glühbirne E14", "-4", "3.50", "-14.00"),
        ],
    ),
    "a row without an amount below goods": (
        """
  ALBERT HEIJN 1234
  AANTAL OMSCHRIJVING    PRIJS  BEDRAG
  1      AH BANANEN              1,59
  2      AH MELK         1,19    2,38
  0.456KG KAAS JONG     12,90    5,88
  1      BONUSKAART
  4      STATIEGELD      0,15    0,60
  8      SUBTOTAAL              10,45
  BONUS  AHMELK                 -0,38
         TOTAAL                 10,07
  PINNEN                        10,07
""",
        [
            ("AH BANANEN", "1", None, "1.59"),
            ("AH MELK", "2", "1.19", "2.38"),
            ("KAAS JONG", "0.456", "12.90", "5.88"),
            ("STATIEGELD", "4", "0.15", "0.60"),
        ],
    ),
    "amounts alone without decimals below a number": (
        """
Carpinteria Roble SpA                                              FACTURA
Av. Libertad 48, Santiago                                          N 629533
Concepto                                                             Total
Silla de oficina                                                   153.549
Desplazamiento                                                     109.149
Papel A4 80 g, caja de 5 paquetes                                   30.116
                                          Base Imponible           292.814
                                          IVA 19%                   55.635
                                          TOTAL A PAGAR            348.449 CLP
""",
        [
            ("Silla de oficina", None, None, "153549"),
            ("Desplazamiento", None, None, "109149"),
            ("Papel A4 80 g, caja de 5 paquetes", None, None, "30116"),
        ],
    ),
    "a discount indented under goods of a table": (
        """
FARMACIA GRANDUCA SA
Via dei Mulini 122 Lugano
Descrizione       Q.ta  Prezzo u  Totale
Mele Golden      1.876      2.77    5.20
   SCONTO                          -0.78
Dentifricio          1      2.87    2.87
OLIO EXTRAV. 1L      1     14.41   14.41
TOTALE CHF                         21.70
RESTO                               0.00
""",
        [
            ("Mele Golden", "1.876", "2.77", "5.20"),
            ("SCONTO", None, None, "-0.78"),
            ("Dentifricio", "1", "2.87", "2.87"),
            ("OLIO EXTRAV. 1L", "1", "14.41", "14.41"),
        ],
    ),
}
