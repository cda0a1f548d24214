"""Opening storage by URL."""

from pathlib import Path

import pytest

from recibo.store import storage
from recibo.store.blobs import Blobs, Folder
from recibo.store.s3 import S3


def open_storage(url: str, tmp_path: Path) -> Blobs:
    """Return the storage of a URL."""
    return storage.open_storage(url, folder=tmp_path / "data" / "files", spool=tmp_path)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "data/files"),
        ("file://", "data/files"),
        ("file://{tmp}/far/away", "far/away"),
        ("file://localhost{tmp}/here", "here"),
        ("file://near/by", "near/by"),
        ("file://near", "near"),
        ("file://{tmp}/two%20words", "two words"),
    ],
)
async def test_folder_is_created_for_its_owner_only(
    url: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = open_storage(url.format(tmp=tmp_path), tmp_path)

    assert isinstance(made, Folder)
    assert await made.is_writable()
    assert 0o700 == (tmp_path / path).stat().st_mode & 0o777


@pytest.mark.parametrize("url", ["s3://receipts", "s3://receipts/", "s3://receipts/a/b c/"])
def test_bucket_may_have_a_prefix(url: str, tmp_path: Path) -> None:
    assert isinstance(open_storage(url, tmp_path), S3)


@pytest.mark.parametrize(
    "url",
    [
        "/var/files",
        "files",
        "file:/var/files",
        "http://bucket",
        "gs://bucket/prefix",
        "S3:/bucket",
        "s3://",
        "s3:///prefix",
        "s3://key:believed@bucket/prefix",
        "s3://bucket:9000/prefix",
        "s3://a b/prefix",
        "s3://bucket?secret=believed",
        "s3://bucket/prefix?secret=believed",
        "s3://bucket/prefix#believed",
    ],
)
def test_invalid_url_is_refused_and_not_repeated(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="RECIBO_STORAGE_URL") as refused:
        open_storage(url, tmp_path)

    assert "believed" not in str(refused.value)


def test_folder_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ValueError, match="cannot be made"):
        open_storage(f"file://{tmp_path}/file/folder", tmp_path)
    with pytest.raises(ValueError, match="cannot be made"):
        open_storage(f"file://{tmp_path}/a%00b", tmp_path)


def test_invalid_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SERVER_SIDE_ENCRYPTION", "rot13")

    with pytest.raises(ValueError, match="cannot be used"):
        open_storage("s3://bucket", tmp_path)
