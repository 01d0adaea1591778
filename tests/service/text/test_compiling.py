"""Templates are compiled by threads of one process at once: of the pages, of the letters, and of the warm-up."""

import gc
import sys
import threading

import pytest

from service.text import templates

THREADS, ROUNDS = 4, 20
NUMBERS = "{{ 0.5 + 1.5 }}" * 40


class Rubbish:
    """Refers to itself, so that the garbage collector runs, during which other threads may continue."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(200):
            pass


@pytest.fixture
def in_each_others_way():
    """Threads that change places all the time, also in the middle of a syntax tree."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5, 2, 2)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


def test_threads_that_compile_at_once_do_not_miscount_each_other(in_each_others_way):
    environment, failed = templates.get_environment(), list[Exception]()

    def compile_often(deeper: int) -> None:
        if deeper:
            compile_often(deeper - 1)
            return
        for _ in range(ROUNDS):
            rubbish = [Rubbish() for _ in range(30)]
            del rubbish
            try:
                environment.compile(NUMBERS)
            except SystemError as error:
                failed.append(error)

    threads = [threading.Thread(target=compile_often, args=(20 * number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
