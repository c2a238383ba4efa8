// The feed in the page at /, a client of the API. Each tab is one person.

const PAGE = 50, MOST_SHOWN = 200; // posts
const POLL_MS = 2_000, PEOPLE_MS = 5_000, NEWS_MS = 3_000, NO_STREAM_MS = 60_000;
const ANSWER_MS = 15_000, SILENCE_MS = 40_000;

const at = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const time = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" });
const nameOf = (id) => id === me.id ? "You" : `Person ${id}`;

let me = JSON.parse(sessionStorage.me ?? "null"); // name, id, access, refresh
let renewing = null;
// Who invited this tab's person. Anybody can write a link, so it only fills in a number.
let inviter = Number(new URLSearchParams(location.search).get("inviter")?.match(/^\d{1,15}$/) ?? 0);

async function send(method, path, { body, headers = {}, signal } = {}) {
  signal ??= AbortSignal.timeout(ANSWER_MS);
  if (body) headers = { ...headers, "Content-Type": "application/json" };
  const request = fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
  const response = await request.catch(() => {
    throw new Error("The service does not answer.");
  });
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  const { code, ...answer } = await response.json().catch(() => ({}));
  const { status } = response, waitS = Number(response.headers.get("Retry-After"));
  const texts = Object.entries(answer).map(([field, text]) =>
    (["detail", "body"].includes(field) ? [text] : [`${field}:`, text]).flat().join(" "));
  const reason = status === 429 ? "Too many requests." : texts.join(" ") || `Error ${status}.`;
  return Object.assign(new Error(waitS ? `${reason} Wait ${waitS} s.` : reason), { status, waitS });
}

function remember({ name = me.name, access, refresh }) {
  const claims = access.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
  me = { name, access, refresh, id: Number(JSON.parse(atob(claims)).user_id) };
  sessionStorage.me = JSON.stringify(me);
}

function leave(farewell = "") {
  sessionStorage.removeItem("me");
  sessionStorage.farewell = farewell;
  location.reload();
}

async function renew() {
  try {
    const response = await send("POST", "/v1/token/refresh/", { body: { refresh: me.refresh } });
    remember(await response.json());
  } catch (error) {
    if (error.status === 401) leave("Your session has ended. Log in again.");
    throw error;
  }
}

async function ask(method, path, { headers, ...options } = {}) {
  const { access } = me;
  const authorized = () => {
    const Authorization = `Bearer ${me.access}`;
    return send(method, path, { ...options, headers: { ...headers, Authorization } });
  };
  return authorized().catch(async (error) => {
    if (error.status !== 401) throw error;
    // A refresh token that is used twice ends its session: all requests wait for one renewal.
    if (me.access === access) await (renewing ??= renew().finally(() => { renewing = null; }));
    return authorized();
  });
}

const read = async (path) => (await ask("GET", path)).json();

async function attempt(place, action) {
  place.textContent = "";
  await action().catch((error) => { place.textContent = error.message; });
}

function onSubmit(form, action) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.ariaBusy) return;
    form.ariaBusy = "true";
    await attempt(form.querySelector(".error"), () => action(event.submitter));
    form.ariaBusy = null;
  });
}

onSubmit(at("enter"), async (button) => {
  const name = at("username").value.trim();
  const options = { body: { username: name, password: at("password").value } };
  if (button.value === "sign up") await send("POST", "/v1/signup/", options);
  const response = await send("POST", "/v1/token/", options);
  remember({ name, ...await response.json() });
  start();
  (inviter ? at("befriend").querySelector("button") : at("body")).focus();
});

at("leave").onclick = () => attempt(at("leave-error"), async () => {
  const ending = send("POST", "/v1/token/logout/", { body: { refresh: me.refresh } });
  await ending.catch((error) => { if (error.status !== 401) throw error; });
  leave();
});

let key = null; // the same one when a post is sent again

onSubmit(at("write"), async () => {
  key ??= crypto.getRandomValues(new Uint32Array(4)).join("-");
  const options = { body: { body: at("body").value }, headers: { "Idempotency-Key": key } };
  const post = await (await ask("POST", "/v1/posts/", options)).json();
  if (!posts.has(post.id)) show(post, WAITING);
  at("write").reset();
  key = null;
});

at("body").oninput = () => { key = null; };
at("body").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("write").requestSubmit();
};

const WAITING = Infinity;
const posts = new Map(); // id → post, with the time when the feed last had it, or WAITING
const gone = new Set();
let cursor = 0; // older posts are before this id; 0: there are none
let most = MOST_SHOWN;
let pausedAt = Infinity; // newer posts of others are held
let stale = true; // the next page replaces everything
let frame = 0;

function show(post, seen = performance.now()) {
  if (gone.has(post.id)) return;
  posts.set(post.id, { ...post, seen });
  if (posts.size > most) {
    const oldest = Math.min(...posts.keys());
    posts.delete(oldest);
    cursor = oldest + 1;
  }
  draw();
}

function remove(id) {
  gone.add(id);
  posts.delete(id);
  draw();
}

const following = (page) => Number(page.next && new URL(page.next).searchParams.get("before"));

// Show the newest page. What it lacks is gone. Posts older than the page stay, unless others may be
// missing between them and the page, or `anew`.
async function load(anew = stale) {
  stale = false;
  const began = performance.now(), page = await read(`/v1/feed/?limit=${PAGE}`).catch((error) => {
    stale ||= anew;
    throw error;
  });
  const floor = following(page), known = new Set(posts.keys());
  const old = [...posts.values()].filter((post) => post.seen < began);
  const restart = anew || !old.some((post) => post.id >= floor);
  for (const post of old) if (restart || post.id >= floor) posts.delete(post.id);
  if (restart) cursor = floor;
  for (const post of page.posts) {
    if (!anew && !known.has(post.id)) tellOf(post);
    show(post);
  }
  draw();
}

at("older").onclick = () => attempt(at("feed-error"), async () => {
  const page = await read(`/v1/feed/?limit=${PAGE}&before=${cursor}`);
  most += page.posts.length;
  cursor = following(page);
  for (const post of page.posts) show(post);
  draw();
});

at("pause").onclick = () => {
  pausedAt = pausedAt === Infinity ? Math.max(0, ...posts.keys()) : Infinity;
  draw();
};

function draw() {
  frame ||= requestAnimationFrame(paint);
}

function paint() {
  frame = 0;
  const newestFirst = [...posts.values()].sort((a, b) => b.id - a.id);
  const shown = newestFirst.filter((post) => post.id <= pausedAt || post.author === me.id);
  const held = newestFirst.length - shown.length;
  place(shown);
  at("pause").textContent = pausedAt === Infinity ? "Pause" : `Go on (${held} new)`;
  at("older").hidden = !cursor;
  at("empty").hidden = posts.size > 0;
}

// Change only what differs, so that focus and position stay.
function place(shown) {
  const items = new Map([...at("posts").children].map((item) => [item.value, item]));
  const ids = new Set(shown.map((post) => post.id));
  for (const [id, item] of items) if (!ids.has(id)) item.remove();
  let next = at("posts").firstElementChild;
  for (const post of shown) {
    const item = items.get(post.id) ?? itemOf(post);
    if (item === next) next = next.nextElementSibling;
    else at("posts").insertBefore(item, next);
    item.querySelector(".waiting").hidden = post.seen !== WAITING;
  }
}

function itemOf(post) {
  const item = at("post").content.firstElementChild.cloneNode(true);
  const part = (css) => item.querySelector(css);
  item.value = post.id;
  part(".author").textContent = nameOf(post.author);
  part("time").dateTime = post.created_at;
  part("time").textContent = time.format(new Date(post.created_at));
  part(".body").textContent = post.body;
  part("button").hidden = post.author !== me.id;
  part("button").ariaLabel = `Delete: ${post.body.slice(0, 40)}`;
  part("button").onclick = () => attempt(at("feed-error"), async () => {
    await ask("DELETE", `/v1/posts/${post.id}/`);
    remove(post.id);
    at("feed-title").focus();
  });
  return item;
}

let news = [], telling = 0; // for screen readers: a few words every few seconds

function tell(text) {
  news.push(text);
  telling ||= setTimeout(() => {
    at("news").textContent =
      news.length > 2 ? `${news.length} new posts and requests` : news.join(". ");
    news = [];
    telling = 0;
  }, NEWS_MS);
}

function tellOf(post) {
  if (post.author !== me.id) tell(`${nameOf(post.author)}: ${post.body.slice(0, 80)}`);
}

const FOLLOWS = document.body.dataset.edges === "follows";
const READ = FOLLOWS ? "following" : "friends"; // whose posts are in one's feed
const READERS = FOLLOWS ? "followers" : "friends";
const BLOCK = ["PUT", "blocks"], UNBLOCK = ["DELETE", "blocks"];
const ACTIONS = {
  received: { Accept: ["PUT", READERS], Decline: ["DELETE", READERS], Block: BLOCK },
  [READ]: { [FOLLOWS ? "Unfollow" : "Unfriend"]: ["DELETE", READ], Block: BLOCK },
  ...(FOLLOWS && { followers: { Remove: ["DELETE", READERS], Block: BLOCK } }),
  sent: { Withdraw: ["DELETE", READ] },
  blocks: { Unblock: UNBLOCK },
};
const LISTS = [...new Set([READ, READERS]), FOLLOWS ? "follow-requests" : "friend-requests", "blocks"];
let people = null;
let turn = 0;

async function loadPeople() {
  const mine = ++turn;
  const lists = LISTS.map((name) => read(`/v1/me/${name}/`));
  const now = Object.assign({}, ...await Promise.all(lists)), old = people ?? now;
  if (mine !== turn || JSON.stringify(now) === JSON.stringify(people)) return;
  if (!people) at("people").open = inviter || !now[READ].length || innerWidth > 600; // pixels
  people = now;
  listPeople();
  for (const id of now.received)
    if (!old.received.includes(id)) tell(`${nameOf(id)} asks to ${FOLLOWS ? "follow you" : "be your friend"}`);
  if (String(old[READ]) !== String(now[READ])) await load(true);
}

function listPeople() {
  const { activeElement } = document, within = at("people").contains(activeElement);
  for (const [group, actions] of Object.entries(ACTIONS)) {
    at(group).replaceChildren(...people[group].map((id) => personOf(id, actions)));
    at(group).parentElement.hidden = !people[group].length;
  }
  at("alone").hidden = inviter || Object.keys(ACTIONS).some((group) => people[group].length);
  at("asking").textContent = people.received.length ? `${people.received.length} asking` : "";
  const buttons = [...at("people").querySelectorAll("button")];
  const same = buttons.find((button) => button.ariaLabel === activeElement.ariaLabel);
  if (within && !activeElement.isConnected) (same ?? at("people-title")).focus();
}

function personOf(id, actions) {
  const item = document.createElement("li");
  item.appendChild(document.createElement("span")).textContent = nameOf(id);
  for (const [label, [method, list]] of Object.entries(actions)) {
    const button = item.appendChild(document.createElement("button"));
    button.textContent = label;
    button.ariaLabel = `${label} person ${id}`;
    button.onclick = () =>
      attempt(at("people-error"), () => ask(method, `/v1/me/${list}/${id}/`).then(loadPeople));
  }
  return item;
}

onSubmit(at("befriend"), async () => {
  const id = Number(at("number").value);
  await ask("PUT", `/v1/me/${READ}/${id}/`).catch((error) => {
    throw error.status === 404 ? new Error(`There is no person ${id}.`) : error;
  });
  at("befriend").reset();
  history.replaceState(null, "", "/");
  inviter = 0;
  await loadPeople();
});

let live = false;
let connection = new AbortController();

const visible = () => new Promise((resolve) => {
  if (document.hidden) document.addEventListener("visibilitychange", resolve, { once: true });
  else resolve();
});

// All tabs of a browser share six connections, so a hidden tab gives its own back.
document.addEventListener("visibilitychange", () => document.hidden && connection.abort());

async function repeat(ms, action) {
  for (;;) {
    await visible();
    await sleep(Math.max(ms, 1000 * (await action() ?? 0)));
  }
}

async function poll() {
  try {
    if (!live || stale) await load();
    at("way").textContent = live ? "live" : "every 2 seconds";
  } catch (error) {
    at("way").textContent = `${error.message} Trying again.`;
    return error.waitS;
  }
}

async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const silence = setTimeout(() => reader.cancel(), SILENCE_MS);
    const { done, value } = await reader.read();
    clearTimeout(silence);
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events)
      yield Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/)));
  }
}

function take({ event, data }) {
  if (event === "gone") remove(JSON.parse(data).id);
  if (event === "gap") {
    stale = true;
    poll();
  }
  if (event !== "post") return;
  const post = JSON.parse(data);
  if (!posts.has(post.id)) tellOf(post);
  show(post);
}

async function follow() {
  let last, retryMs = POLL_MS;
  for (;;) {
    await visible();
    let waitMs = 0;
    try {
      connection = new AbortController();
      const headers = last ? { "Last-Event-ID": last } : {};
      const response = await ask("GET", "/v1/feed/stream", { headers, signal: connection.signal });
      for await (const event of eventsOf(response.body)) {
        live = true;
        last = event.id ?? last;
        retryMs = Number(event.retry ?? retryMs);
        take(event);
      }
    } catch (error) {
      waitMs = error.status === 404 ? NO_STREAM_MS : 1000 * (error.waitS ?? 0);
    }
    live = false;
    await sleep(Math.max(retryMs, waitMs));
  }
}

function start() {
  at("enter").hidden = true;
  at("inside").hidden = false;
  at("name").textContent = me.name;
  document.title = `${me.name}: Feed`;
  at("second").href = `/?inviter=${me.id}`;
  if (inviter === me.id) inviter = 0;
  if (inviter) at("number").value = inviter;
  for (const place of document.querySelectorAll(".my-number")) place.textContent = me.id;
  repeat(POLL_MS, poll);
  repeat(PEOPLE_MS, () => loadPeople().catch((error) => error.waitS));
  follow();
}

for (const button of document.querySelectorAll(".copy")) {
  const label = button.textContent, source = document.querySelector(button.dataset.of);
  button.hidden = !navigator.clipboard; // there is none at an http: address of another machine
  button.onclick = async () => {
    const copying = navigator.clipboard.writeText(source.textContent);
    button.textContent = await copying.then(() => "Copied", () => "Not copied");
    setTimeout(() => { button.textContent = label; }, NEWS_MS);
  };
}

at("enter").hidden = false;
at("invitation").hidden = !inviter;
if (inviter) {
  const [logIn, signUp] = at("enter").querySelectorAll("button");
  logIn.before(signUp);
  logIn.className = "";
  signUp.className = "main";
}
at("inviter").textContent = inviter;
at("enter-error").textContent = sessionStorage.farewell ?? "";
sessionStorage.removeItem("farewell");
if (me) start();
