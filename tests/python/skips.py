"""Skipped tests fail where VIDREC_REQUIRE is set, as continuous integration does. For each conftest.py to import.

A reason that begins with one of `FINE` is no failure.
"""
import os

import pytest

REQUIRED = os.environ.get("VIDREC_REQUIRE", "") not in ("", "0")
FINE = ("not asked for: ", "another machine: ")


def fail(report):
    """Turns a skip into a failure."""
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        path, line, reason = report.longrepr
        reason = reason.replace("Skipped: ", "", 1)
        if not reason.startswith(FINE):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: this cannot run, and VIDREC_REQUIRE is set: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    fail(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    outcome = yield
    fail(outcome.get_result())
