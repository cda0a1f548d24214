"""Words from the letters of a PDF's text layer, which may have no spaces between them."""

from recibo.extract.document import text_layer
from recibo.extract.document.pdf_letters import Glyph
from recibo.extract.model import Box

HEIGHT = 20.0
# Of a font that gives letters boxes which are wider than they are, as shares of their height:
# between two letters, behind a capital, and at a space, which is no letter.
INSIDE, BEHIND_CAPITAL, SPACE = -0.25, -0.19, -0.16


def _words(text: str) -> list[str]:
    """Return the words of a text in that font."""
    glyphs: list[Glyph] = []
    x, gap = 0.0, 0.0
    for before, letter in zip(f" {text}", text, strict=False):
        if letter == " ":
            continue
        if before == " ":
            gap = SPACE
        elif before.isupper() and letter.islower():
            gap = BEHIND_CAPITAL
        else:
            gap = INSIDE
        x += gap * HEIGHT if glyphs else 0
        glyphs.append(Glyph(letter, Box(x, 0, x + 0.65 * HEIGHT, HEIGHT), 0))
        x += 0.65 * HEIGHT
    return [word.text for word in text_layer.words(glyphs, page=1)]


def test_narrow_spaces_between_letters_whose_boxes_overlap() -> None:
    assert _words("Local de pagamento") == ["Local", "de", "pagamento"]
    assert _words("Nosso número") == ["Nosso", "número"]


def test_letters_behind_a_capital_are_in_its_word() -> None:
    assert _words("Pagador") == ["Pagador"]
    assert _words("Valor cobrado") == ["Valor", "cobrado"]
