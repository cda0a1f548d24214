"""What the service keeps is for its own user alone."""

import stat
from pathlib import Path

from tests import make_documents
from tests.serving.running import QUICK, Server, serving

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def open_to_others(folder: Path) -> list[str]:
    """Return what others than the owner may use, the folder itself included."""
    return [str(path) for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & OTHERS]


async def upload(server: Server, secret: str) -> None:
    async with server.client(secret) as client:
        file = {"file": ("receipt.jpg", make_documents.till_receipt("A-1").file())}
        answer = await client.post("/v1/extract", files=file)
    assert 200 == answer.status_code, answer.text


async def test_what_a_server_makes_is_for_its_user_alone(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o755)
    with serving(data_dir, program=QUICK) as server:
        await upload(server, server.secret)
        found = open_to_others(data_dir)

    assert [] == found
    assert (data_dir / "recibo.db").is_file()


async def test_what_an_older_version_left_open_is_closed_at_the_start(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    with serving(data_dir, program=QUICK) as server:
        secret = server.secret
        await upload(server, secret)
    for path in (data_dir, *data_dir.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with serving(data_dir, program=QUICK):
        found = open_to_others(data_dir)

    # Files and locks below stay as they are: other users cannot enter their folder.
    closed = {".", "recibo.db", "secret_key", "files", "spool"}
    assert set() == closed & {str(Path(path).relative_to(data_dir)) for path in found}
