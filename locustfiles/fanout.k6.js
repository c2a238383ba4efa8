// The load of fanout.py, made by k6: people post once per second; every post goes to all friends.
//
//   k6 run -e USERS=500 -e RUN_TIME=60s -e FAIL_P99_MS=500 locustfiles/fanout.k6.js
//
// Options are given with -e and mean what Locust's mean:
//
//   HOST         the service                                             http://127.0.0.1:8000
//   USERS        people who post                                         500
//   RUN_TIME     like 90s or 1m30s                                       60s
//   TOKENS       people, from manage.py seed_people --tokens             var/tokens.csv
//   GRAPH        the seeded graph; with star only person 1 posts         ring
//   ARRIVALS     closed: users keep a schedule, but wait for each
//                answer; paused: they all begin at once, and pause after
//                each answer, as published; open: they keep the
//                schedule, answered or not                               closed
//   PACE_S       seconds from one post of a user to the next; with
//                paused arrivals, from answer to next                    1
//   FAIL_P99_MS  exit with 99 if the p99 of all requests is above this   none
//   FAIL_RATIO   exit with 99 if a larger share of the requests fails    none
//
// A run in which nothing was answered exits with 99 too. "checks" are the accepted posts. Only
// fanout.py audits, looks for posts in feeds and limits the lag. Open arrivals differ from
// Locust's: they are evenly spaced, and latency counts from when a post is sent. What is due while
// MOST_IN_FLIGHT posts per user are unanswered is dropped.

import exec from 'k6/execution';
import http from 'k6/http';
import { SharedArray } from 'k6/data';
import { check, sleep } from 'k6';

// Sleep past the end, so that k6 starts no further iteration.
const MARGIN_MS = 20;
// Each needs its own virtual user, about 0.25 MB.
const MOST_IN_FLIGHT = 4;
const WORDS = (
  'today morning coffee window river garden paper letter friend street market summer winter ' +
  'music story picture train mountain weather dinner little quiet early later always never'
).split(' ');

const HOST = (__ENV.HOST || 'http://127.0.0.1:8000').replace(/\/+$/, '');
const USERS = Number(__ENV.USERS || 500);
const RUN_TIME_S = seconds(__ENV.RUN_TIME || '60s');
const STAR = choice('GRAPH', ['ring', 'star', 'zipf']) === 'star';
const ARRIVALS = choice('ARRIVALS', ['closed', 'paused', 'open']);
const PACE_MS = seconds(__ENV.PACE_S || '1') * 1000;

const people = new SharedArray('people', () => {
  const [, ...rows] = open(fromHere(__ENV.TOKENS || 'var/tokens.csv')).trim().split(/\s+/);
  return rows.map((row) => row.split(',')[1]);
});

const duration = `${RUN_TIME_S}s`;
const scenarios = {
  closed: { executor: 'constant-vus', vus: USERS, duration, exec: 'postOnSchedule' },
  paused: { executor: 'constant-vus', vus: USERS, duration, exec: 'postAndPause' },
  open: {
    executor: 'constant-arrival-rate',
    rate: USERS,
    timeUnit: `${PACE_MS}ms`,
    duration,
    preAllocatedVUs: USERS * MOST_IN_FLIGHT,
    exec: 'postInTurn',
  },
};

export const options = {
  scenarios: { [ARRIVALS]: scenarios[ARRIVALS] },
  thresholds: thresholds(),
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99)'],
  discardResponseBodies: true,
};

http.setResponseCallback(http.expectedStatuses(201));

function thresholds() {
  const { FAIL_P99_MS, FAIL_RATIO } = __ENV;
  return {
    http_reqs: ['count>0'],
    ...(FAIL_P99_MS && { http_req_duration: [`p(99)<=${FAIL_P99_MS}`] }),
    ...(FAIL_RATIO && {
      http_req_failed: [`rate<=${FAIL_RATIO}`],
      dropped_iterations: [`count<=${(FAIL_RATIO * USERS * RUN_TIME_S * 1000) / PACE_MS}`],
    }),
  };
}

// When this user's next post is due, in Unix milliseconds.
let due;

// A user who waits for longer than the pace posts less, as in locustfiles/arrivals.py.
export function postOnSchedule() {
  const now = Date.now();
  due = due === undefined ? now + Math.random() * PACE_MS : Math.max(due + PACE_MS, now);
  const end = exec.scenario.startTime + RUN_TIME_S * 1000;
  sleepUntil(Math.min(due, end + MARGIN_MS));
  if (due < end) post(exec.vu.idInTest - 1);
}

export function postAndPause() {
  post(exec.vu.idInTest - 1);
  sleep(PACE_MS / 1000);
}

export function postInTurn() {
  post(exec.scenario.iterationInTest % USERS);
}

function post(user) {
  const token = people[STAR ? 0 : user % people.length];
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = http.post(`${HOST}/v1/posts/`, JSON.stringify({ body: body() }), { headers });
  check(answer, { accepted: (it) => it.status === 201 });
}

function body() {
  const words = Array.from({ length: random(30, 60) }, () => WORDS[random(0, WORDS.length - 1)]);
  return words.join(' ');
}

function random(from, to) {
  return from + Math.floor(Math.random() * (to - from + 1));
}

function sleepUntil(ms) {
  sleep(Math.max(0, ms - Date.now()) / 1000);
}

function seconds(text) {
  const found = text.match(/^(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s?)?$/);
  if (!found) throw new Error(`${text}: use a form like 90s or 1m30s`);
  const [, hours = 0, minutes = 0, rest = 0] = found;
  return hours * 3600 + minutes * 60 + Number(rest);
}

function choice(name, choices) {
  const given = __ENV[name] || choices[0];
  if (!choices.includes(given)) throw new Error(`${name}=${given}: choose from ${choices}`);
  return given;
}

// k6 resolves relative paths from this file.
function fromHere(path) {
  return path.startsWith('/') ? path : `${__ENV.PWD}/${path}`;
}
