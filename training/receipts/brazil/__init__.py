"""Generated Brazilian documents: NF-e, NFC-e, NFS-e, CF-e SAT and coupons of fiscal printers."""
