"""Requests and responses of the account endpoints."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from rest_framework import serializers

from accounts.ids import MAX_ID
from accounts.models import MAX_NAME_CHARACTERS, Person
from accounts.usernames import is_plain
from web.serializers import StrictSerializer, TextField

MAX_PASSWORD_CHARACTERS = 128


class UsernameField(TextField):
    """A username, normalized as Django does it (NFKC)."""

    def to_internal_value(self, data: Any) -> str:
        return Person.normalize_username(super().to_internal_value(data))


def validate_plain(username: str) -> None:
    if not is_plain(username):
        raise serializers.ValidationError(
            "Its capital letters look like another name. Use small letters."
        )


class PasswordField(TextField):
    """A password, unchanged."""

    def __init__(self) -> None:
        super().__init__(max_length=MAX_PASSWORD_CHARACTERS, trim_whitespace=False, write_only=True)


class IdsField(serializers.ListField):
    """Ids of people, in an answer."""

    child = serializers.IntegerField()


class SignupSerializer(StrictSerializer):
    username = UsernameField(
        max_length=MAX_NAME_CHARACTERS, validators=[UnicodeUsernameValidator(), validate_plain]
    )
    password = PasswordField()
    name = TextField(max_length=MAX_NAME_CHARACTERS, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            validate_password(attrs["password"], Person(username=attrs["username"]))
        except ValidationError as error:
            raise serializers.ValidationError({"password": error.messages}) from None
        return attrs


class LogInSerializer(StrictSerializer):
    username = UsernameField(max_length=MAX_NAME_CHARACTERS)
    password = PasswordField()


class RefreshSerializer(StrictSerializer):
    refresh = TextField()


class TokensSerializer(serializers.Serializer[Any]):
    access = serializers.CharField(help_text="For the header Authorization: Bearer …")
    refresh = serializers.CharField(help_text="For one exchange at token/refresh/, or a log-out.")


class NewPasswordSerializer(StrictSerializer):
    old_password = PasswordField()
    new_password = PasswordField()


class PersonSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()


class FriendRequestsSerializer(serializers.Serializer[Any]):
    received = IdsField(help_text="Ids of those who ask, newest first.")
    sent = IdsField(help_text="Ids of those who were asked, newest first.")


class BlocksSerializer(serializers.Serializer[Any]):
    blocks = IdsField(help_text="Their ids.")


class AfterSerializer(StrictSerializer):
    after = serializers.IntegerField(min_value=0, max_value=MAX_ID, default=0)


class FollowersSerializer(serializers.Serializer[Any]):
    followers = IdsField(help_text="Their ids, ascending.")
    next = serializers.URLField(allow_null=True, help_text="The next page; null at the end.")


class FollowingSerializer(serializers.Serializer[Any]):
    following = IdsField(help_text="Their ids, ascending.")
    next = serializers.URLField(allow_null=True, help_text="The next page; null at the end.")


class FriendsSerializer(serializers.Serializer[Any]):
    friends = IdsField(help_text="Their ids.")
