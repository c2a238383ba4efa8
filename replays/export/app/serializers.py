"""Requests and responses of the export endpoints."""

from typing import Any

from rest_framework import serializers

from replays.export.app.formats import FORMATS
from web.serializers import StrictSerializer


class ExportQuerySerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=list(FORMATS), default="csv")


class NewExportSerializer(StrictSerializer):
    format = serializers.ChoiceField(choices=list(FORMATS), default="csv")


class ExportJobSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    format = serializers.CharField()
    state = serializers.ChoiceField(choices=["waiting", "ready", "failed"])
    created_at = serializers.DateTimeField()
    file = serializers.URLField(allow_null=True, help_text="URL of the file, once it is ready.")


class MonthSerializer(serializers.Serializer[Any]):
    author = serializers.IntegerField(source="author_id", help_text="The id of the person.")
    month = serializers.CharField(help_text="Of UTC, like 2026-01.")
    posts = serializers.IntegerField()
    deliveries = serializers.IntegerField(help_text="Into the timelines of the author's friends.")


class ReportSerializer(serializers.Serializer[Any]):
    months = MonthSerializer(many=True)
