import assert from "node:assert/strict";
import { test } from "node:test";
import { Dispatches } from "../src/dispatches.js";
import { isUnavailable, rawJSON } from "../src/index.js";
import type { DispatchItem } from "../src/schema.js";
import { hastyApi, problem, ScriptedServer } from "./scripted.js";

const key = { business_type: "reminder", business_id: "tonight" };

function dispatchesAt(url: string): Dispatches {
  return new Dispatches(hastyApi({ url }).api, { tries: 1, sleep: async () => {} });
}

test("an item is one line, whatever its payload is", async (t) => {
  const server = await new ScriptedServer([{ body: "{}" }]).start(t);
  const payload = rawJSON('{\n  "n": 12345678901234567890,\r\n  "text": "a\\nb"\n}');
  await dispatchesAt(server.url).upload(key, [{ id: "1", payload }, { id: "2" }]);
  assert.equal(
    server.got[0]?.body,
    '{"id":"1","payload":{   "n": 12345678901234567890,\r   "text": "a\\nb" }}\n{"id":"2"}\n',
  );
});

test("an upload fails with the error of its items, which says nothing of Wakecall", async (t) => {
  const server = await new ScriptedServer([{ body: "{}" }]).start(t);
  const elsewhere = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
  async function* breaking(): AsyncGenerator<DispatchItem> {
    yield { id: "1" };
    throw elsewhere;
  }
  await assert.rejects(dispatchesAt(server.url).upload(key, breaking()), (error) => {
    assert.equal(error, elsewhere);
    return !isUnavailable(error);
  });
  const unwritable = [{ id: "1", payload: 1n }] as never;
  await assert.rejects(dispatchesAt(server.url).upload(key, unwritable), TypeError);
  assert.equal(server.got.length, 0, "nothing came that is whole");
});

test("an upload that is refused early, or given up, ends its items", { timeout: 120_000 }, async (t) => {
  const refusing = await new ScriptedServer([{ status: 404, body: problem("not-found"), early: true }]).start(t);
  const silent = await new ScriptedServer([{ silent: true }]).start(t);
  const ended = new AbortController();
  for (const [url, reason] of [
    [refusing.url, /not-found/],
    [silent.url, /enough/],
  ] as const) {
    let over = () => {};
    const left = new Promise<void>((resolve) => {
      over = resolve;
    });
    function* endless(): Generator<DispatchItem> {
      try {
        for (let i = 0; ; i++) {
          yield { id: `${i}` };
          if (url === silent.url && i === 1_000) ended.abort(new Error("enough"));
        }
      } finally {
        over();
      }
    }
    await assert.rejects(dispatchesAt(url).upload(key, endless(), { signal: ended.signal }), reason);
    await left;
  }
});

test("an upload leaves time to read an answer, however fast its items come", async (t) => {
  const server = await new ScriptedServer([{ body: "{}" }]).start(t);
  let turns = 0;
  let most = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  function* fast(): Generator<DispatchItem> {
    const payload = "x".repeat(1024);
    for (let i = 0, turn = 0, here = 0; i < 10_000; i++) {
      if (turn !== turns) [turn, here] = [turns, 0];
      most = Math.max(most, ++here);
      yield { id: `${i}`, payload };
    }
  }
  await dispatchesAt(server.url)
    .upload(key, fast())
    .finally(() => clearImmediate(counting));
  assert.ok(most <= 100, `${most} items in one turn`);
});
