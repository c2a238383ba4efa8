"""Fields and serializers that accept exactly what they describe."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator


class TextField(serializers.CharField):
    """A CharField that accepts only strings (DRF's also accepts numbers)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # This validator checks each character in Python; run it only after encode() fails.
        self.validators = [
            v for v in self.validators if not isinstance(v, ProhibitSurrogateCharactersValidator)
        ]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            data.encode()
        except UnicodeEncodeError:
            ProhibitSurrogateCharactersValidator()(data)
        if self.max_length is not None and len(data) > self.max_length:  # also before it is trimmed
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses unknown fields, which DRF ignores silently."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = {
                str(name).encode(errors="replace").decode()  # for the answer
                for name in data
                if name not in self.fields
            }
            if unknown:
                raise serializers.ValidationError(
                    {name: ["This field can't be set."] for name in unknown}
                )
        return super().to_internal_value(data)
