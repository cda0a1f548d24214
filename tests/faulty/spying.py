"""The real library; returns the modules and files that a document loaded as its merchant."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from recibo.adapters.reader_process.child import Handler
from recibo.adapters.reader_process.child_process import Program
from recibo.extract.model import Extracted, Receipt
from recibo.extract.ocr.runtime import Runtime

NOTHING = "nothing"


def load(*, runtime: str) -> Mapping[str, Handler]:
    """Load the library and listen from then on."""
    from recibo.adapters.reader_process import library  # noqa: PLC0415 - heavy, and for the child alone

    read = library.reading(runtime=runtime)["read"]
    known = set(sys.modules)
    seen: list[str] = []

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event in {"open", "import", "os.listdir", "ctypes.dlopen"}:
            seen.append(f"{event} {arguments[0]}")

    sys.addaudithook(hear)

    def spy(data: bytes, arguments: Mapping[str, Any], step: Callable[[], None]) -> Receipt:
        seen.clear()
        receipt = read(data, arguments, step)
        assert isinstance(receipt, Receipt)
        loaded = [*seen, *(set(sys.modules) - known)]
        found = Extracted("; ".join(loaded) or NOTHING, 1.0, "")
        return replace(receipt, merchant_name=found)

    return {"read": spy}


def program(runtime: Runtime) -> Program:
    """Return what a child loads."""
    return Program(f"{__name__}:load", {"runtime": runtime.value})
