"""A perceptual hash: nearly the same for copies of a picture that were scaled or compressed again.

The DCT hash of C. Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions",
2010, section 3.2.1.
"""

import cv2
import numpy as np

from recibo.extract.model import Picture

_SIDE, _KEPT = 32, 8


def of(picture: Picture) -> str:
    """Return the hash of a picture: 64 bits as 16 hex digits."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lowest = cv2.dct(small.astype(np.float32))[1 : _KEPT + 1, 1 : _KEPT + 1].ravel()
    bits = "".join("1" if above else "0" for above in lowest > np.median(lowest))
    return f"{int(bits, 2):016x}"
