"""Mails of a real server: queued by one process, sent by the next, with working links."""

from pathlib import Path

import httpx

from tests import mail_servers
from tests.mail_servers import Inbox, part
from tests.serving.running import QUICK, serving

SIGNUP = {
    "email": "mara@acme.test",
    "password": "correct horse battery",
    "full_name": "Mara",
    "org_name": "Acme",
}


async def test_pending_mail_of_a_killed_server_is_sent_by_the_next(tmp_path: Path) -> None:
    inbox = Inbox()
    with serving(tmp_path, "--no-worker") as first:
        async with httpx.AsyncClient(base_url=first.url) as client:
            assert 201 == (await client.post("/v1/auth/signup", json=SIGNUP)).status_code
        first.kill()
    async with mail_servers.serving(inbox) as port:
        with serving(tmp_path, program=QUICK, EMAIL_URL=f"smtp://127.0.0.1:{port}") as second:
            await inbox.has_mail.wait()

    (mail,) = inbox.mails
    assert "mara@acme.test" == mail["To"]
    assert f"{second.url}/portal/verify-email?token=" in part(mail, "plain")
    assert not (tmp_path / "outbox").exists()


def test_a_server_that_sends_no_mail_says_where_to_read_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker") as server:
        assert server.process.stdout is not None
        result = server.process.stdout.readline()
        shown = httpx.get(f"{server.url}/portal/inbox")

    assert (
        f"Mail is written to {tmp_path / 'outbox'}; read it at {server.url}/portal/inbox\n"
        == result
    )
    assert 200 == shown.status_code
