"""A sandboxed reader has loaded all it needs: every format, at every accuracy, on every runtime."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recibo.adapters.reader import Library, PoolReader, on_runtime
from recibo.extract.document import formats
from recibo.extract.model import Accuracy, Receipt
from recibo.extract.ocr.runtime import Runtime
from tests import drawing
from tests.faulty import spying
from training.receipts.strips import Row

SAMPLES = Path(str(formats.__file__)).parent / "samples"
LONG_S = 240.0


@pytest.fixture(params=[Runtime.ONNXRUNTIME, Runtime.OPENVINO])
async def reader(request: pytest.FixtureRequest) -> AsyncIterator[PoolReader]:
    if request.param is Runtime.OPENVINO:
        pytest.importorskip("openvino")
    usual = on_runtime(request.param)
    library = Library(spying.program(request.param), usual.inspection, usual.drawing)
    reader = PoolReader(processes=1, library=library)
    yield reader
    await reader.aclose()


async def test_ready_reader_imports_no_module_and_reads_no_file(reader: PoolReader) -> None:
    assert await reader.start() is None
    for name in sorted(entry.name for entry in SAMPLES.glob("*.*") if entry.suffix != ".py"):
        path = SAMPLES / name
        for accuracy in Accuracy:
            read = await reader.read(path, hint=None, accuracy=accuracy, time_limit_s=LONG_S)

            assert isinstance(read, Receipt), (name, read)
            assert ("12.30", spying.NOTHING) == (
                str(read.total and read.total.value),
                read.merchant_name and read.merchant_name.value,
            )
        seen = await reader.inspect(path)

        assert isinstance(seen, formats.Kind), (name, seen)


async def test_bent_lines_need_no_module_either(reader: PoolReader, tmp_path: Path) -> None:
    rows = [Row(f"Coffee and cake of the day {day}", "1.23") for day in range(1, 11)]
    sheet = drawing.picture([Row("CORNER SHOP AND GARDEN CENTRE"), *rows, Row("TOTAL", "12.30")])
    path = tmp_path / "curled.png"
    path.write_bytes(drawing.encode(drawing.curled(sheet, 60), "PNG"))
    assert await reader.start() is None

    read = await reader.read(path, hint=None, accuracy=Accuracy.STANDARD, time_limit_s=LONG_S)

    assert isinstance(read, Receipt), read
    assert ("12.30", spying.NOTHING) == (
        str(read.total and read.total.value),
        read.merchant_name and read.merchant_name.value,
    )
