"""A tab in Locust's web UI: the service's fan-out figures, beside Locust's own.

The page fetches statistics every two seconds while a test runs, and shows extra figures in the
tables of its template arguments.
"""

from typing import Any

from flask import Response, jsonify, request
from locust.env import Environment

from locustfiles.service import Watch

KEY = "fan-out"
NOW = "now"
PAGE = {
    "extended_tabs": [{"title": "Fan-out", "key": KEY}],
    "extended_tables": [
        {
            "key": KEY,
            "structure": [
                {"key": "figure", "title": "Fan-out"},
                {"key": "value", "title": "Value"},
                {"key": "span", "title": "Time span"},
            ],
        }
    ],
}


def attach(environment: Environment, watch: Watch) -> None:
    """Add the tab, if there is a web UI."""
    web_ui = environment.web_ui
    if web_ui is None or web_ui.app is None:
        return
    web_ui.template_args |= PAGE

    @web_ui.app.after_request
    def add_figures(response: Response) -> Response:
        if request.endpoint == "locust.request_stats" and response.is_json:
            figures = {"key": KEY, "data": rows(watch)}
            response.set_data(jsonify({**response.get_json(), "extended_stats": [figures]}).data)
        return response


def rows(watch: Watch) -> list[dict[str, str]]:
    status = watch.status
    if status is None:
        return [{"figure": "Service", "value": f"unreachable: {watch.error}", "span": NOW}]
    backlog, lag_ms = status["backlog"], status["lag_ms"]
    of_late = f"over the last {status['window_s']} s"
    shown = (
        ("Backlog", f"{backlog['posts']:,} posts", NOW),
        ("Oldest post waits", _with_unit(backlog["oldest_age_s"], "s", digits=1), NOW),
        ("Lag p50", _with_unit(lag_ms["p50"], "ms"), of_late),
        ("Lag p99", _with_unit(lag_ms["p99"], "ms"), of_late),
        ("Worst lag p99", _with_unit(watch.worst_lag_ms, "ms"), "since the start"),
        ("Deliveries", f"{status['deliveries_per_s']:,.0f} / s", of_late),
        ("Poison", f"{status['poison']['posts']:,} posts", NOW),
        ("Strategy", status["strategy"], NOW),
        ("Store", f"{status['store']}: {status['store_state']}", NOW),
    )
    return [dict(zip(("figure", "value", "span"), row, strict=True)) for row in shown]


def _with_unit(value: Any, unit: str, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f} {unit}"
