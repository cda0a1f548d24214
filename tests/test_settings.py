"""The settings."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from recibo import settings
from recibo.schemas.states import PaymentProvider
from recibo.settings import Settings
from tests.installation import make_settings

GOOD: dict[str, Any] = {
    "environment": "production",
    "secret_key": "s" * 32,
    "base_url": "https://recibo.example",
    "email_url": "smtp://mail.recibo.example",
    "payments": "stripe",
    "stripe_api_key": "sk_live_x",
    "stripe_webhook_secret": "whsec_x",
    "stripe_price_indie": "price_1",
    "stripe_price_startup": "price_2",
    "stripe_price_scale": "price_3",
}
STRIPE = {name: value for name, value in GOOD.items() if name.startswith("stripe_")}


def test_every_setting_has_a_default_that_works() -> None:
    made = Settings(_env_file=None)

    assert made.is_embedded
    assert not made.is_production
    assert made.private_webhooks_allowed
    assert (25, 300) == (made.extract_wait_seconds, made.max_queue_seconds)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECIBO_EXTRACT_WAIT_SECONDS", "3")
    monkeypatch.setenv("EXTRACT_WAIT_SECONDS", "4")

    assert 3 == Settings(_env_file=None).extract_wait_seconds


def test_settings_come_from_a_file_that_may_hold_others_too(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("RECIBO_READERS=2\nOTHER=1\nRECIBO_UNKNOWN=1\n")

    assert 2 == Settings(_env_file=path).readers


@pytest.mark.parametrize("address", ["https://recibo.example", "https://recibo.example/"])
def test_slash_at_the_end_of_the_public_address_is_dropped(address: str) -> None:
    assert "https://recibo.example" == Settings(_env_file=None, base_url=address).base_url


def test_production_with_all_it_needs_starts() -> None:
    made = Settings(_env_file=None, **GOOD)

    assert made.is_production
    assert not made.private_webhooks_allowed


def test_production_without_payments_needs_three_settings() -> None:
    given: dict[str, Any] = {name: GOOD[name] for name in ("secret_key", "base_url", "email_url")}
    made = Settings(_env_file=None, environment="production", payments="none", **given)

    assert PaymentProvider.NONE is made.payments


@pytest.mark.parametrize("setting", ["signup", "payments"])
@pytest.mark.parametrize("value", ["", "everybody", "OPEN", "None"])
def test_unknown_choice_refuses_the_start(setting: str, value: str) -> None:
    given: dict[str, Any] = {setting: value}
    with pytest.raises(ValidationError, match=setting):
        Settings(_env_file=None, **given)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"secret_key": ""}, "RECIBO_SECRET_KEY is not set"),
        ({"secret_key": " " * 40}, "RECIBO_SECRET_KEY is not set"),
        ({"secret_key": "s" * 31}, "RECIBO_SECRET_KEY has fewer than 32 characters"),
        ({"secret_key": " " + "s" * 31}, "RECIBO_SECRET_KEY has fewer than 32 characters"),
        (
            {"previous_secret_keys": f"{'o' * 32},{'p' * 31}"},
            "RECIBO_PREVIOUS_SECRET_KEYS holds one that has fewer than 32 characters",
        ),
        ({"base_url": ""}, "RECIBO_BASE_URL"),
        ({"base_url": "http://recibo.example"}, "RECIBO_BASE_URL"),
        ({"base_url": "https://"}, "RECIBO_BASE_URL"),
        ({"email_url": ""}, "RECIBO_EMAIL_URL"),
        ({"email_url": "outbox"}, "RECIBO_EMAIL_URL"),
        ({"webhook_allow_private": True}, "RECIBO_WEBHOOK_ALLOW_PRIVATE"),
        ({"payments": "sandbox"}, "RECIBO_PAYMENTS"),
    ],
)
def test_production_refuses_each_thing_that_is_only_for_trying_out(
    wrong: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(_env_file=None, **{**GOOD, **wrong})


def test_production_takes_secrets_of_32_characters_and_never_shows_one() -> None:
    previous = f"{'o' * 32}, {'p' * 32}"

    assert Settings(_env_file=None, **GOOD, previous_secret_keys=previous).is_production
    short = {"secret_key": "hunter2-hunter2", "previous_secret_keys": "older-secret"}
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, **{**GOOD, **short})
    [error] = refused.value.errors(include_input=False)
    assert "hunter2" not in str(error)
    assert "older-secret" not in str(error)


def test_development_takes_any_secret() -> None:
    given: dict[str, Any] = {"secret_key": "short"}

    assert "short" == Settings(_env_file=None, **given).secret_key


def test_production_names_all_that_is_wrong_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, environment="production", webhook_allow_private=True)

    for named in ("SECRET_KEY", "BASE_URL", "EMAIL_URL", "PAYMENTS", "WEBHOOK_ALLOW_PRIVATE"):
        assert f"RECIBO_{named}" in str(refused.value)


def test_production_reports_missing_stripe_settings_with_other_problems() -> None:
    wrong = {"base_url": "http://recibo.example", "stripe_api_key": ""}
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, **{**GOOD, **wrong})

    assert "RECIBO_BASE_URL" in str(refused.value)
    assert "needs RECIBO_STRIPE_API_KEY, too" in str(refused.value)


@pytest.mark.parametrize("wrong", ["recibo.example", "ftp://recibo.example", "http://", "http://["])
def test_public_address_that_no_link_could_lead_to_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="RECIBO_BASE_URL must begin with"):
        Settings(_env_file=None, base_url=wrong)


@pytest.mark.parametrize("missing", [*STRIPE, "stripe_api_base"])
def test_stripe_needs_each_of_its_settings(missing: str) -> None:
    with pytest.raises(ValidationError, match=f"needs RECIBO_{missing.upper()}, too"):
        Settings(_env_file=None, payments="stripe", **{**STRIPE, missing: " "})


def test_all_that_stripe_needs_is_named_in_one_line() -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, payments="stripe")

    [error] = refused.value.errors()
    assert all(f"RECIBO_{name.upper()}" in error["msg"] for name in STRIPE)
    assert "\n" not in error["msg"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"payments": "paypal"},
        {"environment": "staging"},
        {"extract_wait_seconds": -1},
        {"max_queue_seconds": 0},
        {"readers": -1},
        {"webhook_allow_private": "perhaps"},
    ],
)
def test_values_without_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(_env_file=None, **wrong)


def test_signing_key_is_made_once_and_is_for_the_owner_alone(tmp_path: Path) -> None:
    made = make_settings(tmp_path / "new")

    first = settings.secret_key(made)

    assert first == settings.secret_key(made)
    assert len(first) >= 32
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()}
    assert {0o600} == modes


def test_half_written_signing_key_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "secret_key.part").write_text("")

    assert len(settings.secret_key(make_settings(tmp_path))) >= 32


def test_given_signing_key_is_used_and_not_written_down(tmp_path: Path) -> None:
    given = {"secret_key": "given"}

    assert "given" == settings.secret_key(make_settings(tmp_path, **given))
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", ["*", "proxy", "10.0.0.1/8", "10.0.0.1 10.0.0.2", "10.0.0.1:80"])
def test_trusted_proxies_are_addresses_and_networks(wrong: str) -> None:
    with pytest.raises(ValidationError, match="trusted_proxies"):
        Settings(_env_file=None, trusted_proxies=f"10.0.0.1, {wrong}")

    made = Settings(_env_file=None, trusted_proxies=" 10.0.0.1,10.1.0.0/16 ,::1,")
    assert ["10.0.0.1", "10.1.0.0/16", "::1"] == made.proxies


def test_no_proxy_is_trusted_by_default() -> None:
    assert [] == Settings(_env_file=None).proxies


def test_loopback_is_spared_in_development_alone_unless_it_is_said() -> None:
    limited = [
        Settings(_env_file=None).loopback_is_limited,
        Settings(_env_file=None, limit_loopback=True).loopback_is_limited,
        Settings(_env_file=None, **GOOD).loopback_is_limited,
        Settings(_env_file=None, **GOOD, limit_loopback=False).loopback_is_limited,
    ]

    assert [False, True, True, False] == limited


def test_number_of_signups_that_was_chosen_holds_for_loopback() -> None:
    assert [False, True, True, True] == [
        Settings(_env_file=None).loopback_signups_are_limited,
        Settings(_env_file=None, signups_per_ip_per_hour=1000).loopback_signups_are_limited,
        Settings(_env_file=None, limit_loopback=True).loopback_signups_are_limited,
        Settings(_env_file=None, **GOOD).loopback_signups_are_limited,
    ]
