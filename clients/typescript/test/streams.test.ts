import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused } from "../src/index.js";
import { Streams } from "../src/streams.js";
import { hastyApi, problem, type Scripted, ScriptedServer } from "./scripted.js";

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
