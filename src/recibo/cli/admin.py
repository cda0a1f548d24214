"""Admin commands that use only the database; they load no server code."""

import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from recibo import startup
from recibo.adapters import mail as mailers
from recibo.adapters.mail import Outbox, SendError, Smtp
from recibo.schemas.plans import PlanName
from recibo.schemas.states import PaymentProvider, Scope
from recibo.services import mail_templates
from recibo.services.identity import keys, operator_orgs, operators, orgs
from recibo.services.identity.operator_orgs import NewOrg
from recibo.services.mail_templates import MailSettings
from recibo.settings import ADDRESS, Settings
from recibo.startup import StartError
from recibo.store import folders
from recibo.store.db import Database, Session
from recibo.store.db import migrate as migrate_database

_NO_PLANS = (
    "No plan is sold (RECIBO_PAYMENTS=none): every organization has the limits of enterprise and "
    "no quota. The plan counts once plans are sold; limits agreed with enterprise count now."
)


def migrate(settings: Settings) -> int:
    """Upgrade the database schema to this version."""
    folders.restrict(settings.private_paths)
    folders.make(settings.data_dir)
    return startup.run(migrate_database(settings.database))


def create_key(settings: Settings, *, org: str, name: str, scopes: Sequence[str] | None) -> int:
    """Create an API key and print its secret."""
    return startup.run(_create_key(settings, org=org, name=name, scopes=scopes))


def create_org(settings: Settings, *, name: str, owner: str) -> int:
    """Create an organization, print the link that invites its owner, and mail it."""
    return startup.run(_create_org(settings, name=name, owner=owner))


def disable_user(settings: Settings, user: str) -> int:
    """Disable a user."""
    rule = partial(operators.disable_user, name=user)
    return _operate(settings, rule, f"{user} is disabled; all sessions ended.")


def enable_user(settings: Settings, user: str) -> int:
    """Let a disabled user sign in again."""
    rule = partial(operators.enable_user, name=user)
    return _operate(settings, rule, f"{user} is enabled.")


def reset_second_factor(settings: Settings, user: str) -> int:
    """Remove a user's second factor."""
    rule = partial(operators.reset_second_factor, name=user)
    return _operate(settings, rule, f"{user} has no second factor any more; all sessions ended.")


def set_plan(
    settings: Settings, org: str, *, plan: PlanName, agreed: Mapping[str, int] | None = None
) -> int:
    """Put an org on a plan, with the figures agreed for enterprise."""
    rule = partial(operators.set_plan, name=org, plan=plan, agreed=agreed)
    done = f"{org} is on the plan {plan}."
    if settings.payments is PaymentProvider.NONE:
        done = f"{done} {_NO_PLANS}"
    return _operate(settings, rule, done)


@asynccontextmanager
async def _open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database, migrated.

    Raises:
        StartError: there is no database. A mistyped folder must not become a new installation.
    """
    if settings.is_embedded and not settings.has_database:
        message = (
            f"there is no database in {settings.data_dir.absolute()}; name the folder by "
            "RECIBO_DATA_DIR, or make one with `recibo migrate`."
        )
        raise StartError(message)
    await migrate_database(settings.database)
    database = Database(settings.database)
    try:
        yield database
    finally:
        await database.close()


async def _create_key(
    settings: Settings, *, org: str, name: str, scopes: Sequence[str] | None
) -> None:
    wanted = [Scope(one) for one in scopes or (Scope.READ, Scope.WRITE)]
    async with _open_database(settings) as database, database.write() as session:
        org_id = await orgs.named(session, org)
        secret = await keys.create_within_limits(session, org_id, keys.NewKey(name, scopes=wanted))
    sys.stdout.write(f"{secret}\n")


async def _create_org(settings: Settings, *, name: str, owner: str) -> None:
    mailer, head = _mailer(settings)
    wanted = NewOrg(name, owner, settings.signup, settings.is_production)
    async with _open_database(settings) as database, database.write() as session:
        created = await operator_orgs.create(session, wanted)
    mail = created.mail
    sys.stdout.write(
        f"{created.org_name} ({created.slug}) {'was there' if created.is_again else 'is created'}; "
        f"{created.owner} is invited as its owner, until {created.expires_at:%Y-%m-%d %H:%M} UTC:\n"
        f"\n  {mail_templates.link(mail, head)}\n\n"
    )
    # Before the mail, so that a slow mail server does not delay the link.
    sys.stdout.flush()
    try:
        await mailer.send(mail_templates.render(mail, head))
    except SendError as e:
        message = f"the mail could not be sent ({e}); give {created.owner} the link yourself."
        raise StartError(message) from e
    sys.stdout.write(f"The mail with this link went to {mailer.destination}.\n")


def _mailer(settings: Settings) -> tuple[Outbox | Smtp, MailSettings]:
    base_url = (settings.base_url or ADDRESS).rstrip("/")
    try:
        mailer = mailers.of(settings.email_url, outbox=settings.outbox_dir)
        return mailer, MailSettings(base_url, mail_templates.sender(settings.email_from, base_url))
    except ValueError as e:
        raise StartError(str(e)) from e


def _operate(
    settings: Settings, rule: Callable[[Session], Coroutine[Any, Any, bool]], done: str
) -> int:
    """Run an operation in one transaction and print the outcome."""

    async def apply() -> None:
        async with _open_database(settings) as database, database.write() as session:
            has_changed = await rule(session)
        sys.stdout.write(f"{done}\n" if has_changed else "No change.\n")

    return startup.run(apply())
