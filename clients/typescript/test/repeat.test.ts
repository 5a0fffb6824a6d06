import assert from "node:assert/strict";
import { test } from "node:test";
import { type Api, take } from "../src/api.js";
import { Dispatches } from "../src/dispatches.js";
import { isUnavailable, NetworkError, Problem } from "../src/errors.js";
import { Bulk } from "../src/jobs.js";
import { defaultTries } from "../src/options.js";
import { Deliveries } from "../src/others.js";
import { firstPause, longestPause, parseRetryAfter, pauseAfter } from "../src/pause.js";
import { Policies } from "../src/policies.js";
import { Refused } from "../src/ring.js";
import { Streams } from "../src/streams.js";
import { Timers } from "../src/timers.js";
import { closedUrl, hastyApi, problem, type Scripted, ScriptedServer } from "./scripted.js";

const key = { business_type: "order-close", business_id: "a~b@c" };
const booking = { ...key, delay: "1h" };
const timer = JSON.stringify({ ...key, status: "scheduled" });

const lost: Scripted = { broken: "before" };
const cut: Scripted = { broken: "within", body: '{"business_type":' };
const busy: Scripted = { status: 503, body: problem("unavailable"), headers: { "Retry-After": "1" } };
const full: Scripted = { status: 429, body: problem("quota-exceeded"), headers: { "Retry-After": "3" } };
const away: Scripted = { status: 502, body: "<html>" };
const slow: Scripted = { status: 504, body: "<html>" };
const gone: Scripted = { status: 404, body: problem("not-found") };
const done: Scripted = { status: 200, body: timer };
const wrong: Scripted = { status: 422, body: problem("invalid-request") };

const add = (api: Api) => new Timers(api).add(booking);
const move = (api: Api) => new Timers(api).change(key, { delay: "2h" });
const moveRevision = (api: Api) => new Timers(api).change(key, { delay: "2h" }, { ifMatch: '"a.1"' });
const cancel = (api: Api) => new Timers(api).cancel(key);
const fire = (api: Api) => new Timers(api).fire(key);
const pause = (api: Api) => new Timers(api).pause(key, { note: "n" });
const resume = (api: Api) => new Timers(api).resume(key);
const redeliver = (api: Api) => new Timers(api).redeliver(key);
const batch = (api: Api) => new Timers(api).addBatch([booking]);
const putVersion = (api: Api) => new Policies(api).put("x", {}, { version: 3 });
const drop = (api: Api) => new Policies(api).delete("x");
const job = (api: Api) => new Bulk(api).start({ operation: "cancel", filter: {} });
const jobWithoutId = (api: Api) => take(api.POST("/v1/bulk", { body: { operation: "cancel", filter: {} } }));
const retryItems = (api: Api) => dispatchesOf(api).retryFailures(key);
const ack = (api: Api) => new Deliveries(api).ack({ webhookId: "msg_1", ackToken: "t" });
const upload = (api: Api) => dispatchesOf(api).upload(key, [{ id: "1" }]);

function dispatchesOf(api: Api): Dispatches {
  return new Dispatches(api, { tries: defaultTries, sleep: async (_, signal) => signal.throwIfAborted() });
}

const results: Scripted = { status: 200, body: '{"results":[]}' };

/** Each call, what it is answered, how often it is made, and whether it fails. */
const table: Record<string, [(api: Api) => Promise<unknown>, Scripted[], number, boolean]> = {
  "a booking whose answer is lost": [add, [lost, done], 2, false],
  "a booking that is refused for now": [add, [busy, full, done], 3, false],
  "a booking that is refused": [add, [wrong], 1, true],
  "a booking that nobody answers": [add, [lost], defaultTries, true],
  "a booking behind a proxy": [add, [away, slow, done], 3, false],
  "a booking whose answer is cut off": [add, [cut, done], 2, false],
  "a batch whose answer is lost": [batch, [lost, results], 2, false],
  "a move whose answer is lost": [move, [lost, done], 2, false],
  "a move of one revision, its answer lost": [moveRevision, [lost], 1, true],
  "a move of one revision that a limit refuses": [moveRevision, [full, done], 2, false],
  "a cancel whose answer is lost": [cancel, [lost, done], 2, false],
  "an extra ring whose answer is lost": [fire, [lost], 1, true],
  "an extra ring of an unknown outcome": [fire, [busy], 1, true],
  "an extra ring behind a proxy": [fire, [away], 1, true],
  "an extra ring whose answer is cut off": [fire, [cut], 1, true],
  "an extra ring that a limit refuses": [fire, [full, done], 2, false],
  "a pause whose answer is lost": [pause, [lost], 1, true],
  "a resume whose answer is lost": [resume, [lost], 1, true],
  "a redelivery whose answer is lost": [redeliver, [lost], 1, true],
  "a policy of one version, its answer lost": [putVersion, [lost], 1, true],
  "a deletion whose answer is lost": [drop, [lost, gone], 2, false],
  "a deletion that a proxy does not know": [drop, [lost, { status: 404, body: "<html>" }], 2, true],
  "a deletion of what is not there": [drop, [gone], 1, true],
  "a deletion that a limit refused at first": [drop, [full, gone], 2, true],
  "a job whose answer is lost": [job, [lost, { status: 202, body: "{}" }], 2, false],
  "a job without an id, its answer lost": [jobWithoutId, [lost], 1, true],
  "items that are sent once more, their answer lost": [retryItems, [lost], 1, true],
  "a late word whose answer is lost": [ack, [lost, done], 2, false],
  "an upload whose answer is lost": [upload, [lost], 1, true],
  "an answer that is no JSON": [add, [{ status: 200, body: "<html>" }], 1, true],
};

for (const [name, [call, answers, tries, fails]] of Object.entries(table)) {
  test(`repeats: ${name}`, async (t) => {
    const server = await new ScriptedServer(answers).start(t);
    const { api, pauses } = hastyApi({ url: server.url, key: "secret" });
    const failed = await call(api).then(
      () => false,
      (error: unknown) => error,
    );
    assert.equal(failed !== false, fails, String(failed));
    assert.equal(server.got.length, tries);
    assert.equal(pauses.length, tries - 1);
    for (const got of server.got) {
      assert.equal(got.headers.authorization, "Bearer secret");
      assert.equal(got.headers["idempotency-key"], server.got[0]?.headers["idempotency-key"]);
      assert.equal(got.body, server.got[0]?.body);
    }
  });
}

test("only bookings have an idempotency key, and the caller's own is kept", async (t) => {
  const server = await new ScriptedServer([done]).start(t);
  const timers = new Timers(hastyApi({ url: server.url }).api);
  await timers.add(booking);
  await timers.add(booking, { idempotencyKey: 'mine "1"', traceparent: "00-a" });
  await timers.put(booking);
  const keys = server.got.map((got) => got.headers["idempotency-key"]);
  assert.match(keys[0] as string, /^"[0-9a-f-]{36}"$/);
  assert.deepEqual(keys.slice(1), ['"mine \\"1\\""', undefined]);
  assert.equal(server.got[1]?.headers.traceparent, "00-a");
  assert.equal(server.got[0]?.headers.authorization, undefined);
});

test("what was never sent is sent again, whatever it is", async (t) => {
  const server = await new ScriptedServer([done]).start(t);
  const nobody = await closedUrl();
  let refused = 0;
  const { api } = hastyApi({
    url: server.url,
    fetch: (input, init) => fetch(refused++ === 0 ? nobody : input, init),
  });
  await new Timers(api).fire(key);
  assert.equal(server.got.length, 1);
  assert.equal(refused, 2);
});

test("a server that is down", async () => {
  const url = await closedUrl();
  const { api, pauses } = hastyApi({ url, key: "secret", tries: 3 });
  const error = await add(api).catch((e: unknown) => e);
  assert.ok(error instanceof NetworkError);
  assert.equal(error.sent, false);
  assert.equal(error.message, `Wakecall at ${url} could not be reached: ECONNREFUSED`);
  assert.ok(isUnavailable(error));
  assert.equal(pauses.length, 2);
});

test("a server that is not trusted is called once", async (t) => {
  const plain = await new ScriptedServer([done]).start(t);
  const code = (is: string) => Object.assign(new Error("no"), { code: is });
  const failing = (is: string) => () => Promise.reject(new TypeError("fetch failed", { cause: code(is) }));
  const url = plain.url.replace("http:", "https:");
  for (const options of [
    {},
    { fetch: failing("DEPTH_ZERO_SELF_SIGNED_CERT") },
    { fetch: failing("CERT_HAS_EXPIRED") },
  ]) {
    const { api, pauses } = hastyApi({ url, ...options });
    const error = await add(api).catch((e: unknown) => e);
    assert.ok(error instanceof NetworkError && error.untrusted && !error.sent, String(error));
    assert.match(error.message, /could not be reached/);
    assert.equal(isUnavailable(error), false);
    assert.deepEqual(pauses, []);
  }
  const { api, pauses } = hastyApi({ url, tries: 3, fetch: failing("ECONNRESET") }); // the control
  const error = await add(api).catch((e: unknown) => e);
  assert.ok(error instanceof NetworkError && !error.untrusted && isUnavailable(error));
  assert.equal(pauses.length, 2);
});

test("a name that nobody knows was never called", async () => {
  const { api } = hastyApi({ url: "http://wakecall.invalid", tries: 1 });
  const error = await fire(api).catch((e: unknown) => e);
  assert.ok(error instanceof NetworkError && !error.sent);
});

test("a server that is slow: the try ends with its timeout and is not repeated", async (t) => {
  const server = await new ScriptedServer([{ silent: true }]).start(t);
  const { api } = hastyApi({ url: server.url, timeout: 3_000 });
  const error = await add(api).catch((e: unknown) => e);
  assert.ok(error instanceof DOMException && error.name === "TimeoutError");
  assert.ok(isUnavailable(error));
  assert.equal(server.got.length, 1);
});

test("a signal ends a try, and a pause", async (t) => {
  const server = await new ScriptedServer([{ silent: true }]).start(t);
  const api = hastyApi({ url: server.url }).api;
  const ended = new AbortController();
  const reason = new Error("the user went away");
  const call = new Timers(api).get(key, { signal: ended.signal });
  await server.arrival();
  ended.abort(reason);
  await assert.rejects(call, reason);
  await assert.rejects(new Timers(api).get(key, { signal: ended.signal }), reason);
  assert.equal(server.got.length, 1, "nothing is sent behind the end");

  const refusing = await new ScriptedServer([full]).start(t);
  const { Wakecall } = await import("../src/wakecall.js");
  const during = new AbortController();
  const waits = new Wakecall({ url: refusing.url }).timers.add(booking, { signal: during.signal });
  await refusing.arrival();
  during.abort(reason);
  await assert.rejects(waits, reason);
  assert.equal(refusing.got.length, 1);
});

test("the pause is what the answer asks for, or grows", async (t) => {
  const server = await new ScriptedServer([full, away, { ...busy, headers: { "Retry-After": "3600" } }, done]).start(t);
  const { api, pauses } = hastyApi({ url: server.url });
  await add(api);
  assert.equal(pauses[0], 3000);
  assert.ok((pauses[1] as number) > firstPause && (pauses[1] as number) <= 2 * firstPause);
  assert.equal(pauses[2], longestPause);
  for (const tries of [1, 3, 20, 1000]) {
    const most = Math.min(firstPause * 2 ** (tries - 1), longestPause);
    for (let i = 0; i < 100; i++) {
      const pause = pauseAfter(tries, undefined);
      assert.ok(pause > most / 2 - 1 && pause <= most, `try ${tries}: ${pause}`);
    }
  }
});

test("Retry-After", () => {
  const noon = Date.UTC(2026, 10, 21, 12);
  const table: [string | null, number | undefined][] = [
    ["0", 0],
    ["1", 1000],
    [" 120 ", 120_000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
    [null, undefined],
    ["", undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["5s", undefined],
    ["2026-11-21", undefined],
  ];
  for (const [header, want] of table) assert.equal(parseRetryAfter(header, noon), want, String(header));
});

test("a stream of events that breaks off is opened again, until it has ended", async (t) => {
  const event = (kind: string, sent: number) => `event: ${kind}\ndata: ${JSON.stringify({ ...key, sent })}\n\n`;
  const answers: Scripted[] = [
    { body: event("progress", 1), broken: "within" },
    { ...busy },
    { body: event("progress", 2) },
    { body: event("progress", 3) + event("end", 4) },
  ];
  const server = await new ScriptedServer(answers).start(t);
  const seen: unknown[] = [];
  const { api } = hastyApi({ url: server.url });
  for await (const dispatch of dispatchesOf(api).follow(key)) seen.push((dispatch as { sent?: number }).sent);
  assert.deepEqual(seen, [1, 2, 3, 4]);

  const away = await new ScriptedServer([{ ...busy }]).start(t);
  await assert.rejects(
    dispatchesOf(hastyApi({ url: away.url }).api)
      .follow(key)
      .next(),
    Problem,
  );
  assert.equal(away.got.length, defaultTries);
  const gone = await new ScriptedServer([{ status: 404, body: problem("not-found") }]).start(t);
  await assert.rejects(
    dispatchesOf(hastyApi({ url: gone.url }).api)
      .follow(key)
      .next(),
    Problem,
  );
  assert.equal(gone.got.length, 1);
});

test("lines that break off are an error, and a signal ends them with its reason", async (t) => {
  const line = `${JSON.stringify({ id: "1" })}\n`;
  const cut = await new ScriptedServer([{ body: line, broken: "within" }]).start(t);
  const lines = new Bulk(hastyApi({ url: cut.url }).api).results("j");
  assert.deepEqual((await lines.next()).value, { id: "1" });
  await assert.rejects(lines.next(), NetworkError);

  const endless = await new ScriptedServer([{ body: line, stalled: true }]).start(t);
  const ended = new AbortController();
  const stalled = new Bulk(hastyApi({ url: endless.url }).api).results("j", { signal: ended.signal });
  await stalled.next();
  const reason = new Error("enough");
  ended.abort(reason);
  await assert.rejects(stalled.next(), reason);
});

test("lines are asked for when they are read, so that no failure is left unhandled", async (t) => {
  const refused = await new ScriptedServer([wrong]).start(t);
  const { api } = hastyApi({ url: refused.url });
  for (const lines of [new Bulk(api).results("j"), dispatchesOf(api).failures(key)]) {
    await new Promise((resolve) => setTimeout(resolve, 0)); // what is unhandled is known in the next turn
    const before = refused.got.length;
    await assert.rejects(lines.next(), Problem);
    assert.equal(refused.got.length, before + 1);
  }
  assert.equal(refused.got.length, 2);
});

test("a receiver that asks for a wait which Wakecall refuses gets the next one, and goes on listening", async (t) => {
  for (const [asked, said] of [
    [7_200_000, "3600000ms"],
    [Number.POSITIVE_INFINITY, "3600000ms"],
    [-5, undefined],
    [Number.NaN, undefined],
    [1e-7, undefined],
    [1500.4, "1500ms"],
  ] as const) {
    const rings = { status: 200, body: JSON.stringify({ rings: [{ ring: "r", headers: {}, body: "" }] }) };
    const server = await new ScriptedServer([rings, { status: 204 }, { silent: true }]).start(t);
    const ended = new AbortController();
    const handler = () => {
      throw new Refused("later", { retryAfter: asked });
    };
    const listening = new Streams(hastyApi({ url: server.url }).api, 60_000).listen("x", handler, ended);
    while (server.got.length < 3) await server.arrival();
    ended.abort(new Error("enough"));
    await assert.rejects(listening, /enough/);
    const answer: unknown = JSON.parse(server.got[1]?.body ?? "");
    assert.deepEqual(answer, { nack: "r", reason: "later", ...(said && { delay: said }) });
  }
});

test("a change that no worker has applied yet is pending", async (t) => {
  const server = await new ScriptedServer([{ status: 202, body: timer, headers: { ETag: '"a.2"' } }, done]).start(t);
  const timers = new Timers(hastyApi({ url: server.url }).api);
  const { pending, etag } = await timers.cancel(key, { wait: "0s" });
  assert.deepEqual([pending, etag], [true, '"a.2"']);
  assert.equal((await timers.cancel(key)).pending, false);
  assert.deepEqual(
    server.got.map((got) => got.url),
    ["/v1/timers/order-close/a~b%40c?wait=0s", "/v1/timers/order-close/a~b%40c"],
  );
});

test("a redirect is not followed: a key must not go to where Wakecall is not", async (t) => {
  const elsewhere = await new ScriptedServer([done]).start(t);
  const server = await new ScriptedServer([{ status: 307, headers: { Location: elsewhere.url } }]).start(t);
  const error = await add(hastyApi({ url: server.url, key: "secret" }).api).catch((e: unknown) => e);
  assert.ok(error instanceof Problem && error.code === undefined);
  assert.equal(error.status, 307);
  assert.equal(elsewhere.got.length, 0);
});
