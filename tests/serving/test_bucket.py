"""A real server on a bucket: its reader processes read copies of the objects."""

from pathlib import Path

from tests import make_documents
from tests.serving.running import serving

DOCUMENT = make_documents.till_receipt("in a bucket")


async def test_server_reads_files_in_a_bucket(tmp_path: Path, bucket_url: str) -> None:
    data = DOCUMENT.file()
    with serving(tmp_path, READERS="1", STORAGE_URL=bucket_url) as server:
        async with server.client(server.secret) as client:
            files = {"file": ("document.jpg", data, "image/jpeg")}
            receipt = (await client.post("/v1/extract", files=files)).json()
            path = f"/v1/receipts/{receipt['id']}"
            read = (await client.get(path, params={"wait": "25"})).json()
            file = await client.get(f"{path}/file")

    assert ("completed", DOCUMENT.truth.total) == (read["status"], read["total"])
    assert data == file.content
    assert not left_in(tmp_path)


def left_in(data_dir: Path) -> list[Path]:
    """Return the files in the folders of uploads and copies."""
    return [path for name in ("files", "spool") for path in (data_dir / name).glob("*")]
