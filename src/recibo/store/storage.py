"""Opens the storage of uploaded files by its URL."""

import re
from pathlib import Path
from urllib.parse import unquote

from recibo.store import folders, s3
from recibo.store.blobs import Blobs, Folder

_FILE, _S3 = "file://", "s3://"
_LOCALHOST = "localhost/"
# These messages do not repeat the URL, which may contain credentials.
_BAD_URL = "RECIBO_STORAGE_URL begins with file:// or s3://, as in s3://bucket/prefix."
_BAD_BUCKET = (
    "RECIBO_STORAGE_URL names no bucket; it is s3://bucket or s3://bucket/prefix, and the keys are "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment."
)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")


def open_storage(url: str, *, folder: Path, spool: Path) -> Blobs:
    """Return the storage at a URL, or in a local folder if the URL is empty.

    Args:
        url: `file:///absolute/path`, `file://relative/path` or `s3://bucket/prefix`.
        folder: The folder to use if the URL names none.
        spool: The folder for temporary copies of remote files.

    Raises:
        ValueError: the URL is invalid, or its folder cannot be created.
    """
    if url in ("", _FILE):
        return _folder(folder)
    if url.startswith(_FILE):
        named = url.removeprefix(_FILE)
        # RFC 8089: `localhost`, then a path from the root.
        absolute = f"/{named.removeprefix(_LOCALHOST)}" if named.startswith(_LOCALHOST) else named
        return _folder(Path(unquote(absolute)))
    if url.startswith(_S3):
        name, _, prefix = url.removeprefix(_S3).partition("/")
        if not _BUCKET.fullmatch(name) or "?" in prefix or "#" in prefix:
            raise ValueError(_BAD_BUCKET)
        try:
            return s3.S3(s3.bucket(name, prefix.strip("/")), spool=spool)
        except ValueError as e:
            message = f"the bucket of RECIBO_STORAGE_URL cannot be used: {e}"
            raise ValueError(message) from e
    raise ValueError(_BAD_URL)


def _folder(path: Path) -> Folder:
    try:
        folders.make(path)
        folders.restrict([path])
        return Folder(path)
    except (OSError, ValueError) as e:
        message = f"the folder of uploaded files cannot be made: {e}"
        raise ValueError(message) from e
