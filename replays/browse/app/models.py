from django.db import models

from accounts.models import Person
from feed.models import Post


class Like(models.Model):
    """One person's like of one post."""

    pk = models.CompositePrimaryKey("post_id", "person_id")
    post = models.ForeignKey(Post, models.CASCADE, db_index=False, related_name="liked_by")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="+")

    class Meta:
        db_table = "feed_like"  # of releases whose service had likes
