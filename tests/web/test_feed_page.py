"""The small feed in the page at /, in a real browser; its tabs are people."""

import json
from itertools import product
from urllib.parse import quote

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from accounts.models import Person
from feed.delivery import deliver_pending
from feed.models import Post
from runtime.remembered import forget_all
from tests.browser import browsing, overflows, violations
from tests.conftest import befriend, client_of
from tests.web import streaming
from tests.web.test_home_page import BACKGROUNDS, copied, show

PASSWORD = "a long pass phrase"
WITHIN_S = 60


class Tab:
    """A tab of the browser, and what a person does in it."""

    def __init__(self, browser, url, name=None):
        self.browser = browser
        browser.switch_to.new_window("tab")
        self.handle = browser.current_window_handle
        browser.get(url)
        if name:
            self.enter(name, "sign up")
            self.until(lambda: self.find("#inside").is_displayed())
            self.id = Person.objects.get(username=name).id

    def select(self):
        self.browser.switch_to.window(self.handle)

    def find(self, css):
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def text(self, css):
        return self.find(css).text

    def until(self, condition):
        """Wait for a condition, also while the page is loaded anew."""
        wait = WebDriverWait(self.browser, WITHIN_S, ignored_exceptions=[WebDriverException])
        wait.until(lambda browser: condition())

    def until_shown(self, css, text):
        self.until(lambda: text in self.text(css))

    def enter(self, name, how, password=PASSWORD):
        self.find("#username").send_keys(name)
        self.find("#password").send_keys(password)
        self.find(f"#enter button[value='{how}']").send_keys(Keys.ENTER)

    def post(self, body):
        self.find("#body").send_keys(body, Keys.CONTROL, Keys.ENTER)

    def press(self, label):
        css = f"[aria-label^='{label}']"
        self.until(lambda: self.find(css).send_keys(Keys.ENTER) is None)

    def posts(self):
        return self.browser.execute_script(
            "return [...document.querySelectorAll('#posts .body')].map(body => body.textContent)"
        )

    def until_posts(self, *bodies):
        self.until(lambda: self.posts() == list(bodies))


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def browser(running, live_server):
    """The browser, with one tab."""
    first = running.current_window_handle
    yield running
    for handle in set(running.window_handles) - {first}:
        running.switch_to.window(handle)
        running.close()
    running.switch_to.window(first)


@pytest.fixture
def ada(browser, live_server):
    return Tab(browser, live_server.url, "ada")


@pytest.fixture
def bob(ada):
    """The API of a friend of Ada."""
    friend = Person.objects.create(username="bob")
    befriend(ada.id, friend.id)
    client = client_of(friend.id)
    client.id = friend.id
    return client


def write(author, body):
    return author.post("/v1/posts/", {"body": body}, format="json").json()["id"]


def test_a_newcomer_befriends_a_second_tab_of_theirs(browser, live_server, ada):
    ada.until(lambda: ada.find("#second").is_displayed())
    assert copied(browser, ada.find("#people .copy")) == str(ada.id)
    assert violations(browser) == []

    others = set(browser.window_handles)
    ada.find("#second").click()
    ada.until(lambda: set(browser.window_handles) > others)
    browser.switch_to.window(*set(browser.window_handles) - others)
    ada.until_shown("#invitation", f"Person {ada.id} invited you.")
    assert ada.find("#enter button.main").text == "Sign up"
    assert violations(browser) == []
    ada.enter("bob", "sign up")
    ada.until(lambda: browser.switch_to.active_element.text == "Ask")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    ada.until_shown("#sent", f"Person {ada.id}")
    assert browser.current_url == f"{live_server.url}/"

    ada.select()
    ada.press("Accept")
    ada.until_shown("#friends", f"Person {Person.objects.get(username='bob').id}")
    assert not ada.find("#second").is_displayed()


@pytest.mark.parametrize("inviter", ["<b>1</b>", "-1", "1e3", ""])
def test_a_link_invites_with_a_number_only(inviter, browser, live_server):
    tab = Tab(browser, f"{live_server.url}/?inviter={quote(inviter)}")

    tab.until(lambda: tab.find("#enter").is_displayed())
    assert not tab.find("#invitation").is_displayed()


@pytest.mark.parametrize(
    ("how", "told"),
    [("log in", "No active account"), ("sign up", "password: This password is too common.")],
)
def test_a_wrong_or_weak_password_is_told(how, told, browser, live_server):
    tab = Tab(browser, live_server.url)
    tab.enter("ada", how, password="password")

    tab.until_shown("#enter-error", told)
    assert tab.find("#enter").is_displayed()


def test_a_tab_keeps_its_person_until_they_log_out(browser, live_server, ada):
    browser.refresh()
    ada.until_shown("#who", "You are ada")
    assert Tab(browser, live_server.url).find("#enter").is_displayed()

    ada.select()
    ada.find("#leave").send_keys(Keys.ENTER)
    ada.until(lambda: ada.find("#enter").is_displayed())
    assert browser.execute_script("return sessionStorage.length") == 0


def test_an_expired_token_is_renewed(browser, ada):
    spoil_token(browser)
    ada.post("Still here")

    ada.until_posts("Still here")


def test_a_session_that_has_ended_asks_to_log_in_again(browser, ada):
    Person.objects.get(id=ada.id).sessions.all().delete()
    spoil_token(browser)

    ada.until_shown("#enter-error", "Your session has ended.")


def spoil_token(browser):
    """Let the access token of the tab be one that is not valid, as after an hour."""
    browser.execute_script(
        "const me = JSON.parse(sessionStorage.me);"
        "sessionStorage.me = JSON.stringify({...me, access: `${me.access}x`})"
    )
    browser.refresh()


def test_a_refused_post_stays_in_its_box(ada, settings):
    settings.FEED_STRATEGY = "outbox"
    Post.objects.create(author_id=ada.id, body="x", created_at="2026-01-01T00:00:00Z")
    forget_all()
    ada.post("refused")

    ada.until_shown("#write .error", "Deliveries are behind. Try again later. Wait 10 s.")
    assert ada.find("#body").get_property("value") == "refused"


def test_a_post_that_waits_for_its_delivery_says_so(ada, settings):
    settings.FEED_STRATEGY = "outbox"
    ada.post("Later")
    ada.until_posts("Later")
    assert ada.find("#posts .waiting").is_displayed()

    deliver_pending(10)
    ada.until(lambda: not ada.find("#posts .waiting").is_displayed())


def test_a_post_is_text_until_it_is_deleted(ada, bob):
    body = "<img src=x onerror=alert(1)>\n<b>bold</b>"
    post_id = write(bob, body)

    ada.until_posts(body)
    assert ada.text("#posts .author") == f"Person {bob.id}"
    assert ada.find("#posts .body").find_elements(By.CSS_SELECTOR, "*") == []
    bob.delete(f"/v1/posts/{post_id}/")
    ada.until_posts()


def test_older_posts_are_a_button_away(ada, bob):
    bodies = [str(n) for n in range(60)]
    for body in bodies:
        write(bob, body)
    newest_first = bodies[::-1]
    ada.browser.refresh()
    ada.until_posts(*newest_first[:50])

    ada.find("#older").send_keys(Keys.ENTER)
    ada.until_posts(*newest_first)
    assert not ada.find("#older").is_displayed()


def test_a_former_friends_posts_go(ada, bob):
    write(bob, "Hello")
    ada.until_posts("Hello")
    ada.press(f"Unfriend person {bob.id}")

    ada.until_posts()
    assert not ada.find("#friends").is_displayed()


def test_a_blocked_person_can_be_unblocked(ada, bob):
    ada.press(f"Block person {bob.id}")
    ada.press(f"Unblock person {bob.id}")

    ada.until(lambda: not ada.find("#blocks").is_displayed())
    assert ada.browser.switch_to.active_element == ada.find("#people-title")


def test_it_is_accessible_and_fits_its_window(browser, live_server, ada, bob):
    write(bob, "Hello, " + "h" * 500)
    ada.post("Mine")
    for width, scheme in product((1400, 390), BACKGROUNDS):
        show(browser, live_server.url, width, scheme)
        ada.until(lambda: len(ada.posts()) == 2)
        ada.until(lambda: ada.find("#friends").get_property("childElementCount"))
        if not ada.find("#number").is_displayed():
            ada.find("#people-title").click()
        ada.find("#number").send_keys("999", Keys.ENTER)
        ada.until_shown("#befriend .error", "There is no person 999.")
        assert violations(browser) == []
        assert not overflows(browser)
        browser.execute_script("document.documentElement.style.fontSize = '200%'")
        assert not overflows(browser)


@pytest.fixture
def stream(settings):
    settings.ROOT_URLCONF = streaming.__name__
    settings.STREAM = streaming.Stream()
    yield settings.STREAM
    settings.STREAM.end()


@pytest.fixture
def reader(browser, live_server, stream):
    """A tab whose feed is streamed, after the stream's first event."""
    reader = Tab(browser, live_server.url, "reader")
    stream.send("gap", "{}")
    reader.until_shown("#way", "live")
    return reader


def streamed(post_id, body):
    post = {"id": post_id, "author": 0, "body": body, "created_at": "2030-01-01T00:00:00Z"}
    return json.dumps(post)


def test_posts_of_the_stream_are_shown_once_and_in_order_until_they_are_gone(stream, reader):
    for post_id in (7, 9, 7, 8):
        stream.send("post", streamed(post_id, str(post_id)))
    reader.until_posts("9", "8", "7")

    stream.send("gone", '{"id": 7}')
    for post_id in (7, 10):
        stream.send("post", streamed(post_id, str(post_id)))

    reader.until_posts("10", "9", "8")


def test_a_gap_shows_what_the_service_has(stream, reader):
    stream.send("post", streamed(7, "old"))
    reader.until_posts("old")
    reader.post("Mine")
    stream.send("gap", "{}")

    reader.until_posts("Mine")


def test_a_stream_that_ends_is_resumed_after_its_last_event(stream, reader):
    stream.sent.put(": heartbeat\nretry: 10\nid: 41\n\n")
    stream.end()
    reader.until(lambda: len(stream.resumed_after) == 2)
    stream.send("post", streamed(7, "later"))

    reader.until_posts("later")
    assert stream.resumed_after == [None, "41"]


def test_a_hidden_tab_leaves_the_stream_until_it_is_shown(browser, live_server, stream, reader):
    stream.send("post", streamed(7, "shown"), event_id=41)
    reader.until_posts("shown")
    Tab(browser, live_server.url)
    reader.select()

    reader.until(lambda: stream.resumed_after == [None, "41"])


def test_a_burst_leaves_the_newest_200_posts_and_the_focus(stream, reader):
    reader.find("#body").send_keys("I am wri")
    for post_id in range(1, 1001):
        stream.send("post", streamed(post_id, str(post_id)))
    reader.until(lambda: reader.posts()[:1] == ["1000"])
    reader.browser.switch_to.active_element.send_keys("ting")

    assert len(reader.posts()) == 200
    assert reader.find("#body").get_property("value") == "I am writing"


def test_a_paused_feed_stands_still(stream, reader):
    stream.send("post", streamed(7, "before"))
    reader.until_posts("before")
    reader.find("#pause").send_keys(Keys.ENTER)
    stream.send("post", streamed(8, "after"))
    reader.until_shown("#pause", "Go on (1 new)")
    assert reader.posts() == ["before"]

    reader.find("#pause").send_keys(Keys.ENTER)
    reader.until_posts("after", "before")
