"""Work in the background stands aside while an answer is made, and goes on whatever happens."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memhook import turns
from memhook.turns import answering, interrupted_by, part_of_an_answer, stand_aside
from tests.patience import SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_SECONDS", float(SECONDS))


def test_with_nobody_to_answer_nothing_waits() -> None:
    stand_aside()
    with answering():
        pass
    stand_aside()


def test_a_step_waits_until_the_last_answer_is_made() -> None:
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        stand_aside()
        done.set()

    with ThreadPoolExecutor() as pool, answering():
        with answering():
            step = pool.submit(work)
            begun.wait()
        assert not done.is_set()
    step.result()
    assert done.is_set()


def test_what_an_answer_needs_itself_does_not_wait_for_it() -> None:
    with answering():
        with answering():
            pass
        stand_aside()


def test_answers_without_end_do_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_SECONDS", 0.0)
    with ThreadPoolExecutor() as pool, answering():
        pool.submit(stand_aside).result()


def test_an_answer_interrupts_what_is_running_then() -> None:
    stopped: list[str] = []
    with interrupted_by(lambda: stopped.append("first")):
        with interrupted_by(lambda: stopped.append("second")), answering():
            assert sorted(stopped) == ["first", "second"]
        stopped.clear()
        with answering():
            assert stopped == ["first"]
    stopped.clear()
    with answering():
        assert not stopped


def test_what_begins_beside_an_answer_is_interrupted_and_what_is_part_of_one_is_not() -> None:
    stopped: list[str] = []

    def run() -> None:
        with interrupted_by(lambda: stopped.append("beside")):
            pass

    with ThreadPoolExecutor() as pool, answering():
        run()
        assert not stopped
        pool.submit(run).result()
        assert stopped == ["beside"]


def test_a_thread_that_an_answer_waits_for_does_not_wait_for_the_answer() -> None:
    def work() -> None:
        with part_of_an_answer():
            stand_aside()

    with ThreadPoolExecutor() as pool, answering():
        pool.submit(work).result()
