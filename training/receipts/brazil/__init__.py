"""Brazilian papers of our own: NF-e, NFC-e, NFS-e, CF-e SAT and coupons of fiscal printers."""
