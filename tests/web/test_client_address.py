"""By which address a client's requests are counted."""

import pytest
from django.test import RequestFactory

from web.client_address import client_address


def address(remote="9.9.9.9", forwarded=None):
    meta = {"REMOTE_ADDR": remote}
    if forwarded is not None:
        meta["HTTP_X_FORWARDED_FOR"] = forwarded
    return client_address(RequestFactory().get("/", **meta))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "found"),
    [
        (0, None, "9.9.9.9"),
        (0, "1.1.1.1", "9.9.9.9"),
        (1, None, "9.9.9.9"),
        (1, "1.1.1.1", "1.1.1.1"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6, 1.1.1.1,2.2.2.2", "1.1.1.1"),
        (2, "1.1.1.1", "9.9.9.9"),
        (1, "somebody", "9.9.9.9"),
        (1, "6.6.6.6, unknown", "9.9.9.9"),
        (1, "1.1.1.1:4711", "1.1.1.1"),
        (1, "[2001:db8:1:2::3]:4711", "2001:db8:1:2::/64"),
        (1, "[2001:db8:1:2::3]", "2001:db8:1:2::/64"),
        (1, "1.1.1.1:x", "9.9.9.9"),
        (1, "", "9.9.9.9"),
    ],
)
def test_only_what_trusted_proxies_append_is_believed(settings, proxies, forwarded, found):
    settings.TRUSTED_PROXIES = proxies

    assert address(forwarded=forwarded) == found


@pytest.mark.parametrize(
    ("remote", "found"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("", ""),
    ],
)
def test_the_addresses_of_one_ipv6_client_count_as_one(remote, found):
    assert address(remote) == found
