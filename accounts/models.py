import secrets
from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models, transaction
from django.db.models.functions import Now

from accounts.usernames import MAX_KEY_CHARACTERS, username_key

MAX_NAME_CHARACTERS = 150
DELETED = "deleted:"
MAX_LIMIT_CHARACTERS = 150
SAVED = ("username", "username_key", "password", "is_active")


class PersonManager(BaseUserManager["Person"]):
    def get_by_natural_key(self, username: str | None) -> "Person":
        """Return the person of this name, else the one whose name looks like it, for a log-in.

        Raises Person.DoesNotExist.
        """
        name = username or ""
        alike = models.Q(username=name) | models.Q(username_key=username_key(name))
        for person in sorted(self.filter(alike), key=lambda person: person.username != name):
            return person
        raise Person.DoesNotExist


class Person(AbstractBaseUser):
    """An account, with one timeline."""

    username = models.CharField(max_length=150, unique=True)
    is_active = models.BooleanField(default=True)
    is_private = models.BooleanField(default=False, db_default=False)
    """They accept their followers, and nobody else reads their posts (FEED_EDGES=follows)."""
    last_login = None
    friends_version = models.BigIntegerField(null=True, editable=False)
    """Random version, replaced on every change of whom they read and who reads them, in the same
    transaction, so that these may be cached; None: they may not (``accounts.follows``)."""
    tokens_version = models.BigIntegerField(default=0, editable=False)
    """Random version, replaced when the password changes or the person is deactivated: tokens with
    another one are refused (``accounts.revocations``)."""
    username_key = models.CharField(
        max_length=MAX_KEY_CHARACTERS, unique=True, null=True, editable=False
    )
    """The username with all that looks alike folded into one (``accounts.usernames``); None: it was
    taken when the column came."""

    USERNAME_FIELD = "username"
    objects = PersonManager()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; another password or ``is_active`` ends all sessions and tokens."""
        if self._state.adding:
            self.username_key = self.username_key or username_key(self.username)
            return super().save(*args, **kwargs)
        if not args and kwargs.get("update_fields") is None:
            kwargs["update_fields"] = SAVED  # a version that was replaced meanwhile stays so
        stored = Person.objects.filter(pk=self.pk).values_list("password", "is_active")
        with transaction.atomic():
            before = stored.select_for_update().first()
            super().save(*args, **kwargs)
            after = stored.first()
            if after and before != after:
                self.end_sessions(stays_open=after[1])  # this copy's is_active may be an old one

    def end_sessions(self, *, stays_open: bool) -> None:
        """Make all tokens of this person invalid. ``stays_open``: new ones will be valid."""
        with transaction.atomic():
            self.tokens_version = secrets.randbits(63)
            Person.objects.filter(pk=self.pk).update(tokens_version=self.tokens_version)
            self.sessions.all().delete()
            valid = self.tokens_version if stays_open else None
            Revocation.objects.create(person_id=self.pk, version=valid)

    def check_password(self, raw_password: str | None) -> bool:
        """Check a password. Its hash is renewed if it is another hasher's.

        Unlike Django's, that never brings back a password that was changed in the meantime.
        """
        before = self.password

        def renew(right_password: str) -> None:
            self.password = make_password(right_password)
            same = Person.objects.filter(pk=self.pk, password=before)
            same.update(password=self.password)

        return check_password(raw_password, before, renew)

    @property
    def is_deleted(self) -> bool:
        """The person was deleted; the row stays, without personal data."""
        return self.username == deleted_username(self.id)


def deleted_username(person_id: int) -> str:
    """Return the username of a deleted person, which nobody can sign up with."""
    return f"{DELETED}{person_id}"


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


class Follow(models.Model):
    """Posts of the author are in the reader's feed; friends follow each other.

    Written by ``accounts.follows``; any other writer must renew the versions too.
    """

    pk = models.CompositePrimaryKey("author_id", "reader_id")
    author = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="readers")
    reader = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="authors")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(author=models.F("reader")), name="nobody_follows_themselves"
            )
        ]
        indexes = [models.Index(fields=["reader", "author"], name="follow_of_reader")]


class FriendRequest(models.Model):
    """``person`` would like to be a friend of ``friend``, who hasn't answered yet."""

    pk = models.CompositePrimaryKey("person_id", "friend_id")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="requests")
    friend = models.ForeignKey(
        Person, models.CASCADE, db_index=False, related_name="requests_of_others"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["friend", "created_at"], name="request_received")]


class Block(models.Model):
    """``person`` has blocked ``other``: neither sees anything of the other."""

    pk = models.CompositePrimaryKey("person_id", "other_id")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="blocks")
    other = models.ForeignKey(Person, models.CASCADE, related_name="blocks_by_others")


class Session(models.Model):
    """One log-in. It ends with its log-out, or when its refresh token has expired."""

    person = models.ForeignKey(Person, models.CASCADE, related_name="sessions")
    refresh_id = models.CharField(max_length=32)
    """The ``jti`` of its only valid refresh token; each refresh replaces it."""
    expires_at = models.DateTimeField(db_index=True)


class Revocation(models.Model):
    """Tokens that were made invalid before they expire (``accounts.revocations``)."""

    person_id = models.BigIntegerField()
    version = models.BigIntegerField(null=True)
    """The only ``tokens_version`` of the person that is valid now; None: no token is."""
    session_id = models.BigIntegerField(null=True)
    """Only the tokens of this session are invalid."""
    revoked_at = models.DateTimeField(db_default=Now(), db_index=True)


class Limit(models.Model):
    """When something may be done again (``accounts.limits``)."""

    key = models.CharField(max_length=MAX_LIMIT_CHARACTERS, primary_key=True)
    until_ms = models.BigIntegerField(db_index=True)
    """Unix time in milliseconds; a row in the past means the same as no row."""
