"""The typefaces of generated documents, each as a font file and as a font of a PDF.

All of them come with packages that are installed for development: the three that every PDF viewer
has are included in reportlab as drawings of the same widths, and DejaVu in matplotlib.
"""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont


@dataclass(frozen=True, slots=True)
class Face:
    """A face in two weights."""

    name: str
    regular: Path
    bold: Path
    is_fixed: bool = False
    #: Regular and bold names built into every PDF viewer; None if the PDF must embed the font.
    built_in: tuple[str, str] | None = None

    def width(self, text: str, size: float, *, is_bold: bool = False) -> float:
        """Return the width of a text, points."""
        return float(pdfmetrics.stringWidth(text, self.pdf_name(is_bold=is_bold), size))

    def pdf_name(self, *, is_bold: bool) -> str:
        """Return the name of the font in a PDF, and register it with reportlab."""
        if self.built_in:
            return self.built_in[is_bold]
        return _registered(self.bold if is_bold else self.regular)

    def font(self, pixels: int, *, is_bold: bool) -> ImageFont.FreeTypeFont:
        """Return the font for a picture."""
        return _font(self.bold if is_bold else self.regular, pixels)


@cache
def _folder(package: str, *parts: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{package}, which contains the fonts, is not installed")
    return Path(spec.origin).parent.joinpath(*parts)


@cache
def _registered(file: Path) -> str:
    pdfmetrics.registerFont(TTFont(file.stem, file))
    return file.stem


@cache
def _font(file: Path, pixels: int) -> ImageFont.FreeTypeFont:
    # The other layout engine depends on a library of the system.
    return ImageFont.truetype(file, pixels, layout_engine=ImageFont.Layout.BASIC)


def _built_in(name: str, files: tuple[str, str], pdf: tuple[str, str]) -> Face:
    regular, bold = (_folder("reportlab", "fonts") / file for file in files)
    return Face(name, regular, bold, is_fixed=name == "Courier", built_in=pdf)


def _dejavu(name: str) -> Face:
    folder = _folder("matplotlib", "mpl-data", "fonts", "ttf")
    files = folder / f"DejaVu{name}.ttf", folder / f"DejaVu{name}-Bold.ttf"
    return Face(f"DejaVu {name}", *files, is_fixed=name == "SansMono")


def _vera() -> Face:
    folder = _folder("reportlab", "fonts")
    return Face("Vera", folder / "Vera.ttf", folder / "VeraBd.ttf")


COURIER = _built_in("Courier", ("com_____.pfb", "cob_____.pfb"), ("Courier", "Courier-Bold"))
HELVETICA = _built_in(
    "Helvetica", ("_a______.pfb", "_ab_____.pfb"), ("Helvetica", "Helvetica-Bold")
)
TIMES = _built_in("Times", ("_er_____.pfb", "_eb_____.pfb"), ("Times-Roman", "Times-Bold"))
DEJAVU_MONO = _dejavu("SansMono")
DEJAVU_SANS = _dejavu("Sans")
DEJAVU_SERIF = _dejavu("Serif")
VERA = _vera()


def _styled(file: str) -> Face:
    path = _folder("matplotlib", "mpl-data", "fonts", "ttf") / f"{file}.ttf"
    return Face(file, path, path)


#: Faces in which only names are drawn.
LOGOS = tuple(
    _styled(file)
    for file in (
        *("DejaVuSerif-BoldItalic", "DejaVuSerif-Italic", "DejaVuSans-BoldOblique"),
        *("STIXGeneral", "STIXGeneralBolIta"),
    )
)


@dataclass(frozen=True, slots=True)
class Case:
    """The available faces."""

    fixed: tuple[Face, ...] = (COURIER, DEJAVU_MONO)
    proportional: tuple[Face, ...] = (HELVETICA, TIMES, DEJAVU_SANS, DEJAVU_SERIF, VERA)


def with_more(folder: Path) -> Case:
    """Return the usual faces and those of a folder's `NAME.ttf`, bold in `NAME-Bold.ttf`."""
    more = [_added(file) for file in sorted(folder.glob("*.ttf")) if "-" not in file.stem]
    usual = Case()
    return Case(
        (*usual.fixed, *(face for face in more if face.is_fixed)),
        (*usual.proportional, *(face for face in more if not face.is_fixed)),
    )


def _added(file: Path) -> Face:
    bold = file.with_name(f"{file.stem}-Bold.ttf")
    font = _font(file, 100)
    is_fixed = font.getlength("i") == font.getlength("M")
    return Face(file.stem, file, bold if bold.exists() else file, is_fixed)
