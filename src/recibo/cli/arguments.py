"""The arguments of the commands that read files."""

import argparse
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from recibo.cli.readings import Options
    from recibo.cli.renaming import Template
    from recibo.extract.model import Accuracy, DocumentType
    from recibo.extract.ocr.runtime import Runtime

E = TypeVar("E", bound=StrEnum)

# Takes the command's arguments and returns the status to exit with.
Command = Callable[[argparse.Namespace], int]


def describe_extract(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `recibo extract`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a JPG, PNG, HEIC, WEBP, TIFF or PDF, a folder of them, or a pattern such as "
        "'**/*.pdf'; - is stdin",
    )
    add_reading_options(parser)
    parser.add_argument(
        "--format",
        choices=("jsonl", "json", "csv", "table"),
        help="jsonl (the default): one JSON object a line; json: one array; csv; table",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="write a JSON file for each document into this folder; with --format jsonl or csv "
        "one file, receipts.jsonl or receipts.csv",
    )
    parser.add_argument(
        "--rename",
        type=_template,
        metavar="TEMPLATE",
        help="rename the files by what was read, as in '{issued_at:%%Y-%%m-%%d} {merchant_name} "
        "{total}'; {name} is the old name, / makes folders. No file is overwritten, and one that "
        "lacks a value keeps its name",
    )
    parser.add_argument(
        "--copy-to", type=Path, metavar="DIR", help="with --rename: copy instead, into this folder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="with --rename: only print the new names"
    )
    parser.set_defaults(command=_extract)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how files are read."""
    parser.add_argument(
        "--accuracy", type=_accuracy, metavar="A", help="standard (the default) or high"
    )
    parser.add_argument(
        "--type",
        type=_document_type,
        metavar="T",
        help="a hint: receipt, invoice, nfe, nfce, nfse or cupom_fiscal",
    )
    parser.add_argument(
        "--runtime",
        type=_runtime,
        metavar="R",
        help="what runs recognition: auto (the default), onnxruntime or openvino",
    )


def describe_upload(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `recibo upload`."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="files, folders and patterns as of extract"
    )
    _add_server(parser)
    parser.add_argument(
        "--accuracy", type=_accuracy, metavar="A", help="standard (the default) or high"
    )
    parser.add_argument("--type", type=_document_type, metavar="T", help="a hint, as of extract")
    parser.set_defaults(command=_upload)


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server",
        metavar="URL",
        help="the server; its API key is in the environment: RECIBO_API_KEY",
    )


def describe_watch(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `recibo watch`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder")
    add_reading_options(parser)
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write results into this folder instead"
    )
    _add_server(parser)
    parser.add_argument(
        "--settle",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="how long a file must not have changed before it is read (default 2)",
    )
    parser.add_argument(
        "--poll", action="store_true", help="look for files again and again, for network drives"
    )
    parser.set_defaults(command=_watch)


def describe_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `recibo mcp`."""
    parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="a folder whose documents the agent may read; without one, documents come in messages",
    )
    parser.add_argument(
        "--allow-writes", action="store_true", help="let the agent correct and approve receipts"
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        default=Path.home() / ".local" / "share" / "recibo" / "mcp",
        help="where readings are kept (default ~/.local/share/recibo/mcp)",
    )
    _add_server(parser)
    parser.add_argument(
        "--http", action="store_true", help="serve over HTTP instead of stdin and stdout"
    )
    parser.add_argument("--host", default="127.0.0.1", help="with --http: a loopback address")
    parser.add_argument("--port", type=int, default=8765, help="with --http: the port")
    parser.set_defaults(command=_mcp)


def describe_completion(parser: argparse.ArgumentParser, root: argparse.ArgumentParser) -> None:
    """Add the arguments of `recibo completion`, which prints the completion of `root`."""

    def complete(arguments: argparse.Namespace) -> int:
        from recibo.cli import completion

        return completion.run(root, arguments.shell)

    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="the shell")
    parser.set_defaults(command=complete)


def member(kind: type[E], text: str) -> E:
    """Return the member of an enumeration that an argument names."""
    try:
        return kind(text)
    except ValueError:
        message = f"{text!r} is none of {', '.join(kind)}"
        raise argparse.ArgumentTypeError(message) from None


def _extract(arguments: argparse.Namespace) -> int:
    from recibo.cli import extract
    from recibo.cli.outputs import Format
    from recibo.cli.renaming import Renaming

    fail: Callable[[str], int] = arguments.fail
    form = Format(arguments.format) if arguments.format else None
    if form is Format.TABLE and arguments.output:
        return fail("--format table is for stdout, not for --output")
    if arguments.rename is None and (arguments.copy_to or arguments.dry_run):
        return fail("--copy-to and --dry-run need --rename")
    renaming = arguments.rename and Renaming(arguments.rename, arguments.copy_to, arguments.dry_run)
    return extract.run(
        arguments.files, _options(arguments), extract.Results(form, arguments.output, renaming)
    )


def _upload(arguments: argparse.Namespace) -> int:
    from recibo.cli import upload
    from recibo.extract.model import Accuracy

    accuracy = arguments.accuracy or Accuracy.STANDARD
    options = upload.Options(arguments.server, accuracy, arguments.type)
    return upload.run(arguments.files, options)


def _watch(arguments: argparse.Namespace) -> int:
    from recibo.cli import watch

    fail: Callable[[str], int] = arguments.fail
    if arguments.server is not None and arguments.output:
        return fail("--output is for results of this machine, not with --server")
    return watch.run(
        watch.Settings(
            arguments.folder,
            _options(arguments),
            output=arguments.output,
            settle_s=arguments.settle,
            is_polled=arguments.poll,
            server=arguments.server,
        )
    )


def _mcp(arguments: argparse.Namespace) -> int:
    from recibo.cli import mcp
    from recibo.lib import ip_addresses

    fail: Callable[[str], int] = arguments.fail
    if not ip_addresses.is_loopback(arguments.host):
        return fail("--host is no loopback address: for other machines, use a proxy that signs in")
    return mcp.run(
        mcp.Settings(
            folders=tuple(arguments.folders),
            store=arguments.store,
            allows_writes=arguments.allow_writes,
            http=(arguments.host, arguments.port) if arguments.http else None,
            server=arguments.server,
        )
    )


def _options(arguments: argparse.Namespace) -> "Options":
    from recibo.cli.readings import Options
    from recibo.extract.model import Accuracy
    from recibo.extract.ocr.runtime import Runtime

    return Options(
        arguments.type,
        arguments.accuracy or Accuracy.STANDARD,
        arguments.runtime or Runtime.AUTO,
    )


def _template(text: str) -> "Template":
    from recibo.cli.renaming import Template, TemplateError

    try:
        return Template(text)
    except TemplateError as e:
        raise argparse.ArgumentTypeError(str(e)) from None


def _accuracy(text: str) -> "Accuracy":
    from recibo.extract.model import Accuracy

    return member(Accuracy, text)


def _document_type(text: str) -> "DocumentType":
    from recibo.extract.model import DocumentType

    return member(DocumentType, text)


def _runtime(text: str) -> "Runtime":
    from recibo.extract.ocr.runtime import Runtime

    return member(Runtime, text)
