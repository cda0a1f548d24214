"""docs/company.md: what it has people write is what works."""

import re
from typing import Any

from recibo.settings import Settings
from tests.deploy import caddies
from tests.deploy.composed import FOLDER, THREE
from tests.house import source

GUIDE = (source.ROOT / "docs" / "company.md").read_text(encoding="utf-8")
SECRET = "$(openssl rand -base64 48)"  # noqa: S105 - a command


def written(path: str) -> dict[str, str]:
    """Return the settings that the guide writes into a file."""
    found = re.search(rf"/dev/stdin {re.escape(path)} <<END\n(.*?)\nEND\n", GUIDE, re.DOTALL)
    assert found is not None
    return dict(line.split("=", 1) for line in found[1].splitlines())


def test_three_settings_are_those_of_compose() -> None:
    assert list(THREE) == list(written("deploy/.env"))


def test_settings_without_docker_are_good_for_production() -> None:
    given = written("/etc/recibo.env")
    assert SECRET == given.pop("RECIBO_SECRET_KEY")
    settings: dict[str, Any] = {
        name.removeprefix("RECIBO_").lower(): value for name, value in given.items()
    }

    made = Settings(_env_file=None, secret_key="s" * 64, **settings)
    assert made.is_production
    assert ["127.0.0.1"] == made.proxies


def test_caddyfile_without_docker_lets_the_same_pass() -> None:
    found = re.search(r"```caddyfile\n(.*?)```", GUIDE, re.DOTALL)
    assert found is not None
    own = str(caddies.adapted({}, text=found[1]))
    composed = str(caddies.adapted({"RECIBO_BASE_URL": "https://receipts.example.com"}))

    for one in (own, composed):
        assert "'max_size': 160000000" in one
        assert "receipts.example.com" in one
    assert "'dial': '127.0.0.1:8000'" in own


def test_every_command_of_compose_names_a_file_that_is_there() -> None:
    named = set(re.findall(r"-f deploy/(\S+)", GUIDE))

    assert {"compose.yaml", "compose.stripe.yaml"} == named
    assert all((FOLDER / name).is_file() for name in named)
