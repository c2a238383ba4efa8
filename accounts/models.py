from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models


class Person(AbstractBaseUser):
    """Someone with a home timeline."""

    username = models.CharField(max_length=150, unique=True)
    is_active = models.BooleanField(default=True)
    last_login = None

    USERNAME_FIELD = "username"
    objects = BaseUserManager["Person"]()


class Friendship(models.Model):
    """One direction of a friendship; the other one is always there too."""

    pk = models.CompositePrimaryKey("person_id", "friend_id")
    person = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="friendships")
    friend = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(person=models.F("friend")), name="nobody_befriends_themselves"
            )
        ]
