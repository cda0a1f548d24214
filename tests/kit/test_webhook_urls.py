"""Which URLs and addresses webhooks may be sent to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.kit import webhook_urls
from recibo.kit.webhook_urls import Policy

PRODUCTION = Policy(https_only=True, private_allowed=False)
DEVELOPMENT = Policy(https_only=False, private_allowed=True)

METADATA = [
    "169.254.169.254",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    "[fd00:ec2::254]",
    "168.63.129.16",
    "0xa9.0xfe.0xa9.0xfe",
    "2852039166",
    "0251.0376.0251.0376",
    "169.254.169.254.",
    "\uff11\uff16\uff19.254.169.254",
    "169。254。169。254",
]
PRIVATE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "[::1]",
    "[fd12::1]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
]
NOWHERE = ["0.0.0.0",  # noqa: S104 - nothing is bound
           "[::]", "0", "224.0.0.1", "255.255.255.255", "[ff02::1]", "[fec0::1]",
           "192.0.0.170", "100.64.0.1"]  # fmt: skip
PUBLIC = ["93.184.216.34", "[2606:2800:220:1::1]", "example.com", "example.com:8443", "xn--a.test"]


@pytest.mark.parametrize("host", PUBLIC)
def test_public_addresses_and_names_pass(host: str) -> None:
    assert webhook_urls.problem(f"https://{host}/hook?a=b#c", PRODUCTION) is None


@pytest.mark.parametrize("host", METADATA + NOWHERE)
def test_link_local_metadata_and_odd_addresses_never_pass(host: str) -> None:
    for policy in (PRODUCTION, DEVELOPMENT):
        assert webhook_urls.problem(f"https://{host}/", policy) is not None


@pytest.mark.parametrize("host", PRIVATE)
def test_private_addresses_pass_only_where_they_are_allowed(host: str) -> None:
    assert webhook_urls.problem(f"https://{host}/", PRODUCTION) is not None
    assert webhook_urls.problem(f"https://{host}/", DEVELOPMENT) is None


def test_production_wants_https() -> None:
    assert webhook_urls.problem("http://example.com/", PRODUCTION) is not None
    assert webhook_urls.problem("http://example.com/", DEVELOPMENT) is None


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "//example.com", "ftp://example.com", "javascript:alert(1)", "https://",
     "https:///path", "https://:443/", "https://user@example.com/", "https://u:p@example.com/",
     "https://example.com:port/", "https://example.com:65536/", "https://[::1", "https://a b/",
     "https://example.com/\r\nHost: b", "https://example.com/\0", "https://\ud800/", "https://a\t/"],
)  # fmt: skip
def test_what_is_no_plain_url_never_passes(url: str) -> None:
    assert webhook_urls.problem(url, DEVELOPMENT) is not None


def test_url_of_2048_characters_passes_and_one_more_does_not() -> None:
    url = "https://example.com/".ljust(2048, "a")

    assert webhook_urls.problem(url, PRODUCTION) is None
    assert webhook_urls.problem(url + "a", PRODUCTION) is not None


@given(st.text())
def test_nothing_is_too_odd_to_be_judged(text: str) -> None:
    webhook_urls.problem(text, DEVELOPMENT)
    webhook_urls.problem(f"https://{text}", DEVELOPMENT)


@given(st.ip_addresses(v=4))
def test_wrapped_address_is_judged_as_the_one_inside(inner: ipaddress.IPv4Address) -> None:
    wrapped = [
        ipaddress.IPv6Address(f"::ffff:{inner}"),
        ipaddress.IPv6Address(f"64:ff9b::{inner}"),
        ipaddress.IPv6Address((0x2002 << 112) | (int(inner) << 80)),
    ]

    for policy in (PRODUCTION, DEVELOPMENT):
        allowed = webhook_urls.is_allowed(inner, policy)
        assert [allowed] * 3 == [webhook_urls.is_allowed(one, policy) for one in wrapped]
