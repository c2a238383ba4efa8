from django.db import models

from feed.models import Post


class Chunk(models.Model):
    """A part of a post's deliveries that is still pending."""

    pk = models.CompositePrimaryKey("post_id", "number")
    post = models.ForeignKey(Post, models.CASCADE, db_index=False, related_name="+")
    number = models.PositiveIntegerField()
