"""The programs of reader processes: reading, inspection and drawing.

Only child processes import this module. Afterwards they cannot open files, so everything that a
document may need is loaded here.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from recibo.adapters.reader_process.child import Handler
from recibo.adapters.reader_process.page_image import PageImage
from recibo.extract import pipeline
from recibo.extract.document import pages, previews, sample_files
from recibo.extract.document.formats import Kind
from recibo.extract.model import Accuracy, DocumentType, Receipt
from recibo.extract.ocr.runtime import Runtime
from recibo.extract.pipeline import TimeBudget

#: High accuracy makes another pass only within this time, a little less than the limits.
_TIME_BUDGET = TimeBudget(page_s=18.0, document_s=110.0)


def reading(*, runtime: str) -> Mapping[str, Handler]:
    """Load the models and return the handler that reads; raises MissingModel."""
    chosen = Runtime(runtime)
    pipeline.prepare(chosen)

    def read(data: bytes, arguments: Mapping[str, Any], step: Callable[[], None]) -> Receipt:
        hint = arguments["hint"]
        return pipeline.extract(
            data,
            hint=None if hint is None else DocumentType(hint),
            accuracy=Accuracy(arguments["accuracy"]),
            runtime=chosen,
            budget=_TIME_BUDGET,
            step=step,
        )

    return {"read": read}


def inspection() -> Mapping[str, Handler]:
    """Load the decoders and return the handler that inspects."""
    for sample in sample_files.every():
        pages.inspect(sample)

    def inspect(data: bytes, _: Mapping[str, Any], __: Callable[[], None]) -> Kind:
        return pages.inspect(data)

    return {"inspect": inspect}


def drawing() -> Mapping[str, Handler]:
    """Load the decoders and return the handler that draws a page, in Base64."""
    for sample in sample_files.every():
        previews.draw(sample, 1, turns=0, width=64)

    def draw(data: bytes, arguments: Mapping[str, Any], _: Callable[[], None]) -> PageImage:
        drawn = previews.draw(
            data, arguments["number"], turns=arguments["turns"], width=arguments["width"]
        )
        return PageImage(None if drawn is None else base64.b64encode(drawn).decode())

    return {"draw": draw}
