"""Devices in words, for the list of sessions."""

from dataclasses import dataclass

from recibo.lib import user_agents
from recibo.portal.translations import gettext as _


@dataclass(frozen=True, slots=True)
class Device:
    """A browser on a system, in words, and its icon."""

    name: str
    icon: str


def device(user_agent: str | None) -> Device:
    """Return the device that a user agent names."""
    named = user_agents.parse(user_agent)
    icon = "smartphone" if named.is_mobile else "laptop" if named.system else "monitor"
    if named.browser and named.system:
        words = _("%(browser)s on %(system)s", browser=named.browser, system=named.system)
    else:
        words = named.browser or named.system or _("Unknown device")
    return Device(words, icon)
