"""Requests and responses of the feed endpoints."""

from typing import Any

from rest_framework import serializers

from accounts.ids import MAX_ID
from feed.models import MAX_BODY_CHARACTERS, Post
from web.serializers import StrictSerializer, TextField

KEY_PATTERN = "[!-~]{1,255}"


class NewPostSerializer(StrictSerializer):
    body = TextField(max_length=MAX_BODY_CHARACTERS)


class IdempotencyKeySerializer(serializers.Serializer[Any]):
    key = serializers.RegexField(
        rf"\A{KEY_PATTERN}\Z",
        required=False,
        trim_whitespace=False,
        error_messages={"invalid": "Use 1 to 255 printable ASCII characters without spaces."},
    )


class PageQuerySerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(min_value=1, max_value=100, default=20)
    before = serializers.IntegerField(min_value=1, max_value=MAX_ID, default=None)


class PostSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    author = serializers.IntegerField(source="author_id", help_text="The id of the person.")
    body = serializers.CharField()
    created_at = serializers.DateTimeField()

    def to_representation(self, instance: Post) -> dict[str, Any]:
        """Return what the declared fields would, without a call per field."""
        return {
            "id": instance.id,
            "author": instance.author_id,
            "body": instance.body,
            "created_at": instance.created_at.isoformat().replace("+00:00", "Z"),
        }


class PageSerializer(serializers.Serializer[Any]):
    posts = PostSerializer(many=True, help_text="Maybe fewer than `limit`, even if more follow.")
    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null at the end.")
