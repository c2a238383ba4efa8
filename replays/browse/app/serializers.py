"""Requests and responses of the listing."""

from typing import Any

from rest_framework import serializers

from feed.models import Post
from feed.serializers import PostSerializer
from replays.browse.app.listings import MAX_PAGE


class LikedPostSerializer(PostSerializer):
    likes = serializers.IntegerField(help_text="Number of people who like it.")

    def to_representation(self, instance: Post) -> dict[str, Any]:
        likes: int = instance.likes  # type: ignore[attr-defined]  # annotated
        return {**super().to_representation(instance), "likes": likes}


class ListingQuerySerializer(serializers.Serializer[Any]):
    sort = serializers.ChoiceField(["-likes"], default="-likes")
    size = serializers.IntegerField(min_value=1, max_value=100, default=10)
    page = serializers.IntegerField(
        min_value=1,
        max_value=MAX_PAGE,
        default=None,
        help_text="Counted from 1, at the first post or after `after`.",
        error_messages={"max_value": "Pages end at {max_value}; go on with `after`."},
    )
    after = serializers.RegexField(
        r"\A[0-9]{1,9}-[0-9]{1,18}\Z",
        default=None,
        help_text="The likes and the id of the last post before the page, like 12-345.",
    )


class ListingSerializer(serializers.Serializer[Any]):
    posts = LikedPostSerializer(many=True)
    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null at the end.")
