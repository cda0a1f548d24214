"""Which URLs and addresses webhooks may be sent to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.lib import webhook_urls
from recibo.lib.webhook_urls import Policy, Target

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
    "169\uff61254\uff0e169。254",
    "\u2460\u2465\u2468.254.169.254",
    "169.254.169.254\ufe0f",
    "169.254.43518",
    "169.16689662",
    "0xA9FEA9FE",
    "025177524776",
    "[::FFFF:A9FE:A9FE]",
    "[0:0:0:0:0:ffff:169.254.169.254]",
    # As IPv4-compatible and IPv4-translated addresses.
    "[::169.254.169.254]",
    "[::ffff:0:169.254.169.254]",
    # Local-use NAT64 with the address at another position.
    "[64:ff9b:1:a9fe:a9:fe00:808:808]",
    # Teredo, by its server and by its client.
    "[2001:0:a9fe:a9fe::]",
    "[2001:0:808:808::5601:5601]",
    "[fd00:ec2::23]",
    "[fd20:ce::254]",
    "[fd00:c1::a9fe:a9fe]",
    "[fd00:42::42]",
    "100.100.100.200",
    "169.254.170.2",
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
    "017700000001",
    "0x7f000001",
    "127.0.0.1.",
    "127。0。0。1",
    "\uff11\uff12\uff17.1",
    "127.0.0x0.01",
]
NOWHERE = ["0.0.0.0",  # noqa: S104 - nothing is bound
           "[::]", "0", "224.0.0.1", "255.255.255.255", "[ff02::1]", "[fec0::1]",
           "192.0.0.170", "100.64.0.1", "0.1.2.3", "00", "0x0", "[::2]", "[4000::1]", "[5f00::1]",
           "[3fff::1]", "[192.88.99.1]", "192.88.99.1", "[64:ff9b::]", "[2002::]"]  # fmt: skip
PUBLIC = ["93.184.216.34", "[2606:2800:220:1::1]", "example.com", "example.com:8443", "xn--a.test",
          "bücher.example", "hook_receiver", "example.com.", "1e100.net", "3.example",
          "[64:ff9b::808:808]",
          "[2002:808:808::1]", "8.8.8.8.", "0x08.010.2056"]  # fmt: skip


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


@pytest.mark.parametrize(
    ("url", "path", "query"),
    [
        ("http://a.test/caf\u00e9?q=\u00fc&x=%20%C3%BC", "/caf%C3%A9", "q=%C3%BC&x=%20%C3%BC"),
        ("http://a.test/%zz?%zz=100%&b=a+b", "/%zz", "%zz=100%&b=a+b"),
        ("http://a.test/!$&'()*+,;=:@-._~/?a=/?:@", "/!$&'()*+,;=:@-._~/", "a=/?:@"),
        ("http://a.test/\N{GRINNING FACE}", "/%F0%9F%98%80", ""),
        ("http://b\u00fccher.test?\u4e2d", "/", "%E4%B8%AD"),
    ],
)
def test_path_and_query_are_sent_in_ascii(url: str, path: str, query: str) -> None:
    target = webhook_urls.target(url, DEVELOPMENT)

    assert isinstance(target, Target)
    assert (path, query) == (target.path, target.query)
    assert target.host.isascii()


def test_production_wants_https() -> None:
    assert webhook_urls.problem("http://example.com/", PRODUCTION) is not None
    assert webhook_urls.problem("http://example.com/", DEVELOPMENT) is None


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "//example.com", "ftp://example.com", "javascript:alert(1)", "https://",
     "https:///path", "https://:443/", "https://user@example.com/", "https://u:p@example.com/",
     "https://example.com:port/", "https://example.com:65536/", "https://[::1", "https://a b/",
     "https://example.com:0/", "https://example.com:-1/", "https://example.com:8 /",
     "https://example.com:99999999999999999999/", "https://user:@example.com/", "https://@example.com/",
     "https://example.com\\@evil.example/", "https://evil.example\\.example.com/",
     "https://%31%32%37.0.0.1/",
     "https://exa%6dple.com/", "https://[::1%25eth0]/", "https://[fe80::1%eth0]/",
     "https://[2606:2800:220:1::1%25eth0]/", "https://[v1.example]/", "https://[example.com]/",
     "https://a..b/", "https://example.com../", "https://./", "https://.example.com/",
     "https://1.2.3.4.5/", "https://256.256.256.256/", "https://example.1/", "https://example.0x7f/",
     "https://*.example.com/", "https://a,b/", "https://" + "a" * 64 + ".test/",
     "https://" + ".".join(["a" * 50] * 6) + "/", "https://。/", "https://\u0661\u0662\u0667.0.0.1/",
     "file:///etc/passwd", "gopher://127.0.0.1:6379/_x", "ws://example.com/", "data:text/plain,a",
     "https:example.com", "https:/example.com", "\nhttps://example.com/", "https://exam\u200bple.com/",
     "https://example.com/\r\nHost: b", "https://example.com/\0", "https://\ud800/", "https://a\t/"],
)  # fmt: skip
def test_what_is_no_plain_url_never_passes(url: str) -> None:
    assert webhook_urls.problem(url, DEVELOPMENT) is not None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Example.COM", ("https", "example.com", 443, "/", "", "example.com")),
        ("HTTPS://example.com.:443/a", ("https", "example.com", 443, "/a", "", "example.com")),
        (
            "http://a.test:8080/a;b?c=d&e#f",
            ("http", "a.test", 8080, "/a;b", "c=d&e", "a.test:8080"),
        ),
        ("https://a.test:80/", ("https", "a.test", 80, "/", "", "a.test:80")),
        ("https://BÜCHER.example/ü", ("https", "xn--bcher-kva.example", 443, "/%C3%BC", "", None)),
        ("http://0x7f.1/", ("http", "127.0.0.1", 80, "/", "", "127.0.0.1")),
        (
            "http://[::FFFF:7f00:1]:81/",
            ("http", "::ffff:7f00:1", 81, "/", "", "[::ffff:7f00:1]:81"),
        ),
    ],
)
def test_target_of_a_url_is_what_is_connected_to(url: str, expected: tuple[object, ...]) -> None:
    found = webhook_urls.target(url, DEVELOPMENT)

    assert isinstance(found, Target)
    parts = (found.scheme, found.host, found.port, found.path, found.query, found.authority)
    assert expected[:-1] == parts[:-1]
    assert expected[-1] in (None, found.authority)


def test_only_ip_addresses_are_recognized() -> None:
    hosts = ["example.com", "2130706433", "[::1]", "\uff11\uff12\uff17.1"]
    found = [webhook_urls.target(f"http://{host}/", DEVELOPMENT) for host in hosts]

    assert [None, "127.0.0.1", "::1", "127.0.0.1"] == [
        str(one.address) if isinstance(one, Target) and one.address else None for one in found
    ]


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
