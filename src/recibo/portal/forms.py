"""Parse submitted HTML forms."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, BeforeValidator, ValidationError

from recibo.errors import Detail, ValidationFailed
from recibo.portal import next_paths
from recibo.portal.translations import gettext_noop

Model = TypeVar("Model", bound=BaseModel)

_MAX_BYTES = 64 * 1024
# More than the checkboxes of the longest page of receipts.
_MAX_FIELDS = 120
_TOO_LARGE = gettext_noop("The form is larger than %(size)s KB. Shorten your input.")
_URLENCODED = "application/x-www-form-urlencoded"
#: The attribute of the request's state with the submitted form, on which an error is shown.
FILLED = "portal_form"
# Never rendered again, so that they are in no cache and no page source.
_SECRETS = frozenset({"password", "new_password", "current_password", "code"})

# Phone keyboards add a space after completed words.
Trimmed = Annotated[str, BeforeValidator(str.strip)]


@dataclass(frozen=True, slots=True)
class Filled:
    """A submitted form: its template and its values."""

    template: str
    values: Mapping[str, str]
    #: The names of the visible fields.
    visible: frozenset[str]


def of(model: type[Model], template: str) -> Callable[[Request], Awaitable[Model]]:
    """Return a dependency that parses a form; errors are shown on its page.

    Put it after the guards, because it reads the body.
    """

    async def read(request: Request) -> Model:
        given = await submitted(request)
        setattr(request.state, FILLED, _filled(model, template, given))
        return checked(model, given)

    return read


def linked(request: Request, template: str) -> Mapping[str, str]:
    """Return the token in the URL of a form, and the page to open next; empty without a token.

    Errors about the token are shown on the form's page.
    """
    token = request.query_params.get("token", "").strip()
    if not token:
        return {}
    values = {"token": token, "next": next_paths.of(request.query_params.get("next"))}
    setattr(request.state, FILLED, Filled(template, values, frozenset()))
    return values


def plain(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """Return a dependency that parses a form; errors are shown on an error page."""

    async def read(request: Request) -> Model:
        return checked(model, await submitted(request))

    return read


def plural(model: type[Model], *repeated: str) -> Callable[[Request], Awaitable[Model]]:
    """Return the same for a form in which some fields may be repeated: each becomes a list."""

    async def read(request: Request) -> Model:
        pairs = await _pairs(request)
        lists = {name: [text for key, text in pairs if key == name] for name in repeated}
        return checked(model, {**dict(pairs), **lists})

    return read


def checked(model: type[Model], given: Mapping[str, Any]) -> Model:
    """Validate form values; raises ValidationFailed."""
    try:
        return model.model_validate(given)
    except ValidationError as e:
        raise _refusal(e) from None


def _filled(model: type[BaseModel], template: str, given: Mapping[str, str]) -> Filled:
    values = {name: value for name, value in given.items() if name not in _SECRETS}
    # A token from a link is in a hidden field.
    hidden = {"next", "token"} if given.get("token", "").strip() else {"next"}
    return Filled(template, values, frozenset(model.model_fields) - hidden)


async def submitted(
    request: Request, *, max_bytes: int = _MAX_BYTES, max_fields: int = _MAX_FIELDS
) -> dict[str, str]:
    """Return the values of a submitted form by name; raises ValidationFailed."""
    # If a field is repeated, the last value counts.
    return dict(await _pairs(request, max_bytes=max_bytes, max_fields=max_fields))


async def _pairs(
    request: Request, *, max_bytes: int = _MAX_BYTES, max_fields: int = _MAX_FIELDS
) -> list[tuple[str, str]]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _URLENCODED:
        raise ValidationFailed(
            gettext_noop("The form was not sent in the expected format. Go back and try again.")
        )
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            message = _TOO_LARGE % {"size": max_bytes // 1024}
            raise ValidationFailed(message)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=max_fields,
        )
    except ValueError:
        raise ValidationFailed(
            gettext_noop("The form arrived damaged or incomplete. Go back and try again.")
        ) from None
    if any("\0" in text for pair in pairs for text in pair):
        raise ValidationFailed(
            gettext_noop(
                "The form contains a character that cannot be stored. Remove it and try again."
            )
        )
    return pairs


def _refusal(error: ValidationError) -> ValidationFailed:
    details = tuple(
        Detail(str(one["loc"][0]) if one["loc"] else "form", _sentence(one["type"], one))
        for one in error.errors(include_url=False, include_input=False)
    )
    message = "; ".join(f"{one.field}: {one.message}" for one in details)
    return ValidationFailed(message, details=details)


def _sentence(kind: str, error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    match kind:
        case "missing":
            return "is required"
        case "string_too_short":
            least = context["min_length"]
            return "is required" if least == 1 else f"needs at least {least} characters"
        case "string_too_long":
            return f"may have at most {context['max_length']} characters"
        case "value_error":
            return str(context["error"])
        case "enum":
            return f"must be one of {context['expected'].replace(' or ', ', ')}".replace("'", "")
        case _:
            # Pydantic's messages are for programmers.
            return "is not valid"
