"""compose.yaml is a company's own installation in three settings; a second file sells plans."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

import pytest

from recibo.schemas.states import PaymentProvider, SignupPolicy
from recibo.settings import Settings
from tests.deploy import composed
from tests.deploy.composed import GIVEN, THREE
from tests.house import source

OWN = "compose.yaml"
STRIPE = "compose.stripe.yaml"
STRIPE_GIVEN = {
    "RECIBO_STRIPE_API_KEY": "sk_live_x",
    "RECIBO_STRIPE_WEBHOOK_SECRET": "whsec_x",
    "RECIBO_STRIPE_PRICE_INDIE": "price_1",
    "RECIBO_STRIPE_PRICE_STARTUP": "price_2",
    "RECIBO_STRIPE_PRICE_SCALE": "price_3",
}


@pytest.fixture
def services() -> Mapping[str, Any]:
    """The services of a company's own installation."""
    found: Mapping[str, Any] = composed.read(OWN)["services"]
    return found


def settings_of(environment: Mapping[str, str]) -> Settings:
    """Return the settings that an environment makes; raises ValidationError when it does not."""
    given: dict[str, Any] = {
        name.removeprefix("RECIBO_").lower(): value for name, value in environment.items()
    }
    return Settings(_env_file=None, **given)


def test_three_settings_are_all_that_is_required() -> None:
    assert set(THREE) == composed.required(OWN)


@pytest.mark.parametrize("missing", THREE)
def test_each_of_them_is(missing: str) -> None:
    given = {name: value for name, value in GIVEN.items() if name != missing}

    with pytest.raises(composed.MissingVariableError, match=missing):
        composed.environment(OWN, given=given)


def test_own_installation_passes_what_production_asks_for() -> None:
    made = settings_of(composed.environment(OWN, given=GIVEN))

    assert made.is_production
    assert (PaymentProvider.NONE, SignupPolicy.INVITED) == (made.payments, made.signup)
    assert made.database.startswith("postgresql://")


def test_second_file_adds_stripe_and_open_sign_up() -> None:
    given = GIVEN | STRIPE_GIVEN
    made = settings_of(composed.environment(OWN, STRIPE, given=given))

    assert made.is_production
    assert (PaymentProvider.STRIPE, SignupPolicy.OPEN) == (made.payments, made.signup)
    assert set(STRIPE_GIVEN) == composed.required(STRIPE)
    assert ["recibo"] == list(composed.read(STRIPE)["services"])


@pytest.mark.parametrize("name", [OWN, STRIPE])
def test_every_variable_is_a_setting(name: str) -> None:
    known = {f"RECIBO_{field.upper()}" for field in Settings.model_fields}
    environment = composed.read(name)["services"]["recibo"]["environment"]
    text = (composed.FOLDER / name).read_text(encoding="utf-8")

    assert set(environment) <= known
    assert set(re.findall(r"RECIBO_[A-Z_]+", text)) <= known


def test_only_caddy_publishes_ports(services: Mapping[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}

    assert {"caddy": ["80:80", "443:443", "443:443/udp"]} == published


def test_recibo_trusts_caddy_and_nothing_that_clients_come_from(
    services: Mapping[str, Any],
) -> None:
    address = services["caddy"]["networks"]["web"]["ipv4_address"]
    (plan,) = composed.read(OWN)["networks"]["web"]["ipam"]["config"]
    subnet, others = (ipaddress.ip_network(plan[name]) for name in ("subnet", "ip_range"))

    assert address == services["recibo"]["environment"]["RECIBO_TRUSTED_PROXIES"]
    assert ipaddress.ip_address(address) in subnet
    assert ipaddress.ip_address(address) not in others
    # Docker gives the first one to the gateway.
    assert ipaddress.ip_address(address) != subnet.network_address + 1


def test_database_is_reached_by_a_socket_that_recibo_alone_shares(
    services: Mapping[str, Any],
) -> None:
    holders = {
        name
        for name, service in services.items()
        if any(volume.startswith("socket:") for volume in service["volumes"])
    }

    assert {"recibo", "postgres"} == holders
    assert "none" == services["postgres"]["network_mode"]
    assert ["postgres", "-c", "listen_addresses="] == services["postgres"]["command"]
    url = services["recibo"]["environment"]["RECIBO_DATABASE_URL"]
    assert "socket:/var/run/postgresql" in services["recibo"]["volumes"]
    assert url.endswith("?host=/var/run/postgresql")


def test_all_come_again_after_a_crash_and_are_waited_for(services: Mapping[str, Any]) -> None:
    assert {"unless-stopped"} == {service["restart"] for service in services.values()}
    for name, needed in (("caddy", "recibo"), ("recibo", "postgres")):
        assert {needed: {"condition": "service_healthy"}} == services[name]["depends_on"]
    for name in ("caddy", "postgres"):
        assert "test" in services[name]["healthcheck"]


def test_volumes_of_earlier_installations_are_found() -> None:
    # Docker Compose puts the project's name before them: the folder's, unless the file gives one.
    assert "name" not in composed.read(OWN)
    assert {"files", "rows"} <= set(composed.read(OWN)["volumes"])


def test_every_volume_and_network_is_declared(services: Mapping[str, Any]) -> None:
    file = composed.read(OWN)
    used = {
        volume.partition(":")[0]
        for service in services.values()
        for volume in service["volumes"]
        if not volume.startswith(".")
    }

    assert set(file["volumes"]) == used
    assert ["web"] == list(file["networks"])
    assert ["web"] == services["recibo"]["networks"]


def test_image_runs_unprivileged_migrates_and_reports_its_health() -> None:
    lines = (composed.FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines()

    assert "USER recibo" in lines
    assert lines.index("USER recibo") < lines.index(lines[-1])
    assert any(line.startswith("HEALTHCHECK") and "/healthz" in line for line in lines)
    assert "recibo migrate && exec recibo serve --host 0.0.0.0" in lines[-1]
    copied = {
        line.split()[1].rstrip("/")
        for line in lines
        if line.startswith("COPY ") and "--" not in line
    }
    ignored = (source.ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} >= copied
