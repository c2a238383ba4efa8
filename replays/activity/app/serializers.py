"""Requests and responses of the activity endpoints."""

from datetime import date
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from replays.activity.app.periods import DAY_PATTERN, FIRST_DAY, LAST_DAY, moment


@extend_schema_field({"type": "string", "format": "date", "pattern": DAY_PATTERN})
class DayField(serializers.DateField):
    """A day like 2025-12-31, from FIRST_DAY to LAST_DAY."""

    def to_internal_value(self, value: Any) -> date:
        day: date = super().to_internal_value(value)
        if value != day.isoformat() or not FIRST_DAY <= day <= LAST_DAY:
            raise serializers.ValidationError(f"Use YYYY-MM-DD, {FIRST_DAY} to {LAST_DAY}.")
        return day


class MomentField(serializers.DateTimeField):
    """Unix time, shown as local time of ACTIVITY_TIME_ZONE."""

    def to_representation(self, value: Any) -> str:
        return moment(value).isoformat()


class DayQuerySerializer(serializers.Serializer[Any]):
    day = DayField(default=None, help_text="Default: today.")


class TimeSerializer(serializers.Serializer[Any]):
    begins_at = MomentField(source="period.start")
    ends_at = MomentField(source="period.end")
    inside_s = serializers.IntegerField(help_text="Seconds; an open visit counts until now.")


class TimesSerializer(serializers.Serializer[Any]):
    day = TimeSerializer()
    months = TimeSerializer(many=True, help_text="The day's and the five before, oldest first.")
    six_months = TimeSerializer()


class VisitSerializer(serializers.Serializer[Any]):
    entered_at = MomentField()
    left_at = MomentField(allow_null=True, help_text="null while the visit is open.")
    device = serializers.IntegerField(help_text="The device of the entry.")
    cut_at_start = serializers.BooleanField(help_text="The visit began on an earlier day.")
    cut_at_end = serializers.BooleanField(help_text="The visit continued into the next day.")


class VisitsSerializer(serializers.Serializer[Any]):
    visits = VisitSerializer(many=True)


class SummarySerializer(serializers.Serializer[Any]):
    person = serializers.CharField(source="person.username")
    last_visit = VisitSerializer(allow_null=True)
    inside_now = serializers.IntegerField(help_text="How many people are inside.")
