"""The commands: recibo extract, serve and the others of `recibo --help`.

Each command imports what it needs. Nothing heavy is imported at the top, because every reader
process is spawned and imports this file again.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recibo.schemas.plans import PlanName
    from recibo.settings import Settings

# The limits of the enterprise plan that can be set per org: fields of `schemas.plans.Plan`.
_FIGURES = {
    "receipts_a_month": "receipts a month",
    "requests_a_minute": "requests a minute",
    "uploads_at_once": "uploads at once",
}

_OWNER_ONLY_UMASK = 0o077
# The files that these write are their caller's: the umask stays.
_FOR_PEOPLE = frozenset({"extract", "upload", "watch", "completion"})

# Takes the command's arguments and returns the status to exit with.
Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the status to exit with."""
    parsed = _parser().parse_args(arguments)
    command: Command = parsed.command
    if parsed.name not in _FOR_PEOPLE:
        # Only the service's own user may read the files that the service and its libraries write.
        os.umask(_OWNER_ONLY_UMASK)
    return command(parsed)


def _parser() -> argparse.ArgumentParser:
    from importlib import metadata

    from recibo.cli import arguments
    from recibo.cli.examples import EXAMPLES

    parser = argparse.ArgumentParser("recibo", description="Reads receipts.")
    version = f"%(prog)s {metadata.version('recibo')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", dest="name"
    )

    def command(name: str, what: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=f"examples:{EXAMPLES[name].rstrip()}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(fail=made.error)
        return made

    arguments.describe_extract(command("extract", "read files and print or store what they say"))
    arguments.describe_upload(command("upload", "send files to a server and print their receipts"))
    arguments.describe_watch(command("watch", "read what is put into a folder, once"))
    arguments.describe_mcp(command("mcp", "serve receipts to agents (Model Context Protocol)"))
    arguments.describe_completion(
        command("completion", "print a script that completes commands in a shell"), parser
    )
    _describe_serve(command("serve", "serve the API and process uploads"))
    _describe_worker(command("worker", "process uploads that other processes accepted"))
    _describe_migrate(command("migrate", "upgrade the database schema to this version"))
    for name, what, run in (
        ("backup", "write a backup into a new folder; the server may be running", _backup),
        ("restore", "restore a backup into an empty installation", _restore),
    ):
        of_backups = command(name, what)
        of_backups.add_argument("folder", type=Path, metavar="DIR", help="the backup's folder")
        of_backups.set_defaults(command=run)
    _describe_admin(command("admin", "operate the service"))
    return parser


def _describe_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free port")
    parser.add_argument(
        "--no-worker", action="store_true", help="serve only; `recibo worker` runs elsewhere"
    )
    parser.set_defaults(command=_serve)


def _serve(arguments: argparse.Namespace) -> int:
    from recibo.cli import server

    return server.serve(
        _settings(),
        host=arguments.host,
        port=arguments.port,
        with_worker=not arguments.no_worker,
    )


def _describe_worker(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_worker)


def _worker(_: argparse.Namespace) -> int:
    from recibo.cli import server

    return server.work(_settings())


def _describe_migrate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_migrate)


def _migrate(_: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.migrate(_settings())


def _describe_admin(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    create_key = commands.add_parser("create-key", help="make an API key and print its secret")
    create_key.add_argument("org", help="the org's slug or id")
    create_key.add_argument("--name", dest="key_name", default="Made on the command line")
    create_key.add_argument(
        "--scope", action="append", dest="scopes", help="read, write or extract:write; repeatable"
    )
    create_key.set_defaults(command=_create_key)
    create_org = commands.add_parser(
        "create-org", help="create an organization, and mail and print its owner's invitation"
    )
    create_org.add_argument("org_name", metavar="NAME", help="the organization's name")
    create_org.add_argument(
        "--owner", required=True, metavar="EMAIL", help="who is invited as its owner"
    )
    create_org.set_defaults(command=_create_org)
    of_users: tuple[tuple[str, str, Command], ...] = (
        ("disable-user", "disable a user and end all sessions", _disable_user),
        ("enable-user", "let a disabled user sign in again", _enable_user),
        ("reset-2fa", "remove a user's second factor and end all sessions", _reset_2fa),
    )
    for name, what, command in of_users:
        of_user = commands.add_parser(name, help=what)
        of_user.add_argument("user", help="the user's e-mail address or id")
        of_user.set_defaults(command=command)
    set_plan = commands.add_parser("set-plan", help="put an org on a plan")
    set_plan.add_argument("org", help="the org's slug or id")
    set_plan.add_argument(
        "plan", type=_plan, metavar="plan", help="free, indie, startup, scale or enterprise"
    )
    for figure, what in _FIGURES.items():
        set_plan.add_argument(
            f"--{figure.replace('_', '-')}", type=int, metavar="N", help=f"{what} (enterprise)"
        )
    set_plan.set_defaults(command=_set_plan)
    _describe_files(commands.add_parser("files", help="list, restore or adopt stored files"))


def _describe_files(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=_list_trash)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    trash = commands.add_parser("list", help="list the trash: id, day, bytes (the default)")
    trash.set_defaults(command=_list_trash)
    restore = commands.add_parser("restore", help="move files from the trash to their places")
    restore.add_argument("ids", nargs="*", metavar="ID", help="the file's, as listed")
    restore.add_argument("--all", action="store_true", dest="everything", help="all files")
    restore.set_defaults(command=_restore_from_trash)
    adopt = commands.add_parser("adopt", help="mark the files as this database's")
    adopt.add_argument(
        "--force", action="store_true", help="even if they are marked as another's, or unknown"
    )
    adopt.set_defaults(command=_adopt_files)


def _backup(arguments: argparse.Namespace) -> int:
    from recibo.cli import backup_commands

    return backup_commands.back_up(_settings(), arguments.folder)


def _restore(arguments: argparse.Namespace) -> int:
    from recibo.cli import backup_commands

    return backup_commands.restore(_settings(), arguments.folder)


def _list_trash(_: argparse.Namespace) -> int:
    from recibo.cli import backup_commands

    return backup_commands.list_trash(_settings())


def _restore_from_trash(arguments: argparse.Namespace) -> int:
    from recibo.cli import backup_commands

    return backup_commands.restore_from_trash(
        _settings(), arguments.ids, everything=arguments.everything
    )


def _adopt_files(arguments: argparse.Namespace) -> int:
    from recibo.cli import backup_commands

    return backup_commands.adopt_files(_settings(), by_force=arguments.force)


def _create_key(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.create_key(
        _settings(), org=arguments.org, name=arguments.key_name, scopes=arguments.scopes
    )


def _create_org(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.create_org(_settings(), name=arguments.org_name, owner=arguments.owner)


def _disable_user(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.disable_user(_settings(), arguments.user)


def _enable_user(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.enable_user(_settings(), arguments.user)


def _reset_2fa(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    return admin.reset_second_factor(_settings(), arguments.user)


def _set_plan(arguments: argparse.Namespace) -> int:
    from recibo.cli import admin

    given = {figure: getattr(arguments, figure) for figure in _FIGURES}
    agreed = {figure: value for figure, value in given.items() if value is not None}
    return admin.set_plan(_settings(), arguments.org, plan=arguments.plan, agreed=agreed)


def _settings() -> "Settings":
    from pydantic import ValidationError

    from recibo.settings import Settings

    try:
        return Settings()
    except ValidationError as e:
        for error in e.errors():
            place = "".join(f"RECIBO_{part}: ".upper() for part in error["loc"])
            # Pydantic puts this before the messages of our own validators.
            message = error["msg"].removeprefix("Value error, ")
            sys.stderr.write(f"recibo: {place}{message}\n")
        raise SystemExit(2) from None


def _plan(text: str) -> "PlanName":
    from recibo.cli import arguments
    from recibo.schemas.plans import PlanName

    return arguments.member(PlanName, text)


if __name__ == "__main__":
    sys.exit(main())
