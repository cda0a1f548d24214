"""A mailbox for all addresses: pending mails are sent when a test reads it."""

from email.message import EmailMessage

from recibo.adapters.fake_mailer import FakeMailer
from recibo.services import mail_templates
from recibo.services.mail_templates import MailSettings
from recibo.worker.mail_worker import MailWorker
from tests import mail_fixtures
from tests.installation import Installation
from tests.mail_servers import part

_ADDRESS = "http://recibo.test"


async def new_mails(i: Installation) -> list[EmailMessage]:
    """Send the pending mails and return them; only without a running mail worker."""
    mailer = FakeMailer()
    head = MailSettings(_ADDRESS, mail_templates.sender("", _ADDRESS))
    await MailWorker(i.database, mailer, head).run_once()
    return mailer.sent


async def new_token(i: Installation, page: str) -> str:
    """Send the pending mails and return the token of the only mail that links to a page."""
    (found,) = await new_tokens(i, page)
    return found


async def new_tokens(i: Installation, page: str) -> list[str]:
    """Send the pending mails and return the tokens of all that link to a page."""
    mails = await new_mails(i)
    return [mail_fixtures.token(one) for one in mails if f"/portal/{page}?" in part(one, "plain")]


async def new_subjects(i: Installation) -> list[str]:
    """Send the pending mails and return their subjects."""
    return [str(one["Subject"]) for one in await new_mails(i)]
