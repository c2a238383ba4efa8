"""Requests and responses of the account endpoints."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from rest_framework import serializers

from accounts.models import MAX_NAME_CHARACTERS, Person
from web.serializers import StrictSerializer, TextField

MAX_PASSWORD_CHARACTERS = 128


class UsernameField(TextField):
    """A username, normalized as Django does it (NFKC)."""

    def to_internal_value(self, data: Any) -> str:
        return Person.normalize_username(super().to_internal_value(data))


class SignupSerializer(StrictSerializer):
    username = UsernameField(max_length=150, validators=[UnicodeUsernameValidator()])
    password = TextField(max_length=MAX_PASSWORD_CHARACTERS, trim_whitespace=False, write_only=True)
    name = TextField(max_length=MAX_NAME_CHARACTERS, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            validate_password(attrs["password"], Person(username=attrs["username"]))
        except ValidationError as error:
            raise serializers.ValidationError({"password": error.messages}) from None
        return attrs


class PersonSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()


class FriendsSerializer(serializers.Serializer[Any]):
    friends = serializers.ListField(child=serializers.IntegerField(), help_text="Their ids.")
