import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Refused } from "../src/index.js";
import { settingsOf } from "../src/options.js";
import { pollSettings, Streams } from "../src/streams.js";
import { type Got, hastyApi, problem, type Scripted, ScriptedServer } from "./scripted.js";

const rings = (...ids: string[]): Scripted => ({
  body: JSON.stringify({
    rings: ids.map((ring) => ({ ring, deadline: "2026-11-23T06:10:05.120Z", headers: {}, body: "" })),
  }),
});
const taken: Scripted = { status: 204 };
const wrong: Scripted = { status: 422, body: problem("invalid-request") };

test("a word that is refused ends no listening, and a long delay is none", async (t) => {
  const server = await new ScriptedServer([rings("g.c.1"), wrong, rings("g.c.2"), taken, rings()]).start(t);
  const ended = new AbortController();
  const lost: unknown[] = [];
  const listening = new Streams(hastyApi({ url: server.url }).api, 10_000).listen(
    "laptop",
    () => {
      throw new Refused("not today", { retryAfter: 2 * 3_600_000 + 0.5 });
    },
    {
      signal: ended.signal,
      lost: (error) => {
        lost.push(error);
      },
    },
  );
  const outcome = listening.catch((error: unknown) => error);
  while (server.got.length < 5) await Promise.race([server.arrival(), outcome.then((why) => assert.fail(String(why)))]);
  ended.abort(new Error("enough"));
  assert.match(String(await outcome), /enough/);
  const answers = server.got.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));
  assert.deepEqual(
    answers,
    ["g.c.1", "g.c.2"].map((nack) => ({ nack, reason: "not today", delay: "3600000ms" })),
  );
  assert.equal(lost.length, 1);
});

/** How many turns a listener gets to end that must not end yet. */
const turns = 50;

/** Gives these rings to one poll each, and then none. */
function givesOneByOne(...ids: string[]) {
  return ({ method }: Got): Scripted => {
    if (method === "POST") return taken;
    const id = ids.shift();
    return id === undefined ? { silent: true } : rings(id);
  };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const answersTo = (server: ScriptedServer): unknown[] =>
  server.got.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));

test("a listener ends when its last handler has, and what they say after the end is not sent", async (t) => {
  const server = await new ScriptedServer(givesOneByOne("1", "2")).start(t);
  const ended = new AbortController();
  const handlers = [deferred(), deferred()];
  const order: string[] = [];
  let begun = 0;
  const listening = new Streams(hastyApi({ url: server.url }).api, 60_000).listen(
    "laptop",
    async () => {
      const n = begun++;
      await handlers[n]?.promise;
      order.push(`handler ${n}`);
      if (n === 1) throw new Error("aborted");
    },
    { signal: ended.signal, max: 2 },
  );
  const outcome = listening.catch((error: unknown) => {
    order.push("end");
    return error;
  });
  while (begun < 2) await turn();
  ended.abort(new Error("enough"));
  for (const handler of handlers) {
    handler.resolve();
    for (let n = 0; n < turns; n++) await turn();
  }
  assert.match(String(await outcome), /enough/);
  assert.deepEqual(order, ["handler 0", "handler 1", "end"]);
  assert.deepEqual(answersTo(server), []);
});

test("a slow handler keeps its own place only, and there are no more handlers than places", async (t) => {
  for (const max of [1, 3]) {
    const ids = ["1", "2", "3", "4", "5"];
    const server = await new ScriptedServer(givesOneByOne(...ids)).start(t);
    const ended = new AbortController();
    const slow = deferred();
    let [running, most] = [0, 0];
    const listening = new Streams(hastyApi({ url: server.url }).api, 60_000).listen(
      "laptop",
      async () => {
        most = Math.max(most, ++running);
        if (most === 1 && max > 1) await slow.promise;
        else await turn();
        running--;
      },
      { signal: ended.signal, max },
    );
    const outcome = listening.catch((error: unknown) => error);
    const behind = max > 1 ? 1 : 0; // the rings that the slow handler has
    while (answersTo(server).length < ids.length - behind) await server.arrival();
    slow.resolve();
    while (answersTo(server).length < ids.length) await server.arrival();
    ended.abort(new Error("enough"));
    await outcome;
    assert.ok(most <= max, `${most} handlers`);
    const asked = server.got.filter(({ method }) => method === "GET").map(({ url }) => /max=(\d+)/.exec(url)?.[1]);
    assert.equal(asked[0], String(max));
    if (max > 1) assert.equal(asked[1], String(max - 1));
  }
});

test("an error of a handler is a nack with its text, and is told", async (t) => {
  const server = await new ScriptedServer(givesOneByOne("1", "2")).start(t);
  const ended = new AbortController();
  const long = `the database is down: ${"ü".repeat(500)}`;
  const errors = [new Error(long), new Refused("not today", { final: true, last: true })];
  const told: unknown[] = [];
  const listening = new Streams(hastyApi({ url: server.url }).api, 60_000).listen(
    "laptop",
    () => {
      throw errors[told.length];
    },
    { signal: ended.signal, failed: (error) => told.push(error) },
  );
  const outcome = listening.catch((error: unknown) => error);
  while (answersTo(server).length < 2) await server.arrival();
  ended.abort(new Error("enough"));
  await outcome;
  assert.deepEqual(answersTo(server), [
    { nack: "1", reason: long.slice(0, 400) },
    { nack: "2", reason: "not today", no_retry: true, stop: true },
  ]);
  assert.deepEqual(told, errors.slice(0, 1));
});

test("an error of the caller's own code ends a listener", async (t) => {
  const server = await new ScriptedServer(givesOneByOne("1")).start(t);
  const listening = new Streams(hastyApi({ url: server.url }).api, 60_000).listen(
    "laptop",
    () => {
      throw new Error("no");
    },
    {
      signal: AbortSignal.timeout(60_000),
      failed: () => {
        throw new Error("the log is full");
      },
    },
  );
  await assert.rejects(listening, /the log is full/);
});

test("a poll ends without an answer, whatever the timeout of other calls is", () => {
  for (const [timeout, want] of [
    [Number.POSITIVE_INFINITY, 60_000],
    [600_000, 60_000],
    [1_000, 1_000],
  ] as const) {
    assert.equal(pollSettings(settingsOf({ url: "http://127.0.0.1", timeout })).timeout, want);
  }
});
