"""The operator's short commands, on the database alone: they load nothing of what serves."""

import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from recibo import starting
from recibo.services.identity import keys, operators, orgs
from recibo.settings import Settings
from recibo.shapes.plans import PlanName
from recibo.shapes.states import Scope
from recibo.starting import StartError
from recibo.store import folders
from recibo.store.db import Database, Session
from recibo.store.db import migrate as migrate_database


def migrate(settings: Settings) -> int:
    """Bring the database to this version."""
    folders.restrict(settings.private_paths)
    folders.make(settings.data_dir)
    return starting.run(migrate_database(settings.database))


def create_key(settings: Settings, *, org: str, name: str, scopes: Sequence[str] | None) -> int:
    """Make an API key and print its secret."""
    return starting.run(_create_key(settings, org=org, name=name, scopes=scopes))


def disable_user(settings: Settings, user: str) -> int:
    """Keep a user out."""
    rule = partial(operators.disable_user, name=user)
    return _operate(settings, rule, f"{user} is disabled; all sessions ended.")


def enable_user(settings: Settings, user: str) -> int:
    """Let a disabled user sign in again."""
    rule = partial(operators.enable_user, name=user)
    return _operate(settings, rule, f"{user} is enabled.")


def reset_second_factor(settings: Settings, user: str) -> int:
    """Take a user's second factor away."""
    rule = partial(operators.reset_second_factor, name=user)
    return _operate(settings, rule, f"{user} has no second factor any more; all sessions ended.")


def set_plan(
    settings: Settings, org: str, *, plan: PlanName, agreed: Mapping[str, int] | None = None
) -> int:
    """Put an org on a plan, with the figures agreed for enterprise."""
    rule = partial(operators.set_plan, name=org, plan=plan, agreed=agreed)
    return _operate(settings, rule, f"{org} is on the plan {plan}.")


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    """Open the database, migrated.

    Raises:
        StartError: there is none; whoever mistypes a folder must not be answered by an empty one.
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
    async with _opened(settings) as database, database.write() as session:
        org_id = await orgs.named(session, org)
        secret = await keys.create_within_limits(session, org_id, keys.Wanted(name, scopes=wanted))
    sys.stdout.write(f"{secret}\n")


def _operate(
    settings: Settings, rule: Callable[[Session], Coroutine[Any, Any, bool]], done: str
) -> int:
    """Apply a rule in one transaction and say what was done."""

    async def apply() -> None:
        async with _opened(settings) as database, database.write() as session:
            has_changed = await rule(session)
        sys.stdout.write(f"{done}\n" if has_changed else "It was so already.\n")

    return starting.run(apply())
