"""Signed tokens, sealed texts, keyed fingerprints."""

import base64
import hashlib
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from recibo.lib.keyring import BadTokenError, Keyring

SECRET = "the secret of a test"  # noqa: S105 - opens nothing
OTHER = "the secret of another"
CLAIMS: dict[str, Any] = {"sub": "usr_1", "exp": 2_000_000_000, "iat": 1_000_000_000, "jti": "1"}
FOR = "recibo:test"


def keyring(secret: str = SECRET, *previous: str) -> Keyring:
    """Return a keyring."""
    return Keyring(secret, previous=previous)


def signing_key(secret: str = SECRET) -> bytes:
    """Return the key with which a secret signs."""
    return HKDF(SHA256(), 32, salt=None, info=b"recibo sign").derive(secret.encode())


def legacy_id(secret: str = SECRET) -> str:
    """Return how the first version named a secret."""
    return hashlib.sha256(signing_key(secret)).hexdigest()[:8]


def part(content: object) -> str:
    """Return one part of a JWT."""
    text = content if isinstance(content, str) else json.dumps(content)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def key_id(ring: Keyring) -> str:
    """Return how a keyring names its newest secret."""
    return str(jwt.get_unverified_header(ring.sign(CLAIMS, audience=FOR))["kid"])


def with_head(**changes: object) -> str:
    """Return a good token whose head was exchanged."""
    head = {"alg": "HS256", "typ": "JWT", "kid": key_id(keyring())} | changes
    named = {name: value for name, value in head.items() if value is not None}
    return ".".join([part(named), *keyring().sign(CLAIMS, audience=FOR).split(".")[1:]])


def test_claims_come_back() -> None:
    token = keyring().sign(CLAIMS, audience=FOR)

    assert CLAIMS.items() <= keyring().claims(token, audience=FOR).items()


def test_end_is_for_the_caller_to_judge() -> None:
    token = keyring().sign(CLAIMS | {"exp": 1}, audience=FOR)

    assert 1 == keyring().claims(token, audience=FOR)["exp"]


def refused(token: str, *, ring: Keyring | None = None, audience: str = FOR) -> bool:
    """Return whether a token is refused with BadTokenError."""
    with pytest.raises(BadTokenError):
        (ring or keyring()).claims(token, audience=audience)
    return True


def test_token_is_good_for_its_audience_alone() -> None:
    assert refused(keyring().sign(CLAIMS, audience=FOR), audience="recibo:other")


def test_token_that_was_good_is_judged_again_for_all_else() -> None:
    ring = keyring()
    token = ring.sign(CLAIMS, audience=FOR)
    first, again = (ring.claims(token, audience=FOR) for _ in range(2))
    head, body, signature = token.split(".")

    assert first == again
    assert refused(token, ring=ring, audience="recibo:other")
    assert refused(f"{head}.{body}.{signature[::-1]}", ring=ring)
    assert refused(token, ring=keyring(OTHER))


def test_claims_that_were_read_cannot_be_changed() -> None:
    claims: Any = keyring().claims(keyring().sign(CLAIMS, audience=FOR), audience=FOR)

    with pytest.raises(TypeError):
        claims["sub"] = "usr_2"


@pytest.mark.parametrize("missing", ["sub", "exp", "iat", "jti"])
def test_claim_that_is_missing_is_refused(missing: str) -> None:
    claims = {name: value for name, value in CLAIMS.items() if name != missing}

    assert refused(keyring().sign(claims, audience=FOR))


@pytest.mark.parametrize("claims", [{"sub": 1}, {"sub": None}, {"jti": 1}, {"jti": []}])
def test_ids_that_are_no_strings_are_refused(claims: dict[str, Any]) -> None:
    token = jwt.encode(
        CLAIMS | {"iss": "recibo", "aud": FOR, "sub": "usr_1"},
        signing_key(),
        headers={"kid": key_id(keyring())},
    )
    assert keyring().claims(token, audience=FOR)
    body = json.dumps(CLAIMS | {"iss": "recibo", "aud": FOR} | claims).encode()
    bad = jwt.PyJWS().encode(body, signing_key(), headers={"kid": key_id(keyring()), "typ": "JWT"})

    assert refused(bad)


@pytest.mark.parametrize(
    "head",
    [
        {"alg": "none"},
        {"alg": "None"},
        {"alg": "HS512"},
        {"alg": "RS256"},
        {"alg": []},
        {"alg": None},
        {"kid": None},
        {"kid": "unknown"},
        {"kid": "../../dev/null"},
        {"kid": 1},
        {"kid": []},
        {"kid": {}},
        {"b64": False, "crit": ["b64"]},
        {"crit": ["nonsense"]},
    ],
    ids=str,
)
def test_head_that_was_changed_is_refused(head: dict[str, Any]) -> None:
    assert refused(with_head(**head))


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest.mark.parametrize("algorithm", ["none", "HS384", "HS512"])
def test_other_algorithms_are_refused_though_the_key_is_ours(algorithm: str) -> None:
    key = "" if algorithm == "none" else signing_key()
    claims = CLAIMS | {"iss": "recibo", "aud": FOR}
    head = {"kid": key_id(keyring())}

    assert refused(jwt.encode(claims, key, algorithm=algorithm, headers=head))


def test_token_of_another_secret_is_refused_whatever_it_names() -> None:
    foreign = keyring(OTHER).sign(CLAIMS, audience=FOR)
    head = {"alg": "HS256", "typ": "JWT", "kid": key_id(keyring())}
    renamed = jwt.encode(CLAIMS | {"iss": "recibo", "aud": FOR}, signing_key(OTHER), headers=head)

    assert refused(foreign)
    assert refused(renamed)


def test_token_that_names_another_of_our_secrets_is_refused() -> None:
    ring = keyring(SECRET, OTHER)
    claims = CLAIMS | {"iss": "recibo", "aud": FOR}
    head = {"kid": key_id(keyring(OTHER))}

    assert refused(jwt.encode(claims, signing_key(), headers=head), ring=ring)


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_brackets_nested_deeply_are_refused(depth: int) -> None:
    deep = "[" * depth

    assert refused(f"{part(deep)}.{part(deep)}.{part('')}")
    assert refused(part('{"kid":' + deep) + f".{part({})}.{part('')}")


@given(st.text())
def test_whatever_is_no_token_is_refused(text: str) -> None:
    assert refused(text)


@given(st.lists(st.text(), min_size=3, max_size=3))
def test_whatever_has_three_parts_is_refused(texts: list[str]) -> None:
    assert refused(".".join(base64.urlsafe_b64encode(one.encode()).decode() for one in texts))


def test_older_secrets_verify_and_open_but_no_longer_sign() -> None:
    old, ring = keyring(OTHER), keyring(SECRET, OTHER)

    assert ring.claims(old.sign(CLAIMS, audience=FOR), audience=FOR)
    assert "text" == ring.unseal(old.seal("text", bound_to="a"), bound_to="a")
    assert old.fingerprint("code", bound_to="a") in ring.fingerprints("code", bound_to="a")
    assert refused(ring.sign(CLAIMS, audience=FOR), ring=old)
    assert keyring().fingerprint("code", bound_to="a") == ring.fingerprint("code", bound_to="a")


def test_secret_that_is_named_twice_is_the_newest() -> None:
    ring = keyring(SECRET, SECRET)

    assert keyring().claims(ring.sign(CLAIMS, audience=FOR), audience=FOR)


def test_id_of_a_secret_reveals_nothing_about_it() -> None:
    assert key_id(keyring()) == key_id(keyring())
    assert key_id(keyring()) != key_id(keyring(OTHER))
    assert 8 == len(key_id(keyring()))


def test_name_of_a_secret_is_derived_apart_from_its_keys() -> None:
    derived = HKDF(SHA256(), 32, salt=None, info=b"recibo key id").derive(SECRET.encode())
    sealed = keyring().seal("text", bound_to="a")

    assert derived.hex()[:8] == key_id(keyring()) == sealed.partition(".")[0]
    assert legacy_id() != key_id(keyring())


@pytest.mark.parametrize("ring", [keyring(), keyring(OTHER, SECRET)], ids=["newest", "previous"])
def test_what_carries_the_name_of_the_first_version_stays_good(ring: Keyring) -> None:
    """Its name was a hash of the signing key."""
    claims = CLAIMS | {"iss": "recibo", "aud": FOR}
    token = jwt.encode(claims, signing_key(), headers={"kid": legacy_id()})
    sealed = keyring().seal("text", bound_to="a").partition(".")[2]

    assert CLAIMS.items() <= ring.claims(token, audience=FOR).items()
    assert "text" == ring.unseal(f"{legacy_id()}.{sealed}", bound_to="a")
    # Of another secret's name it is refused as ever.
    other = jwt.encode(claims, signing_key(), headers={"kid": legacy_id(OTHER)})
    assert refused(other, ring=ring)


@given(st.text(), st.text())
def test_what_is_sealed_opens_for_what_it_is_bound_to(text: str, bound_to: str) -> None:
    sealed = keyring().seal(text, bound_to=bound_to)

    assert text == keyring().unseal(sealed, bound_to=bound_to)


def test_sealing_twice_gives_two_texts() -> None:
    assert keyring().seal("text", bound_to="a") != keyring().seal("text", bound_to="a")


def test_what_was_changed_or_bound_to_another_does_not_open() -> None:
    sealed = keyring().seal("text", bound_to="usr_1")
    id_, _, text = sealed.partition(".")
    data = bytearray(base64.b64decode(text))
    data[-1] ^= 1

    for bad, bound_to in [
        (sealed, "usr_2"),
        (f"{id_}.{base64.b64encode(bytes(data)).decode()}", "usr_1"),
        (f"unknown.{text}", "usr_1"),
        (f"{id_}.", "usr_1"),
        (f"{id_}.{text[:8]}", "usr_1"),
        (f"{id_}.é", "usr_1"),
        (text, "usr_1"),
        ("", "usr_1"),
    ]:
        with pytest.raises(BadTokenError):
            keyring().unseal(bad, bound_to=bound_to)


def test_fingerprints_depend_on_text_binding_and_secret() -> None:
    prints = {
        keyring().fingerprint("code", bound_to="a"),
        keyring().fingerprint("code", bound_to="b"),
        keyring().fingerprint("edoc", bound_to="a"),
        keyring(OTHER).fingerprint("code", bound_to="a"),
    }

    assert 4 == len(prints)
    assert "code" not in "".join(prints)
