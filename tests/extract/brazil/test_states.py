import datetime as dt

import pytest

from recibo.extract.brazil import states

HOUR = dt.timedelta(hours=1)
WINTER_2024 = dt.datetime(2024, 7, 1, 12)  # noqa: DTZ001  (local time as printed)
SUMMER_2019 = dt.datetime(2019, 1, 10, 9, 55)  # noqa: DTZ001


def test_there_are_27_states_with_distinct_codes() -> None:
    every = states.every()

    assert len(every) == 27
    assert len({state.code for state in every.values()}) == 27


@pytest.mark.parametrize(
    ("state", "hours"), [("SP", -3), ("AM", -4), ("AC", -5), ("MT", -4), ("PE", -3), ("RR", -4)]
)
def test_the_time_zone_is_that_of_the_state(state: str, hours: int) -> None:
    assert hours * HOUR == states.offset_at(state, WINTER_2024)


@pytest.mark.parametrize(("state", "hours"), [("SP", -2), ("MS", -3), ("BA", -3), ("AM", -4)])
def test_daylight_saving_time_was_used_in_the_south_until_2019(state: str, hours: int) -> None:
    assert hours * HOUR == states.offset_at(state, SUMMER_2019)


def test_an_island_and_the_far_west_have_other_time_zones() -> None:
    assert -2 * HOUR == states.offset_at("PE", WINTER_2024, municipality="2605459")
    assert -5 * HOUR == states.offset_at("AM", WINTER_2024, address="TABATINGA - AM")
    assert -4 * HOUR == states.offset_at("AM", WINTER_2024, address="MANAUS - AM")


def test_an_unknown_state_has_no_offset() -> None:
    assert states.offset_at("", WINTER_2024) is None


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("Rua A, 10 - Campinas - SP", "SP"),
        ("BELO HORIZONTE/MG CEP 30130-135", "MG"),
        ("Município: Rio Branco UF: AC", "AC"),
        ("AV BRASIL 100 CEP: 69005-010", "AM"),
        ("RUA XV, 3 - 72800-060", "GO"),
        ("AV PRESIDENTE VARGAS 100 CENTRO BELEM PA", "PA"),
        ("SE VOCE GOSTOU, VOLTE", ""),
        ("TO GO", ""),
    ],
)
def test_the_state_is_found_in_an_address(address: str, state: str) -> None:
    assert state == states.find(address)


def test_postal_codes_cover_every_state_once() -> None:
    spans = [span for state in states.every().values() for span in state.postal]

    assert sum(map(len, spans)) == len({code for span in spans for code in span})
    assert {state for state in states.every() if not states.every()[state].postal} == set()
