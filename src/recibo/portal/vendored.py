"""Files of other projects that pages load, pinned by their hashes.

Browsers refuse a file whose content has another hash than its element says (Subresource Integrity).
"""

from collections.abc import Mapping

#: The SHA-384 of each file of `static/`, as its published package contains it.
INTEGRITY: Mapping[str, str] = {
    "uplot/uplot-1.6.32.min.js": (
        "sha384-Gx3t0zdBAuQOuvvmaLZj7HKEiSgWTAs+VdtNY7wt19QDPTDQjFIwAuXDj0zeN00c"
    ),
    "uplot/uplot-1.6.32.min.css": (
        "sha384-IfV0B7MIOYuO95kO9G5ySKPz/85zqFNOAs8iy4tkK5zd9izhJAB8b7lHrwYqqmYE"
    ),
}
