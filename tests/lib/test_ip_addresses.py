"""Addresses in one spelling, and what limits count them by."""

import pytest

from recibo.lib import ip_addresses


@pytest.mark.parametrize(
    ("address", "subject"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        # Addresses that stand for one of IPv4 count as that one.
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("64:ff9b::203.0.113.9", "203.0.113.9"),
        ("2002:cb00:7109:1234::1", "203.0.113.9"),
        (None, ""),
        ("/run/recibo.sock", ""),
    ],
)
def test_limits_count_ipv4_by_address_and_ipv6_by_network(
    address: str | None, subject: str
) -> None:
    assert subject == ip_addresses.limit_subject(address)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("2001:DB8:0:0::9", "2001:db8::9"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("203.0.113.9", "203.0.113.9"),
        ("localhost", None),
        ("", None),
    ],
)
def test_address_has_one_spelling(text: str, spelling: str | None) -> None:
    assert spelling == ip_addresses.normalized(text)
