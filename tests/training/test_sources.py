"""Documents with the same repository, generator or seller are held out together."""

from training import sources


def test_documents_of_one_origin_or_seller_have_one_source() -> None:
    found = sources.sources(
        {
            "a": ("owner/photos", "Corner Shop"),
            "b": ("owner/photos", "Other Place"),
            "c": ("", "OTHER PLACE (Kota) Sdn Bhd"),
            "d": ("", "Third Market"),
        }
    )

    assert found["a"] == found["b"] == found["c"] == "a"
    assert found["d"] == "d"


def test_accents_and_punctuation_do_not_make_another_seller() -> None:
    found = sources.sources({"a": ("", "Açaí & Pão da Serra"), "b": ("", "ACAI PAO DA SERRA")})

    assert found["a"] == found["b"]


def test_documents_without_a_seller_are_separate_sources() -> None:
    found = sources.sources({"a": ("", ""), "b": ("", "")})

    assert found["a"] != found["b"]


def test_folds_have_whole_sources_and_similar_sizes() -> None:
    documents = [f"source {size}" for size in range(1, 21) for _ in range(size)]

    by_source = sources.folds(documents)
    sizes = [0] * sources.FOLDS
    for source in documents:
        sizes[by_source[source]] += 1

    assert set(documents) == by_source.keys()
    assert max(sizes) - min(sizes) <= 2


def test_folds_do_not_depend_on_the_order_of_documents() -> None:
    documents = ["a", "b", "b", "c", "d", "d", "e", "f"]

    assert sources.folds(documents) == sources.folds(documents[::-1])
