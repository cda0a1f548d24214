"""Use a page by keyboard alone, and see where the focus is."""

from playwright.sync_api import Locator, Page

_MOST_TABS = 250
# What has the focus: its name, and what keeps people from seeing that.
_STOP = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const [style, box] = [getComputedStyle(one), one.getBoundingClientRect()];
  const name = one.labels?.[0]?.innerText || one.getAttribute("aria-label") || one.innerText;
  const above = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const hasMark = style.outlineStyle !== "none" || style.boxShadow !== "none";
  const faults = [
    [!box.width || !box.height, "has no size"],
    [box.top < 0 || box.bottom > innerHeight, "is out of view"],
    [!above || !(one.contains(above) || above.contains(one)), `is behind ${above?.outerHTML}`],
    [!hasMark, "has no mark"],
  ];
  // The button within a field of dates, which browsers mark, takes the focus from the field.
  if (!one.matches(":focus")) faults.length = 0;
  return [name.trim().split(/\\n/)[0], faults.filter(([is]) => is).map(([, what]) => what)];
}"""


def reach(page: Page, target: Locator) -> None:
    """Press Tab until a part of the page has the focus."""
    # To look for it at every stop took a third of the time of these tests.
    found = target.element_handle()
    for _ in range(_MOST_TABS):
        if found.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no number of tabs reaches {target}")


def press(page: Page, target: Locator) -> None:
    """Reach a link or button by the keyboard, and press Enter."""
    # Before its scripts have arrived, a page answers in another way.
    page.wait_for_load_state("load")
    reach(page, target)
    page.keyboard.press("Enter")


def walk(page: Page) -> list[str]:
    """Press Tab from the start of a page to its end; return the names of what gets the focus.

    Raises:
        AssertionError: the focus cannot be seen on one of them.
    """
    page.wait_for_load_state("load")
    names: list[str] = []
    for _ in range(_MOST_TABS):
        page.keyboard.press("Tab")
        stop = page.evaluate(_STOP)
        if stop is None:
            return names
        name, faults = stop
        assert not faults, f"{page.url}: {name} {faults}"
        # The parts of a date are several stops.
        if [name] != names[-1:]:
            names.append(name)
    raise AssertionError("the focus never leaves the page")
