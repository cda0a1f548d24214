"""Says why a file is hard to read, and what to do about it."""

from collections.abc import Mapping

from recibo.extract.model import Edge, Hint
from recibo.portal.translations import LazyText, lazy_gettext
from recibo.schemas.receipts import Quality

_SENTENCES: Mapping[Hint, LazyText] = {
    Hint.BLURRED: lazy_gettext("The photo is blurred. Hold the camera still until it is sharp."),
    Hint.DARK: lazy_gettext("The photo is dark. Take it in better light."),
    Hint.GLARE: lazy_gettext("Light is reflected. Tilt the document, or turn off the flash."),
    Hint.LOW_RESOLUTION: lazy_gettext(
        "The letters are small. Go closer, or send the original file."
    ),
    Hint.UNSUPPORTED_SCRIPT: lazy_gettext(
        "Most of the text is in a script that is not supported. Enter the names by hand."
    ),
    Hint.SEVERAL_DOCUMENTS: lazy_gettext(
        "The pages look like separate documents. Upload each as a separate file."
    ),
}
_CUT: Mapping[Edge, LazyText] = {
    Edge.TOP: lazy_gettext("The top edge is cut off. Take the photo again."),
    Edge.BOTTOM: lazy_gettext("The bottom edge is cut off. Take the photo again."),
    Edge.LEFT: lazy_gettext("The left edge is cut off. Take the photo again."),
    Edge.RIGHT: lazy_gettext("The right edge is cut off. Take the photo again."),
}


def sentences(quality: Quality | None) -> list[str]:
    """Return a sentence for each hint; a sharp photo and a file with text have none."""
    if quality is None:
        return []
    hints = [str(_SENTENCES[hint]) for hint in quality.hints if hint in _SENTENCES]
    return [*(str(_CUT[edge]) for edge in quality.cut_off), *hints]
