import pytest
from django.core.exceptions import ImproperlyConfigured

from config.rates import rate


def test_a_limit_is_a_number_per_seconds_and_zero_is_none():
    assert rate("10/600") == {"burst": 10, "per_s": 10 / 600}
    assert rate("0") == rate("0/60") == {"burst": 0, "per_s": 0}


@pytest.mark.parametrize("text", ["", "x", "10/0", "-1/60", "10/-60", "1.5/60", "10/minute"])
def test_what_is_no_limit_is_refused(text):
    with pytest.raises(ImproperlyConfigured, match="number/seconds"):
        rate(text)
