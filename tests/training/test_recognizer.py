"""Lines for the recognizer: their pictures show their texts, and the same seed draws the same."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recibo.extract.ocr.paddle import recognition
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from training.receipts import faces
from training.recognizer import bitmap_fonts, changes, ink, texts
from training.recognizer.lines import Lines
from training.recognizer.texts import Vocabulary

WORDS = Vocabulary(
    words={
        "en": ["coffee", "bread", "market", "station"],
        "pt": ["arroz", "leite", "queijo", "padaria"],
    },
    ideographs=[["牛乳", "大根"]],
    unknown=[["магазин", "хлеб"]],
    lines=["TOTAL 12.50", "Cash tendered 20.00", "Nota fiscal 001.234"],
)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,-/:()$%*#&"
HEIGHT, WIDTH = 24, 12


def glyphs(letters: str) -> Sequence[np.ndarray[tuple[int, int], np.dtype[np.bool_]]]:
    """Return letters as a grid of dots."""
    font = faces.DEJAVU_MONO.font(19, is_bold=False)
    drawn = []
    for letter in letters:
        page = Image.new("L", (WIDTH, HEIGHT))
        ImageDraw.Draw(page).text((0, 1), letter, 255, font)
        drawn.append(np.asarray(page) > 127)
    return drawn


def psf_2(letters: str) -> bytes:
    """Return a bitmap font of the second version."""
    dots = b"".join(np.packbits(glyph, axis=1).tobytes() for glyph in glyphs(letters))
    size = HEIGHT * ((WIDTH + 7) // 8)
    header = struct.pack("<8I", 0x864AB572, 0, 32, 1, len(letters), size, HEIGHT, WIDTH)
    return header + dots + b"".join(letter.encode() + b"\xff" for letter in letters)


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> ink.Fonts:
    """Return a bitmap font, and fonts that are installed for development."""
    folder = tmp_path_factory.mktemp("fonts")
    for kind, face in (
        ("fixed", faces.DEJAVU_MONO),
        ("proportional", faces.DEJAVU_SANS),
        ("display", faces.DEJAVU_SERIF),
        ("ideographs", faces.DEJAVU_SANS),
        ("unknown", faces.DEJAVU_MONO),
    ):
        (folder / kind).mkdir()
        (folder / kind / "font.ttf").write_bytes(face.regular.read_bytes())
    (folder / "bitmap").mkdir()
    (folder / "bitmap" / "font.psf").write_bytes(psf_2(LETTERS))
    return ink.fonts(folder)


def test_most_pictures_are_read_as_their_texts(fonts: ink.Fonts) -> None:
    recognizer = recognition.Recognizer(OnnxRuntimeNetwork(recognition.MODEL))
    drawn = Lines(WORDS, fonts, LETTERS, seed=1)
    lines = [(picture, text) for picture, text in (drawn.line() for _ in range(40)) if text]

    right = [
        "".join(piece.text for piece in recognizer(picture)).replace(" ", "")
        == text.replace(" ", "")
        for picture, text in lines
    ]

    assert len(lines) > 25
    assert sum(right) > 0.6 * len(lines)


def test_lines_in_an_unknown_script_have_no_text(fonts: ink.Fonts) -> None:
    drawn = Lines(WORDS, fonts, LETTERS, seed=4)

    found = [drawn.line()[1] for _ in range(40)]

    assert None in found
    assert set(LETTERS).issuperset("".join(text for text in found if text))


def test_the_same_seed_draws_the_same_lines(fonts: ink.Fonts) -> None:
    first, second, other = (Lines(WORDS, fonts, LETTERS, seed).line() for seed in (7, 7, 8))

    assert first[1] == second[1]
    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[0], other[0])


def test_batches_are_padded_to_one_width(fonts: ink.Fonts) -> None:
    batch = next(Lines(WORDS, fonts, LETTERS, seed=2).batches(share=0.02))

    assert batch.pictures.shape[1:] in {(48, width, 3) for width in (160, 320, 480, 640)}
    assert len(batch.pictures) == len(batch.texts) >= 2


def test_glyphs_of_both_versions_of_bitmap_fonts(tmp_path: Path) -> None:
    dots = bytes([0b10000001, 0b01111110])
    table = struct.pack("<4H", ord("A"), 0xFFFE, ord("Z"), 0xFFFF) + b"\xff\xff" * 255
    old, new, other = (tmp_path / name for name in ("old.psf", "new.psf", "other.psf"))
    old.write_bytes(b"\x36\x04\x00\x02" + dots * 256 + table)
    new.write_bytes(psf_2("AZ"))
    other.write_bytes(b"not a font")

    assert bitmap_fonts.read(old)["A"].tolist() == [
        [1, 0, 0, 0, 0, 0, 0, 1],
        [0, 1, 1, 1, 1, 1, 1, 0],
    ]
    assert bitmap_fonts.read(new)["Z"].astype(bool).tolist() == glyphs("Z")[0].tolist()
    with pytest.raises(ValueError, match="not a PSF font"):
        bitmap_fonts.read(other)


def test_a_file_without_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("\n")

    with pytest.raises(ValueError, match=r"en\.txt has no word"):
        texts.vocabulary(tmp_path, ["TOTAL"])


def test_a_folder_without_fonts_of_a_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bitmap").mkdir()
    (tmp_path / "bitmap" / "font.psf").write_bytes(psf_2("A"))

    with pytest.raises(ValueError, match="fixed has no font"):
        ink.fonts(tmp_path)


def test_changes_are_a_share_of_the_way_to_what_was_learned(tmp_path: Path) -> None:
    first = {"w": np.array([[1, -2, 0], [0, 0, 0]], np.float32)}
    last = {"w": np.array([[3, -2, 1], [0, 0, 0]], np.float32), "b": np.zeros(2, np.float32)}

    changes.write(tmp_path / "model.npz", changes.part(last, 0.5, first))

    read = changes.read(tmp_path / "model.npz")
    assert read["w"] == pytest.approx(np.array([[2, -2, 0.5], [0, 0, 0]]), abs=0.01)
    assert not read["b"].any()
