"""Encodes barcodes and QR codes as dark and light modules."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import zxingcpp

from training.receipts.prints import Symbology


@lru_cache(maxsize=64)
def modules(symbology: Symbology, text: str) -> npt.NDArray[np.uint8]:
    """Return the modules, 0 dark and 255 light, without a margin; bars are one row high."""
    kind = getattr(zxingcpp.BarcodeFormat, symbology)
    options = {"ec_level": "M"} if symbology == "QRCode" else {}
    drawn = zxingcpp.create_barcode(text, kind, **options).to_image(add_quiet_zones=False)
    grid = np.asarray(drawn, dtype=np.uint8)
    return grid if symbology == "QRCode" else grid[:1]
