"""Parse HTML pages: visible text, inputs, forms, links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

# The switch of the language is on every page, and no test is about it but its own.
_LANGUAGE = "/portal/language"
# Whose texts are kept.
_TEXTS = {"title", "body", "button", "label"}
_VOID = {"input", "img", "link", "meta", "br", "hr"}


@dataclass(slots=True)
class Page:
    """The parsed content of a page."""

    title: str = ""
    text: str = ""
    #: The attributes of each input, by its name.
    inputs: dict[str, dict[str, str | None]] = field(default_factory=dict)
    #: Method and action of each form.
    forms: list[tuple[str | None, str | None]] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)
    #: The texts of the primary actions: links, buttons and menus.
    primary: list[str] = field(default_factory=list)
    #: The texts of elements that have an id or a role.
    by_id: dict[str, str] = field(default_factory=dict)
    by_role: dict[str, str] = field(default_factory=dict)
    #: The inputs that a label belongs to, and the label.
    labels: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    def error(self, name: str) -> str:
        """Return the error of a field, which must be linked by ARIA attributes."""
        attributes = self.inputs[name]
        assert attributes.get("aria-invalid") == "true"
        assert f"{name}-error" in (attributes["aria-describedby"] or "").split()
        return self.by_id[f"{name}-error"]

    @property
    def alert(self) -> str:
        """The error above the form."""
        return self.by_role.get("alert", "")


def parse(answer: httpx.Response) -> Page:
    """Parse the page in a response."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8", answer.headers
    parser = _Parser()
    parser.feed(answer.text)
    assert parser.open == [], "every element is closed"
    return parser.page


def forms_with_buttons(answer: httpx.Response) -> list[tuple[str, str, dict[str, str]]]:
    """Return the action, the button's text and the fields of each form."""
    return [
        (form["action"] or "", text, {name: fields[name] or "" for name in fields})
        for form, text, fields in _Forms.of(answer)
    ]


class _Forms(HTMLParser):
    """Parses the forms of a page separately, because their fields may share names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str, dict[str, str | None]]] = []

    @classmethod
    def of(
        cls, answer: httpx.Response
    ) -> list[tuple[dict[str, str | None], str, dict[str, str | None]]]:
        parser = cls()
        parser.feed(answer.text)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            assert attributes["method"] == "post"
            self.found.append((attributes, "", {}))
        elif tag == "input":
            self.found[-1][2][str(attributes["name"])] = attributes.get("value")

    def handle_data(self, data: str) -> None:
        if self.found and self.lasttag == "button" and data.strip():
            form, text, fields = self.found[-1]
            self.found[-1] = (form, text or data.strip(), fields)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        #: Each with the number of texts before it.
        self.open: list[tuple[str, dict[str, str | None], int]] = []
        self._texts: list[str] = []
        self._is_in_switch = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        # Separate the texts of elements.
        self.handle_data(" ")
        if tag == "input" and not self._is_in_switch:
            self.page.inputs[str(attributes.get("name", ""))] = attributes
        elif tag == "form":
            self._is_in_switch = attributes.get("action") == _LANGUAGE
            if not self._is_in_switch:
                self.page.forms.append((attributes.get("method"), attributes.get("action")))
        elif tag == "a":
            self.page.links.append(str(attributes["href"]))
        if tag not in _VOID:
            self.open.append((tag, attributes, len(self._texts)))

    def handle_data(self, data: str) -> None:
        self._texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        start_tag, attributes, first = self.open.pop()
        assert start_tag == tag, (start_tag, tag)
        if tag == "form":
            self._is_in_switch = False
        is_primary = "btn-primary" in (attributes.get("class") or "").split()
        if not (is_primary or tag in _TEXTS or attributes.keys() & {"id", "role"}):
            return
        text = " ".join("".join(self._texts[first:]).split())
        page = self.page
        if is_primary:
            page.primary.append(text)
        if tag == "title":
            page.title = text
        elif tag == "body":
            page.text = text
        elif tag == "button":
            page.buttons.append(text)
        elif tag == "label":
            page.labels[str(attributes["for"])] = text
        if "id" in attributes:
            page.by_id[str(attributes["id"])] = text
        if "role" in attributes:
            page.by_role[str(attributes["role"])] = text
