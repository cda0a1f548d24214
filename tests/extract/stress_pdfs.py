"""PDFs with very many objects of one kind (ISO 32000-1), or with deep nesting."""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

#: An object: the entries of its dictionary, and its stream, if any.
Object = tuple[str, bytes | None]

_FONT = "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
_TEXT = b"BT /F 9 Tf 9 9 Td (the quick brown fox jumps over the lazy dog TOTAL 12.00) Tj ET\n"
_FORM = "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
_LEAF: Object = (_FORM, b"0 0 5 5 re f")
#: The first number of the objects that are added.
_FIRST = 5


def pdf(
    content: bytes = _TEXT,
    others: Iterable[Object] = (),
    *,
    resources: str = "",
    page: str = "",
    catalog: str = "",
) -> bytes:
    """Return a PDF of one page; the objects of `others` are numbered from 5 on."""
    leaf = f"/Contents 4 0 R /Resources << {_FONT} {resources} >> {page}"
    objects: list[Object] = [
        (f"/Type /Catalog /Pages 2 0 R {catalog}", None),
        ("/Type /Pages /Kids [3 0 R] /Count 1", None),
        (f"/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {leaf}", None),
        ("", content),
        *others,
    ]
    file = bytearray(b"%PDF-1.7\n")
    places = []
    for number, (entries, stream) in enumerate(objects, start=1):
        places.append(len(file))
        file += _spelled(number, entries, stream)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(file + b"startxref\n%d\n%%%%EOF\n" % start)


def words(count: int, word: bytes = b"lorem ") -> bytes:
    """Return a page that repeats a word, thirty per row, each row at another height."""
    rows = max(1, count // 30)
    shown = b"".join(
        b"1 0 0 1 9 %.3f Tm (%s) Tj\n" % (9 + 800 * row / rows, word * 30) for row in range(rows)
    )
    return pdf(b"BT /F 1.5 Tf\n" + shown + b"ET")


def nested_marks(count: int) -> bytes:
    """Return a page with nested marked content; pdfium keeps all levels for each."""
    return pdf(b"/S BMC " * count + _TEXT)


def nested_forms(depth: int) -> bytes:
    """Return a page whose forms each draw the next one twice."""
    forms = [
        (f"{_FORM} /Resources << /XObject << /X {_FIRST + level + 1} 0 R >> >>", b"/X Do /X Do")
        for level in range(depth)
    ]
    return pdf(_TEXT + b"/X Do", [*forms, _LEAF], resources=f"/XObject << /X {_FIRST} 0 R >>")


def shadings(count: int) -> bytes:
    """Return a page with this many shadings that compute a color for each pixel."""
    program = b"{ " + b"sin cos exch " * 300 + b"pop dup dup }"
    function = ("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", program)
    shading = "/ShadingType 1 /ColorSpace /DeviceRGB /Domain [0 1 0 1] /Matrix [595 0 0 842 0 0]"
    shading += f" /Function {_FIRST} 0 R"
    resources = f"/Shading << /S {_FIRST + 1} 0 R >>"
    return pdf(b"/S sh\n" * count, [function, (shading, None)], resources=resources)


def _words_apart(count: int) -> bytes:
    places = ((9 + n % 100 * 5, 9 + n // 100 * 1.6 % 800) for n in range(count))
    shown = b"".join(b"1 0 0 1 %.2f %.2f Tm (lorem) Tj\n" % place for place in places)
    return pdf(b"BT /F 1.5 Tf\n" + shown + b"ET")


def _words_at_one_place(count: int) -> bytes:
    return pdf(b"BT /F 5 Tf\n" + b"1 0 0 1 9 500 Tm (lorem) Tj\n" * count + b"ET")


def _letters_in_an_array(count: int) -> bytes:
    return pdf(b"BT /F 1 Tf 9 500 Td [" + b"(a) -100 " * count + b"] TJ ET")


def _fonts(count: int) -> bytes:
    shown = (b"/F%d 5 Tf 1 0 0 1 9 %d Tm (total) Tj\n" % (n, n % 800) for n in range(count))
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /H{0} >>"
    fonts = " ".join(f"/F{n} {font.format(n)}" for n in range(count))
    return pdf(b"BT " + b"".join(shown) + b"ET").replace(
        _FONT.encode(), f"/Font << {fonts} >>".encode()
    )


def _letter_map(count: int) -> bytes:
    """Return a font whose character map repeats its entries."""
    said = b"1 begincodespacerange <00> <ff> endcodespacerange "
    said += b"1 beginbfchar <61> <0061> endbfchar " * count
    data = pdf(_TEXT, [("", said)])
    return data.replace(b"/Helvetica", b"/Helvetica /ToUnicode %d 0 R" % _FIRST)


def _images(count: int) -> bytes:
    entries = "/Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    shown = b"".join(b"q 9 0 0 9 %d %d cm /X Do Q\n" % (n % 500, n * 7 % 800) for n in range(count))
    return pdf(_TEXT + shown, [(entries, b"x")], resources=f"/XObject << /X {_FIRST} 0 R >>")


def _inline_images(count: int) -> bytes:
    return pdf(_TEXT + b"q 9 0 0 9 9 9 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q\n" * count)


def _paths(count: int) -> bytes:
    return pdf(
        _TEXT + b"".join(b"%d %d m 9 9 l S\n" % (n % 500, n * 7 % 800) for n in range(count))
    )


def _clips(count: int) -> bytes:
    return pdf(b"0 0 500 800 re W n " * count + _TEXT)


def _saved_states(count: int) -> bytes:
    return pdf(_TEXT + b"q " * count)


def _forms(count: int) -> bytes:
    return pdf(_TEXT + b"/X Do\n" * count, [_LEAF], resources=f"/XObject << /X {_FIRST} 0 R >>")


def _streams(count: int) -> bytes:
    """Return a page with its content in many streams."""
    pieces = b" ".join(b"%d 0 R" % (_FIRST + n) for n in range(count))
    data = pdf(_TEXT, [("", b"q Q")] * count)
    return data.replace(b"/Contents 4 0 R", b"/Contents [4 0 R " + pieces + b"]")


def _compressed(count: int) -> bytes:
    content = zlib.compress(_TEXT + b"q Q " * count)
    return pdf(content).replace(b"<<  /Length", b"<< /Filter /FlateDecode /Length", 1)


def _annotations(count: int) -> bytes:
    mark = f"/Type /Annot /Subtype /Square /Rect [9 9 18 18] /AP << /N {_FIRST} 0 R >>"
    there = " ".join(f"{_FIRST + 1 + n} 0 R" for n in range(count))
    return pdf(_TEXT, [_LEAF, *[(mark, None)] * count], page=f"/Annots [{there}]")


def _form_fields(count: int) -> bytes:
    field = (
        f"/Type /Annot /Subtype /Widget /FT /Tx /V (x) /Rect [9 9 18 18] /AP << /N {_FIRST} 0 R >>"
    )
    fields = [(f"{field} /T (a{n})", None) for n in range(count)]
    there = " ".join(f"{_FIRST + 1 + n} 0 R" for n in range(count))
    catalog = f"/AcroForm << /Fields [{there}] >>"
    return pdf(_TEXT, [_LEAF, *fields], page=f"/Annots [{there}]", catalog=catalog)


def _objects(count: int) -> bytes:
    return pdf(_TEXT, [("/A 1", None)] * count)


def _objects_without_a_table(count: int) -> bytes:
    return re.sub(rb"startxref\s+\d+", b"", _objects(count))


def _names(count: int) -> bytes:
    return pdf(_TEXT, page="/X << " + " ".join(f"/K{n} {n}" for n in range(count)) + " >>")


def _revisions(count: int) -> bytes:
    """Return a file with this many incremental updates."""
    file = bytearray(pdf())
    last = file.rindex(b"xref\n0")
    for _ in range(count):
        place = len(file)
        file += b"xref\n0 0\ntrailer << /Size 5 /Root 1 0 R /Prev %d >>\n" % last
        file += b"startxref\n%d\n%%%%EOF\n" % place
        last = place
    return bytes(file)


def _bookmarks(count: int) -> bytes:
    marks = [(f"/Title (x) /Parent 5 0 R /Next {_FIRST + 1 + n} 0 R", None) for n in range(count)]
    return pdf(_TEXT, marks, catalog=f"/Outlines {_FIRST} 0 R")


def _page_tree_in_a_circle(count: int) -> bytes:
    """Return a page tree with a cycle."""
    kids = b"/Kids [" + b"2 0 R " * count + b"3 0 R] /Count %d" % (count + 1)
    return pdf().replace(b"/Kids [3 0 R] /Count 1", kids)


def _page_tree_of_nothing(count: int) -> bytes:
    """Return thirty pages after this many empty branches of the page tree."""
    kids = b"/Kids [" + b"5 0 R " * count + b"3 0 R " * 30 + b"] /Count 30"
    data = pdf(_TEXT, [("/Type /Pages /Kids [] /Count 0", None)])
    return data.replace(b"/Kids [3 0 R] /Count 1", kids)


def _spelled(number: int, entries: str, stream: bytes | None) -> bytes:
    if stream is None:
        return f"{number} 0 obj\n<< {entries} >>\nendobj\n".encode("ascii")
    head = f"{number} 0 obj\n<< {entries} /Length {len(stream)} >>\nstream\n"
    return head.encode("ascii") + stream + b"\nendstream\nendobj\n"


#: Name -> what makes it, and of how many parts a small one is.
FILES: Mapping[str, tuple[Callable[[int], bytes], int]] = MappingProxyType(
    {
        "words": (words, 250),
        "words apart": (_words_apart, 250),
        "words at one place": (_words_at_one_place, 800),
        "letters in an array": (_letters_in_an_array, 2_000),
        "fonts": (_fonts, 50),
        "letter map": (_letter_map, 5_000),
        "images": (_images, 600),
        "inline images": (_inline_images, 500),
        "paths": (_paths, 300),
        "clips": (_clips, 5_000),
        "saved states": (_saved_states, 20_000),
        "forms": (_forms, 500),
        "streams": (_streams, 1_000),
        "compressed content": (_compressed, 30_000),
        "annotations": (_annotations, 700),
        "form fields": (_form_fields, 200),
        "objects": (_objects, 5_000),
        "objects without a table": (_objects_without_a_table, 5_000),
        "names": (_names, 3_000),
        "revisions": (_revisions, 1_000),
        "bookmarks": (_bookmarks, 3_000),
        "page tree in a circle": (_page_tree_in_a_circle, 5_000),
        "page tree of nothing": (_page_tree_of_nothing, 3_000),
    }
)
