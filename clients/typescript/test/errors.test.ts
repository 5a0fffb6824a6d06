import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { isUnavailable, NetworkError, Problem, Wakecall } from "../src/index.js";
import { Timers } from "../src/timers.js";
import { closedUrl, hastyApi, problem, ScriptedServer } from "./scripted.js";

const key = { business_type: "order-close", business_id: "1" };
const secret = "a-key-that-nobody-may-see";

test("a problem names what was refused, and the timer's true state", async (t) => {
  const body = problem("already-finished", {
    request_id: "r",
    errors: [{ pointer: "/due_at", code: "out-of-range", detail: "d" }],
    timer: { ...key, status: "delivered" },
    "violated-policies": ["pending"],
  });
  const server = await new ScriptedServer([{ status: 409, body }]).start(t);
  const error = await new Timers(hastyApi({ url: server.url }).api).cancel(key).catch((e: unknown) => e);
  assert.ok(error instanceof Problem);
  assert.equal(error.code, "already-finished");
  assert.equal(error.status, 409);
  assert.equal(error.timer?.status, "delivered");
  assert.equal(error.requestId, "r");
  assert.deepEqual(error.violatedPolicies, ["pending"]);
  assert.equal(error.message, "already-finished: Not now. /due_at: d");
  assert.equal(isUnavailable(error), false);
});

test("what a limit refuses of a batch tells when to try again", async (t) => {
  const waits: [string | undefined, number | undefined][] = [
    ["1m30s", 90_000],
    ["1s", 1_000],
    ["2h5s", 7_205_000],
    [undefined, undefined],
  ];
  const results = waits.map(([retry_after]) => ({
    status: 429,
    problem: { type: "urn:wakecall:problem:quota-exceeded", title: "t", status: 429, detail: "d", retry_after },
  }));
  const server = await new ScriptedServer([{ status: 200, body: JSON.stringify({ results }) }]).start(t);
  const added = await new Timers(hastyApi({ url: server.url }).api).addBatch([]);
  assert.deepEqual(
    added.map((one) => one.problem?.retryAfter),
    waits.map(([, wait]) => wait),
  );
});

test("what a proxy says is a problem without a code", async (t) => {
  for (const body of ["<html>", "", "null", '"text"', '{"detail":7}', "[]"]) {
    const server = await new ScriptedServer([{ status: 500, body }]).start(t);
    const error = await new Timers(hastyApi({ url: server.url }).api).get(key).catch((e: unknown) => e);
    assert.ok(error instanceof Problem && error.code === undefined, body);
    assert.match(error.message, /answered 500 without a problem document/);
    assert.ok(isUnavailable(error));
  }
});

test("a key stands in no error, and in nothing that is printed", async (t) => {
  const broken = await new ScriptedServer([{ broken: "before" }]).start(t);
  const refusing = await new ScriptedServer([{ status: 401, body: problem("unauthorized") }]).start(t);
  const shown = [inspect(new Wakecall({ url: refusing.url, key: secret }), { depth: null, showHidden: true })];
  for (const url of [broken.url, refusing.url, await closedUrl()]) {
    const error = await new Timers(hastyApi({ url, key: secret, tries: 2 }).api).get(key).catch((e: unknown) => e);
    assert.ok(error instanceof Problem || error instanceof NetworkError);
    shown.push(inspect(error, { depth: null, showHidden: true }), String(error.stack), JSON.stringify(error));
  }
  for (const bad of [`${secret}\n`, `${secret}é`, ` ${secret}`, ""]) {
    const error = await Promise.resolve()
      .then(() => new Wakecall({ url: refusing.url, key: bad }))
      .catch((e: unknown) => e);
    assert.ok(error instanceof TypeError, bad);
    shown.push(inspect(error, { depth: null }));
  }
  for (const text of shown) assert.ok(!text.includes(secret), text);
  assert.equal(refusing.got[0]?.headers.authorization, `Bearer ${secret}`, "the oracle: it was sent");
});

test("options that are wrong are refused, each by its name", () => {
  const url = "http://127.0.0.1:8080";
  const table: [object, RegExp][] = [
    [{ url: "wakecall.example" }, /^url /],
    [{ url: "ftp://wakecall.example" }, /^url /],
    [{ url: `http://me:${secret}@wakecall.example` }, /^url /],
    [{ url: "http://wakecall.example?a=b" }, /^url /],
    [{ url, tries: 0 }, /^tries /],
    [{ url, tries: 1.5 }, /^tries /],
    [{ url, timeout: 0 }, /^timeout /],
    [{ url, timeout: Number.NaN }, /^timeout /],
    [{ url, key: "a b" }, /^key /],
  ];
  for (const [options, message] of table) {
    assert.throws(
      () => new Wakecall(options as never),
      (error: Error) => message.test(error.message) && !error.message.includes(secret),
      JSON.stringify(options),
    );
  }
  assert.ok(new Wakecall({ url: "https://wakecall.example/below/", timeout: Number.POSITIVE_INFINITY }));
});

test("an id that would lead to another call is refused before it is sent", async (t) => {
  const server = await new ScriptedServer([{ body: "{}" }]).start(t);
  const wakecall = new Wakecall({ url: `${server.url}/below` });
  for (const id of ["", ".", ".."]) {
    await assert.rejects(wakecall.timers.redeliver({ ...key, business_id: id }), /^TypeError: id must not be/);
    await assert.rejects(async () => wakecall.policies.get(id), /^TypeError: type must not be/);
  }
  await wakecall.timers.get({ business_type: "a.b", business_id: "a/b?c#d:e~@=+-" });
  assert.equal(server.got.length, 1);
  assert.equal(server.got[0]?.url, "/below/v1/timers/a.b/a%2Fb%3Fc%23d%3Ae~%40%3D%2B-");
});

test("what is sent: nothing that was left out, and payloads byte for byte", async (t) => {
  const server = await new ScriptedServer([{ body: "{}" }]).start(t);
  const { rawJSON, milliseconds } = await import("../src/index.js");
  const timers = new Timers(hastyApi({ url: server.url }).api);
  await timers.add({ ...key, delay: milliseconds(0), payload: { n: 1 } });
  await timers.add({ ...key, delay: "1s", payload: rawJSON('{ "b": 12345678901234567890,\n "a": 1.0 }') });
  await timers.change(key, { payload_base64: "AAE=", content_type: "a/b" }, { wait: "0s" });
  await timers.resume(key);
  assert.deepEqual(
    server.got.map((got) => got.body),
    [
      '{"business_type":"order-close","business_id":"1","delay":"0ms","payload":{"n":1}}',
      '{"business_type":"order-close","business_id":"1","delay":"1s","payload":{ "b": 12345678901234567890,\n "a": 1.0 }}',
      '{"payload_base64":"AAE=","content_type":"a/b"}',
      "",
    ],
  );
  assert.equal(server.got[2]?.url, "/v1/timers/order-close/1?wait=0s");
  assert.equal(server.got[3]?.headers["content-type"], undefined);
  for (const text of ["", '1},"priority":{', "{"]) assert.throws(() => rawJSON(text), SyntaxError);
});
