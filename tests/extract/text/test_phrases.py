import pytest

from recibo.extract.text.phrases import Phrasebook

BOOK = Phrasebook(
    {"total": ["total", "grand total"], "subtotal": ["sub total"], "tax": ["tax"]},
    repaired=["total"],
)


def found(text: str) -> list[tuple[str, str]]:
    return [(phrase.kind, text[phrase.start : phrase.end]) for phrase in BOOK.find(text)]


def test_the_longer_phrase_wins() -> None:
    assert found("GRAND TOTAL 5.00") == [("total", "GRAND TOTAL")]
    assert found("Sub-Total: 5.00") == [("subtotal", "Sub-Total")]


def test_a_short_phrase_must_be_a_word() -> None:
    assert found("taxi fare") == []
    assert found("tax 6%") == [("tax", "tax")]


def test_a_short_phrase_with_a_misread_letter_is_not_in_a_code() -> None:
    book = Phrasebook({"tax_id": ["cif"]})

    assert [phrase.kind for phrase in book.find("C1F: A46128831")] == ["tax_id"]
    assert book.find("7C1F0A22") == ()


def test_a_long_phrase_may_be_joined_to_the_next_word() -> None:
    assert found("TOTALRM12.50") == [("total", "TOTAL")]


def test_a_phrase_may_be_joined_to_the_one_before() -> None:
    assert found("TOTALTAX 12.50") == [("total", "TOTAL"), ("tax", "TAX")]


def test_a_phrase_of_one_character_is_found() -> None:
    book = Phrasebook({"tax": ["税"], "total": ["grand total"]})

    assert [phrase.kind for phrase in book.find("税 80 GRAND TOTAL 880")] == ["tax", "total"]


def test_a_phrase_does_not_begin_within_a_word() -> None:
    assert found("metatotal") == []


@pytest.mark.parametrize("text", ["T0TAL", "Tatal", "TOTL", "lotal", "TOTTAL"])
def test_a_word_with_one_misread_letter_is_found(text: str) -> None:
    assert found(text) == [("total", text)]


def test_the_end_of_a_split_word_is_not_repaired() -> None:
    book = Phrasebook(
        {"total": ["total"], "subtotal": ["subtotal"]}, repaired=["total", "subtotal"]
    )

    assert [phrase.kind for phrase in book.find("SubT otal: 251.00")] == ["subtotal"]


def test_numbers_next_to_a_phrase_are_not_part_of_it() -> None:
    assert found("TOTAL 5.00") == [("total", "TOTAL")]
    assert found("TOTAL5.00") == [("total", "TOTAL")]


def test_a_text_of_only_phrases_is_detected() -> None:
    assert BOOK.is_all("GRAND TOTAL (TAX)")
    assert not BOOK.is_all("TOTAL ENERGIES")


def test_a_phrase_does_not_end_inside_the_next_word() -> None:
    book = Phrasebook({"total": ["totale"]})

    assert book.find("total excl") == ()


def test_in_running_text_words_are_not_joined() -> None:
    book = Phrasebook({"title": ["nota", "addition"]}, joined=False)

    assert book.find("this is not a bill, additional copies") == ()
    assert [phrase.kind for phrase in book.find("NOTA 12")] == ["title"]


def test_short_words_are_not_joined() -> None:
    book = Phrasebook({"total": ["i alt", "total due"]})

    assert [phrase.kind for phrase in book.find("I ALT 5,00")] == ["total"]
    assert [phrase.kind for phrase in book.find("TOTALDUE 5,00")] == ["total"]
    assert book.find("LAIT 5,00") == ()
