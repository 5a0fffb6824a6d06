import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Dispatches } from "../src/dispatches.js";
import { isUnavailable, NetworkError } from "../src/errors.js";
import { Bulk } from "../src/jobs.js";
import { defaultTries } from "../src/options.js";
import type { DispatchItem } from "../src/schema.js";
import { longestSilence } from "../src/silence.js";
import { hastyApi, type Script, ScriptedServer } from "./scripted.js";

const key = { business_type: "order-close", business_id: "1" };
const line = `${JSON.stringify({ id: "1" })}\n`;
const event = (kind: string) => `event: ${kind}\ndata: {"status":"${kind}"}\n\n`;

async function clientOf(t: TestContext, script: Script) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const server = await new ScriptedServer(script).start(t);
  const { api } = hastyApi({ url: server.url });
  const patience = { tries: defaultTries, sleep: async (_: number, signal: AbortSignal) => signal.throwIfAborted() };
  return { server, bulk: new Bulk(api), dispatches: new Dispatches(api, patience) };
}

/** Lets time pass until a promise has settled. Each step is a silence, and comes when nothing else is to do. */
async function silently<T>(t: TestContext, promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  promise.then(done, done);
  while (!settled) {
    for (let n = 0; n < 100 && !settled; n++) await turn();
    t.mock.timers.tick(longestSilence / 10);
  }
  return promise;
}

const isSilence = (error: unknown) => error instanceof NetworkError && /silent for 60 s/.test(error.message);

test("lines that stand still end, before the first one and behind it", async (t) => {
  const { bulk } = await clientOf(t, [{ body: line, stalled: true }, { silent: true }]);
  const lines = bulk.results("j");
  assert.deepEqual((await silently(t, lines.next())).value, { id: "1" });
  const error = await silently(
    t,
    lines.next().catch((e: unknown) => e),
  );
  assert.ok(isSilence(error), String(error));
  assert.ok(isUnavailable(error));
  await assert.rejects(silently(t, bulk.results("j").next()), isSilence);
});

test("a reader that is slow is no silence", async (t) => {
  const { bulk } = await clientOf(t, [{ body: line + line }]);
  const seen = [];
  for await (const found of bulk.results("j")) {
    seen.push(found);
    t.mock.timers.tick(2 * longestSilence);
  }
  assert.equal(seen.length, 2);
});

test("a follower leaves a stream that stands still", async (t) => {
  const { server, dispatches } = await clientOf(t, [
    { body: event("progress"), stalled: true },
    { silent: true },
    { body: event("progress") + event("end") },
  ]);
  const follow = async () => {
    const seen = [];
    for await (const { status } of dispatches.follow(key)) seen.push(status as string);
    return seen;
  };
  assert.deepEqual(await silently(t, follow()), ["progress", "progress", "end"]);
  assert.equal(server.got.length, 3);
});

test("an upload that is not taken ends, and one whose items are slow does not", async (t) => {
  const { dispatches } = await clientOf(t, [{ body: "{}" }, { silent: true }]);
  async function* items(): AsyncGenerator<DispatchItem> {
    for (let n = 0; n < 3; n++) {
      yield { id: String(n) };
      for (let m = 0; m < 10; m++) await turn();
      t.mock.timers.tick(2 * longestSilence);
    }
  }
  await dispatches.upload(key, items());
  await assert.rejects(silently(t, dispatches.upload(key, [{ id: "1" }])), isSilence);
});
