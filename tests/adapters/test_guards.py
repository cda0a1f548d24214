"""Webhooks are not sent to private addresses or to servers with wrong certificates."""

import asyncio
import ssl
from collections.abc import AsyncIterator

import pytest
import trustme

from recibo.lib.webhook_urls import Policy
from tests import receivers
from tests.posting import (
    DEVELOPMENT,
    PRODUCTION,
    SHORT_TIMEOUT_S,
    FakeResolver,
    checked_client,
    post,
)
from tests.receivers import Receiver, receiving


@pytest.fixture
def receiver() -> Receiver:
    """The webhook receiver."""
    return Receiver()


@pytest.fixture
async def port(receiver: Receiver) -> AsyncIterator[int]:
    """The port of a server on this machine."""
    async with receiving(receiver) as chosen:
        yield chosen


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """The certificate authority of the test servers."""
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """A TLS context that trusts only that authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def server_tls(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    """Return what a server shows that has these names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.mark.parametrize(
    ("name", "error"),
    [("unknown.test", "the name does not resolve"), ("hangs", "the name was not resolved in time")],
)
async def test_name_without_an_address_is_reported(name: str, error: str) -> None:
    outcome = await post(checked_client(), f"http://{name}/")

    assert (None, error) == (outcome.status, outcome.error)


REFUSED_ALWAYS = [
    "169.254.169.254",
    "169.254.170.2",
    "fe80::1",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00:808:808",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::",
    "fd00:ec2::254",
    "fd20:ce::254",
    "168.63.129.16",
    "100.100.100.200",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "0.0.0.1",
    "::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
]
PRIVATE = ["127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "fd12::1",
           "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]  # fmt: skip
NOT_SENT_TO = "the name has no address that webhooks are sent to"


@pytest.mark.parametrize("address", REFUSED_ALWAYS)
async def test_name_of_a_refused_address_is_not_connected_to(address: str) -> None:
    for policy in (PRODUCTION, DEVELOPMENT):
        sender = checked_client(policy, known={"evil.test": [[address]]})

        assert NOT_SENT_TO == (await post(sender, "https://evil.test/")).error


@pytest.mark.parametrize("address", PRIVATE)
async def test_name_of_a_private_address_is_not_connected_to_unless_allowed(address: str) -> None:
    sender = checked_client(PRODUCTION, known={"evil.test": [[address]]})

    assert NOT_SENT_TO == (await post(sender, "https://evil.test/")).error


async def test_private_address_of_this_machine_is_not_connected_to(
    receiver: Receiver, port: int
) -> None:
    policy = Policy(https_only=False, private_allowed=False)
    sender = checked_client(policy, known={"evil.test": [["127.0.0.1", "::ffff:127.0.0.1"]]})

    for url in (f"http://evil.test:{port}/", f"http://127.0.0.1:{port}/", f"http://0x7f.1:{port}/"):
        assert (await post(sender, url)).status is None
    assert 0 == receiver.connections


async def test_only_the_allowed_addresses_of_a_name_are_connected_to(
    receiver: Receiver, port: int
) -> None:
    known = {"both.test": [["169.254.169.254", "127.0.0.1"]]}

    outcome = await post(checked_client(known=known), f"http://both.test:{port}/")

    assert (200, 1) == (outcome.status, receiver.connections)


async def test_name_is_looked_up_once_and_that_address_is_the_one_connected_to(
    receiver: Receiver, port: int
) -> None:
    names = FakeResolver(**{"rebinding.test": [["127.0.0.1"], ["169.254.169.254"]]})
    sender = checked_client(resolver=names)

    first, second = [await post(sender, f"http://rebinding.test:{port}/") for _ in range(2)]

    assert (200, NOT_SENT_TO) == (first.status, second.error)
    assert (2, 1) == (len(names.asked), receiver.connections)


@pytest.mark.parametrize(
    "url",
    ["http://a.test/", "https://user@a.test/", "https://a.test:0/", "https://a.test:65536/",
     "ftp://a.test/", "https://169.254.169.254/", "https://a.test/\r\nX: y", "https://[::1", "",
     "https://127.0.0.1/", "https://2130706433/", "https://\ud800/", "https://%31.test/"],
)  # fmt: skip
async def test_url_that_is_not_allowed_now_is_not_looked_up(url: str) -> None:
    names = FakeResolver()

    outcome = await post(checked_client(PRODUCTION, resolver=names), url)

    assert (outcome.error or "").startswith("the URL ")
    assert [] == names.asked


async def test_certificate_is_checked_against_the_name_of_the_url(
    receiver: Receiver, authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    sender = checked_client(
        tls=trusting, known={"hooks.test": [["127.0.0.1"]], "b.test": [["127.0.0.1"]]}
    )
    async with receiving(receiver, tls=server_tls(authority, "hooks.test")) as port:
        good = await post(sender, f"https://hooks.test.:{port}/")
        bad = await post(sender, f"https://b.test:{port}/")

    assert (200, None) == (good.status, good.error)
    assert ["hooks.test", "b.test"] == receiver.asked_for
    assert f"hooks.test:{port}" == receiver.requests[0].headers["host"]
    assert bad.error == ("TLS failed: Hostname mismatch, certificate is not valid for 'b.test'.")
    assert 1 == len(receiver.requests)


async def test_certificate_of_an_address_is_checked_against_it(
    receiver: Receiver, authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    async with receiving(receiver, tls=server_tls(authority, "127.0.0.1")) as port:
        good = await post(checked_client(tls=trusting), f"https://127.0.0.1:{port}/")
    async with receiving(receiver, tls=server_tls(authority, "hooks.test")) as port:
        bad = await post(checked_client(tls=trusting), f"https://127.0.0.1:{port}/")

    assert 200 == good.status
    assert (bad.error or "").startswith("TLS failed: IP address mismatch")


async def test_self_signed_certificate_is_refused(receiver: Receiver) -> None:
    known = {"hooks.test": [["127.0.0.1", "127.0.0.1"]]}
    async with receiving(receiver, tls=server_tls(trustme.CA(), "hooks.test")) as port:
        outcome = await post(checked_client(known=known), f"https://hooks.test:{port}/")

    assert (outcome.error or "").startswith("TLS failed: ")
    assert [] == receiver.requests


async def test_server_without_tls_is_reported(receiver: Receiver, port: int) -> None:
    receiver.manner = receivers.hang

    outcome = await post(checked_client(limit_s=SHORT_TIMEOUT_S), f"https://127.0.0.1:{port}/")

    assert outcome.status is None
    assert (outcome.error or "").startswith(("TLS failed: ", "the host did not"))


async def test_tls_that_hangs_is_given_up() -> None:
    async def ignore(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await receivers.hang(writer)

    async with receivers.serving(ignore) as port:
        outcome = await post(checked_client(limit_s=SHORT_TIMEOUT_S), f"https://127.0.0.1:{port}/")

    assert "the host did not answer in time" == outcome.error


async def test_certificates_that_browsers_believe_are_believed() -> None:
    tls = checked_client().tls

    assert ssl.CERT_REQUIRED == tls.verify_mode
    assert tls.check_hostname
    assert 100 < tls.cert_store_stats()["x509_ca"]
