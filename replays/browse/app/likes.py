"""Likes, counted in their posts by the same transaction."""

from django.db import IntegrityError, transaction
from django.db.models import Count, F

from accounts.services import UnknownPerson
from feed.models import Post
from feed.visibility import visible
from replays.browse.app.models import Like

MOST_UNLIKED = 500
"""Likes that are removed in one transaction."""


def like_post(*, person_id: int, post_id: int) -> None:
    """Like a post; repeating it changes nothing. Raises Post.DoesNotExist or UnknownPerson."""
    try:
        with transaction.atomic():
            _lock(post_id, person_id)
            like = Like(post_id=post_id, person_id=person_id)
            if not Like.objects.filter(pk=like.pk).exists():
                like.save(force_insert=True)
                _count(post_id, 1)
    except IntegrityError:
        raise UnknownPerson from None


def unlike_post(*, person_id: int, post_id: int) -> None:
    """Remove a like; repeating it changes nothing. Raises Post.DoesNotExist."""
    with transaction.atomic():
        _lock(post_id, person_id)
        removed, _ = Like.objects.filter(post_id=post_id, person_id=person_id).delete()
        _count(post_id, -removed)


def unlike_everything(person_id: int) -> None:
    """Remove all likes of a person, MOST_UNLIKED at a time."""
    likes = Like.objects.filter(person_id=person_id)
    liked = sorted(likes.values_list("post_id", flat=True))
    for start in range(0, len(liked), MOST_UNLIKED):
        post_ids = liked[start : start + MOST_UNLIKED]
        with transaction.atomic():
            posts = Post.objects.filter(id__in=post_ids).order_by("id")
            list(posts.select_for_update().values_list("id"))
            theirs = likes.filter(post_id__in=post_ids)
            left = list(theirs.values_list("post_id", flat=True))
            theirs.delete()
            Post.objects.filter(id__in=left).update(like_count=F("like_count") - 1)


def miscounted_posts() -> int:
    """Return the number of posts whose like_count is wrong."""
    counted = Post.objects.annotate(likes=Count("liked_by__person_id"))
    return counted.exclude(likes=F("like_count")).count()


def _lock(post_id: int, person_id: int) -> None:
    """Lock a post that the person may read; every change of its likes takes this lock first."""
    posts = visible(Post.objects.live(), person_id)
    posts.select_for_update().only("id").get(id=post_id)


def _count(post_id: int, change: int) -> None:
    if change:
        Post.objects.filter(id=post_id).update(like_count=F("like_count") + change)
