"""`recibo admin create-org`: the first owner of a company's own installation."""

import asyncio
import email
import email.policy
import re
from pathlib import Path

import httpx
import pytest

from tests.cli import commands
from tests.cli.commands import Done
from tests.mail_servers import Inbox, part
from tests.mail_servers import serving as serving_mail
from tests.portal import pages
from tests.serving.running import serving

OWNER = "ana@people.test"
PASSWORD = "correct horse battery staple"  # noqa: S105 - opens nothing
_LINK = re.compile(r"https?://\S+/portal/accept-invite\?token=\w{32}")


async def create_org(folder: Path, *arguments: str, **settings: str) -> Done:
    """Run the command in a thread, because the servers of the test need the event loop."""
    return await asyncio.to_thread(
        commands.run, folder, "admin", "create-org", *arguments, **settings
    )


async def test_owner_comes_in_by_the_link_of_the_command(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker", SIGNUP="invited", PAYMENTS="none") as server:
        done = await create_org(
            tmp_path, "Padaria Aurora", "--owner", OWNER, BASE_URL=server.url, SIGNUP="invited"
        )
        (link,) = _LINK.findall(done.stdout)
        async with httpx.AsyncClient(base_url=server.url) as browser:
            offered = pages.parse(await browser.get(link))
            token = offered.inputs["token"]["value"] or ""
            accepted = await browser.post("/portal/accept-invite", data={"token": token})
            set_ = await browser.post(accepted.headers["location"], data={"new_password": PASSWORD})
            members = pages.parse(await browser.get("/portal/members"))
        async with httpx.AsyncClient(base_url=server.url) as browser:
            signed_in = await browser.post(
                "/portal/sign-in", data={"email": OWNER, "password": PASSWORD}
            )
            home = pages.parse(await browser.get("/portal"))
            again = await browser.post("/portal/accept-invite", data={"token": token})

    (mail,) = [
        email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        for path in (tmp_path / "outbox").glob("*.eml")
    ]
    assert 0 == done.status
    assert "The operator of this installation invites you, ana@people.test" in offered.text
    assert "Your role there: Owner." in offered.text
    assert link in str(mail.get_body(("plain",)))
    assert f"went to the folder {tmp_path / 'outbox'}" in done.stdout
    assert [303, 303] == [accepted.status_code, set_.status_code]
    assert "ana@people.test (you)" in members.text
    assert (303, 400) == (signed_in.status_code, again.status_code)
    assert "Padaria Aurora" in home.text


@pytest.mark.usefixtures("sqlite_url")
async def test_invitation_goes_through_the_mail_server(tmp_path: Path) -> None:
    inbox = Inbox()
    async with serving_mail(inbox) as port:
        url = f"smtp://127.0.0.1:{port}"
        done = await create_org(tmp_path, "Aurora", "--owner", OWNER, EMAIL_URL=url)

    (mail,) = inbox.mails
    (link,) = _LINK.findall(done.stdout)
    assert 0 == done.status
    assert OWNER == mail["To"]
    assert link in part(mail, "plain")
    assert f"went to 127.0.0.1, port {port}" in done.stdout


@pytest.mark.usefixtures("sqlite_url")
async def test_link_is_printed_though_the_mail_fails(tmp_path: Path) -> None:
    url = "smtp://127.0.0.1:1"
    done = await create_org(tmp_path, "Aurora", "--owner", OWNER, EMAIL_URL=url)

    assert 1 == done.status
    assert 1 == len(_LINK.findall(done.stdout))
    assert done.stderr.startswith("recibo: the mail could not be sent (127.0.0.1, port 1")
    assert done.stderr.endswith(f"give {OWNER} the link yourself.\n")


@pytest.mark.usefixtures("sqlite_url")
async def test_error_is_reported_in_one_line(tmp_path: Path) -> None:
    answers = [
        await create_org(tmp_path, "", "--owner", OWNER),
        await create_org(tmp_path, "Aurora", "--owner", OWNER, SIGNUP="closed"),
    ]

    assert [(1, "")] * 2 == [(one.status, one.stdout) for one in answers]
    assert "recibo: NAME: has 1 to 255 characters" in answers[0].stderr
    assert f"recibo: {OWNER} has no account here" in answers[1].stderr
    assert [1, 1] == [one.stderr.count("\n") for one in answers]
