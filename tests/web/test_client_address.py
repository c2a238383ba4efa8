"""By which address a client's requests are counted."""

import pytest
from django.test import RequestFactory

from web.client_address import client_address

REMOTE = "9.9.9.9"


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "found"),
    [
        (0, REMOTE, None, REMOTE),
        (0, REMOTE, "1.1.1.1", REMOTE),
        (1, REMOTE, None, REMOTE),
        (1, REMOTE, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, REMOTE, "6.6.6.6, 1.1.1.1,2.2.2.2", "1.1.1.1"),
        (2, REMOTE, "1.1.1.1", REMOTE),
        (1, REMOTE, "6.6.6.6, unknown", REMOTE),
        (1, REMOTE, "1.1.1.1:4711", "1.1.1.1"),
        (1, REMOTE, "[2001:db8:1:2::3]:4711", "2001:db8:1:2::/64"),
        (1, REMOTE, "[2001:db8:1:2::3]", "2001:db8:1:2::/64"),
        (1, REMOTE, "1.1.1.1:x", REMOTE),
        (1, REMOTE, "", REMOTE),
        (0, "2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::/64"),
        (0, "::ffff:1.2.3.4", None, "1.2.3.4"),
        (0, "", None, ""),
    ],
)
def test_only_what_trusted_proxies_append_is_believed_and_an_ipv6_network_is_one_client(
    settings, proxies, remote, forwarded, found
):
    settings.TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}

    assert client_address(RequestFactory().get("/", REMOTE_ADDR=remote, **headers)) == found
