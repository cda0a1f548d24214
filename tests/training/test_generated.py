from itertools import islice

from training.fields import generated


def test_the_same_headers_are_made_every_time_and_some_are_misread() -> None:
    first, again = (list(islice(generated.headers(), 4)) for _ in range(2))

    assert first == again
    names = [str(made.truth.merchant_name) for made in first]
    texts = [" ".join(line.text for page in made.pages for line in page.lines) for made in first]
    # The first is read as it is printed.
    assert set(names[0].split()) <= set(texts[0].split())
    assert len(set(texts)) == len(texts)
