"""Small files that are expensive to read, each different from the last so that none is a replay.

The PDF objects are those of ISO 32000-1: function-based shadings (8.7.4.5.2), PostScript calculator
functions (7.10.5), form XObjects (8.10).
"""

import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

_NUMBERS = itertools.count(1)
_A4 = (595, 842)


@dataclass(frozen=True, slots=True)
class _Object:
    """One indirect object of a PDF: the entries of its dictionary, and its stream, if any."""

    entries: str
    stream: bytes | None = None


def shading_pdf(steps: int = 1_000, layers: int = 40) -> bytes:
    """Return a page painted by shadings whose color is a long PostScript program for each pixel."""
    program = "{ " + "sin cos exch " * (steps // 3) + "pop dup dup }"
    function = _Object(
        "/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", program.encode("ascii")
    )
    width, height = _A4
    shading = _Object(
        "/ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] "
        f"/Matrix [{width} 0 0 {height} 0 0] /Function 5 0 R"
    )
    return _pdf("/Shading << /S 6 0 R >>", b"/S sh\n" * layers, [function, shading])


def nested_forms_pdf(depth: int = 12, fan_out: int = 8) -> bytes:
    """Return a page whose forms draw one another: `fan_out` to the power of `depth` leaves."""
    first = 5
    forms = [
        _Object(
            f"/Type /XObject /Subtype /Form /BBox [0 0 {_A4[0]} {_A4[1]}] "
            f"/Resources << /XObject << /F {first + level + 1} 0 R >> >>",
            b"/F Do\n" * fan_out,
        )
        for level in range(depth)
    ]
    leaf = _Object(f"/Type /XObject /Subtype /Form /BBox [0 0 {_A4[0]} {_A4[1]}]", b"0 0 9 9 re f")
    return _pdf(f"/XObject << /F {first} 0 R >>", b"/F Do\n" * fan_out, [*forms, leaf])


def repeated_words_pdf(rows: int = 500, words: int = 60) -> bytes:
    """Return a page with one word printed over and over, each time at another place."""
    shown = b"".join(
        b"1 0 0 1 9 %.1f Tm (%s) Tj\n" % (9 + 1.6 * n, b"ae " * words) for n in range(rows)
    )
    font = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    return _pdf(font, b"BT /F 1.5 Tf\n" + shown + b"ET", [])


def huge_picture(side: int = 9_900) -> bytes:
    """Return a PNG of 98 megapixels in a few hundred kilobytes."""
    file = io.BytesIO()
    picture = Image.new("RGB", (side, side), "white")
    # No two are the same file.
    picture.putpixel((next(_NUMBERS) % side, 0), (0, 0, 0))
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()


def unfinished_jpeg() -> bytes:
    """Return the first half of a JPEG."""
    file = io.BytesIO()
    Image.effect_noise((1_200, 1_600), 40 + next(_NUMBERS) % 40).save(file, "JPEG")
    return file.getvalue()[: len(file.getvalue()) // 2]


#: By the name that the table shows.
FILES: dict[str, Callable[[], bytes]] = {
    "PDF with PostScript shadings": shading_pdf,
    "PDF with nested forms": nested_forms_pdf,
    "PDF with one word 30,000 times": repeated_words_pdf,
    "PNG of 98 megapixels": huge_picture,
    "half of a JPEG": unfinished_jpeg,
}


def _pdf(resources: str, content: bytes, others: Sequence[_Object]) -> bytes:
    """Return a PDF of one page; the objects of `others` are numbered from 5 on."""
    width, height = _A4
    objects = [
        _Object("/Type /Catalog /Pages 2 0 R"),
        _Object("/Type /Pages /Kids [3 0 R] /Count 1"),
        _Object(
            f"/Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R "
            f"/Resources << {resources} >>"
        ),
        _Object("", content),
        *others,
    ]
    file = io.BytesIO()
    file.write(b"%%PDF-1.7\n%% %d\n" % next(_NUMBERS))
    offsets = []
    for number, one in enumerate(objects, start=1):
        offsets.append(file.tell())
        file.write(_spelled(number, one))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    file.write(b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1))
    file.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return file.getvalue()


def _spelled(number: int, one: _Object) -> bytes:
    if one.stream is None:
        return f"{number} 0 obj\n<< {one.entries} >>\nendobj\n".encode("ascii")
    head = f"{number} 0 obj\n<< {one.entries} /Length {len(one.stream)} >>\nstream\n"
    return head.encode("ascii") + one.stream + b"\nendstream\nendobj\n"
