"""The application that pauses, and a worker in which reads wait together with writes."""

from tests.web.applications import pausing
from web import gunicorn_worker, lanes

__all__ = ["pausing"]


def one_lane_of(line, paths):
    lane = lanes.lane_of(line, paths)
    return lanes.WRITE if lane == lanes.READ else lane


gunicorn_worker.lane_of = one_lane_of
