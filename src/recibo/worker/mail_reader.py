"""Reads the mailbox of receipts, and answers the mails once their files are read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from recibo.adapters.mailbox import Mailbox, OpenMailbox
from recibo.schemas.states import MailOutcome
from recibo.services.receipt_mail import messages, received_mails
from recibo.services.receipt_mail.intake import Intake, TryAgainError
from recibo.store.db import Database
from recibo.worker import metrics
from recibo.worker.jobs import Budget, Job

log = structlog.get_logger(__name__)

_SECONDS = 15
# Sixteen large mails over a slow connection; the next run continues.
_BUDGET_SECONDS = 60
# A mail that fails so often is given up.
_MOST_FAILURES = 5
#: The outcome of a mail that is for no organization.
_NO_ADDRESS = "no_address"


@dataclass(slots=True)
class _State:
    #: The mail after which the next run starts, so that one that fails delays no other.
    after: int = 0
    #: The recorded mail after which the next run looks for replies.
    answered_up_to: str = ""
    #: How often each unread mail failed.
    failures: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class MailReader:
    """The periodic jobs of receipts by email."""

    database: Database
    mailbox: Mailbox
    intake: Intake
    _state: _State = field(default_factory=_State)

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs, for one process at a time."""
        return (
            Job("read-mailbox", _SECONDS, self.read_mailbox, budget_seconds=_BUDGET_SECONDS),
            Job("answer-mails", _SECONDS, self.answer_mails),
        )

    async def read_mailbox(self, budget: Budget) -> None:
        """Process the unread mails, and mark those that are done."""
        async with self.mailbox.connect() as mailbox:
            numbers = await mailbox.unseen()
            later = [one for one in numbers if one > self._state.after]
            for number in (*later, *(one for one in numbers if one <= self._state.after)):
                if budget.is_spent:
                    return
                self._state.after = number
                await self._process(mailbox, number)

    async def _process(self, mailbox: OpenMailbox, number: int) -> None:
        raw_mail = await mailbox.fetch(
            number, most=messages.MAX_BYTES, beginning=messages.HEAD_BYTES
        )
        try:
            outcomes = await self.intake.take(raw_mail)
        except TryAgainError as e:
            log.warning("a mail waits", reason=type(e.__cause__).__name__)
            return
        except Exception:
            # It stays unread; the others go on.
            log.exception("a mail could not be processed")
            self._state.failures[number] += 1
            if self._state.failures[number] < _MOST_FAILURES:
                return
            outcomes = [MailOutcome.DAMAGED]
        await mailbox.mark_seen(number)
        self._state.failures.pop(number, None)
        for outcome in map(str, outcomes or (_NO_ADDRESS,)):
            metrics.RECEIVED_MAILS.labels(outcome).inc()
            log.info("a mail was processed", outcome=outcome)

    async def answer_mails(self, budget: Budget) -> None:
        """Enqueue the replies to mails whose files are read."""
        state = self._state
        while not budget.is_spent:
            state.answered_up_to = await received_mails.settle(self.database, state.answered_up_to)
            if not state.answered_up_to:
                return
