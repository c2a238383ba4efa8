from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models

MAX_NAME_CHARACTERS = 150


class Person(AbstractBaseUser):
    """An account, with one timeline."""

    username = models.CharField(max_length=150, unique=True)
    is_active = models.BooleanField(default=True)
    last_login = None
    friends_version = models.BigIntegerField(null=True, editable=False)
    """Random version, replaced on every friendship change in the same transaction, so that friends
    may be cached; None: they may not (``accounts.friendships``)."""

    USERNAME_FIELD = "username"
    objects = BaseUserManager["Person"]()


class Profile(models.Model):
    """A person's public profile; everyone has one."""

    person = models.OneToOneField(Person, models.CASCADE, primary_key=True)
    name = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True)


class Group(models.Model):
    """A group of people; everyone is a member of the public group."""

    name = models.CharField(max_length=MAX_NAME_CHARACTERS, unique=True)


class Membership(models.Model):
    pk = models.CompositePrimaryKey("person_id", "group_id")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="memberships")
    group = models.ForeignKey(Group, models.CASCADE, related_name="memberships")


class Friendship(models.Model):
    """One direction of a friendship; the other direction always exists too.

    Written by ``accounts.friendships``; any other writer must renew the versions too.
    """

    pk = models.CompositePrimaryKey("person_id", "friend_id")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="friendships")
    friend = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(person=models.F("friend")), name="nobody_befriends_themselves"
            )
        ]
