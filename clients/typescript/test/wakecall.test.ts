import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Problem, Refused, Wakecall } from "../src/index.js";
import { eventually, Receiver, Running } from "./running.js";

const secret = `whsec_${randomBytes(24).toString("base64")}`;
const apiKey = randomBytes(24).toString("hex");

/** What a receiver says of the rings of some ids. */
const words: Record<string, () => "accepted" | "last" | undefined> = {
  refused: () => {
    throw new Refused("no such order", { final: true });
  },
  later: () => "accepted",
  rule: () => "last",
};

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => undefined,
    (e: unknown) => e,
  );
  assert.ok(error instanceof Problem, String(error));
  return error;
}

describe("a running Wakecall", { timeout: 300_000 }, () => {
  let running: Running;
  let wakecall: Wakecall;
  const rung = new Receiver({ secrets: secret, ring: (ring) => words[ring.businessId]?.() });
  const type = "order-close";
  const key = (id: string) => ({ business_type: type, business_id: id });

  before(async () => {
    const hash = createHash("sha256").update(apiKey).digest("hex");
    running = await Running.start({ WAKECALL_API_KEYS: `tests:${hash}` });
    wakecall = new Wakecall({ url: running.url, key: apiKey });
    const policy = { callback: { url: await rung.start() }, retry: { steps: ["1s"] }, signing_secrets: [secret] };
    const put = await wakecall.policies.put(type, { ...policy, ack: { within: "1m" } }, { none: true });
    assert.equal(put.version, 1);
  });

  after(async () => {
    rung.stop();
    await running?.remove();
  });

  test("books, and is rung with a signature that is good", async () => {
    const booking = { ...key("order-1"), delay: "100ms", payload: { order: 4711 } };
    const { timer, created, etag } = await wakecall.timers.add(booking);
    assert.deepEqual([timer.status, created, typeof etag], ["scheduled", true, "string"]);
    const ring = await rung.await("order-1");
    assert.deepEqual(ring.json(), { order: 4711 });
    assert.equal(ring.webhookId, timer.webhook_id);
    const [attempt] = await eventually(async () => {
      const attempts = await collect(wakecall.timers.attempts(booking));
      return attempts.length > 0 ? attempts : undefined;
    });
    assert.equal(attempt?.number, 1);
    assert.ok((await collect(wakecall.timers.history(booking))).flat().length > 0);
  });

  test("bytes that are no text are rung and verified", async () => {
    await wakecall.timers.add({ ...key("bytes"), delay: "0s", payload_base64: "AP/+AQ==", content_type: "a/b" });
    assert.deepEqual(Buffer.from((await rung.await("bytes")).body), Buffer.from([0, 255, 254, 1]));
  });

  test("the same booking is there already, another one is refused with the timer", async () => {
    const booking = { ...key("again"), delay: "1h" };
    const first = await wakecall.timers.add(booking, { idempotencyKey: "k1" });
    assert.equal((await wakecall.timers.add(booking)).created, false);
    const taken = await problemOf(wakecall.timers.add({ ...booking, delay: "2h" }));
    assert.deepEqual([taken.status, taken.code], [409, "already-exists"]);
    await wakecall.timers.cancel(booking);
    assert.equal((await wakecall.timers.add(booking, { idempotencyKey: "k1" })).created, false);
    const reused = await problemOf(wakecall.timers.add({ ...booking, delay: "3h" }, { idempotencyKey: "k1" }));
    assert.equal(reused.code, "idempotency-key-reused");
    assert.equal((await wakecall.timers.get(first.timer)).status, "cancelled");
  });

  test("moves, cancels, and says when the delivery came first", async () => {
    const { timer, etag } = await wakecall.timers.add({ ...key("moved"), delay: "1h" });
    const moved = await wakecall.timers.change(timer, { delay: "2h" }, { ifMatch: etag as string, wait: "30s" });
    assert.deepEqual([moved.pending, moved.timer.revision], [false, 2]);
    assert.ok(moved.timer.due_at > timer.due_at);
    const stale = await problemOf(wakecall.timers.cancel(timer, { ifMatch: etag as string }));
    assert.deepEqual([stale.status, stale.code, stale.timer?.revision], [412, "precondition-failed", 2]);
    const replaced = await wakecall.timers.put({ ...key("moved"), delay: "3h" }, { wait: "30s" });
    assert.equal(replaced.timer.revision, 3);
    assert.equal(
      (await wakecall.timers.cancel(timer, { ifMatch: replaced.etag as string, wait: "30s" })).timer.status,
      "cancelled",
    );
    assert.equal(
      (await wakecall.timers.cancel(timer)).timer.status,
      "cancelled",
      "one that is cancelled is no problem",
    );

    await wakecall.timers.add({ ...key("won"), delay: "0s" });
    await eventually(async () => (await wakecall.timers.get(key("won"))).status === "delivered" || undefined);
    const late = await problemOf(wakecall.timers.cancel(key("won")));
    assert.deepEqual([late.status, late.code, late.timer?.status], [409, "already-finished", "delivered"]);
    assert.equal((await problemOf(wakecall.timers.get(key("nothing")))).code, "not-found");
  });

  test("rings now, and shows the payload", async () => {
    await wakecall.timers.add({ ...key("now"), delay: "1h", payload: { a: 1 } });
    assert.deepEqual((await wakecall.timers.get(key("now"), { payload: true })).payload, { a: 1 });
    await wakecall.timers.fire(key("now"), { wait: "30s" });
    assert.equal((await rung.await("now")).attempt, 1);
  });

  test("a refused ring fails, and is redelivered under the same id", async () => {
    await wakecall.timers.add({ ...key("refused"), delay: "0s" });
    const failed = await eventually(async () => {
      const timer = await wakecall.timers.get(key("refused"));
      return timer.status === "failed" ? timer : undefined;
    });
    assert.equal(failed.last_failure?.status, 422);
    words.refused = () => undefined;
    const stale = await problemOf(wakecall.timers.redeliver(failed, { ifMatch: '"9"' }));
    assert.deepEqual([stale.status, stale.timer?.status], [412, "failed"]);
    const { timer } = await wakecall.timers.redeliver(failed, { ifMatch: `"${failed.revision}"` });
    assert.equal(timer.webhook_id, failed.webhook_id);
    assert.equal((await rung.await("refused", 2)).webhookId, failed.webhook_id);
  });

  test("a ring that is accepted is acknowledged later, without a key", async () => {
    await wakecall.timers.add({ ...key("later"), delay: "0s" });
    const ring = await rung.await("later");
    assert.ok(ring.ackToken);
    const { timer } = await new Wakecall({ url: running.url }).deliveries.ack(ring, { wait: "30s" });
    assert.equal(timer.status, "delivered");
    assert.equal((await problemOf(wakecall.deliveries.nack(ring, { reason: "after all" }))).code, "not-awaited");
  });

  test("a recurring timer: its times, a pause with a note, its last occurrence", async () => {
    const recurrence = { every: "1h" };
    assert.equal((await wakecall.recurrences.preview(recurrence, { count: 3 })).upcoming.length, 3);
    await wakecall.timers.add({ ...key("rule"), recurrence });
    assert.equal((await wakecall.timers.upcoming(key("rule"), { count: 4 })).upcoming.length, 4);
    assert.equal(
      (await wakecall.timers.pause(key("rule"), { note: "stocktaking", wait: "30s" })).timer.status,
      "paused",
    );
    assert.deepEqual(await wakecall.timers.upcoming(key("rule")), {
      upcoming: [],
      empty_because: "paused",
      note: "stocktaking",
    });
    assert.equal((await wakecall.timers.resume(key("rule"), { wait: "30s" })).timer.status, "scheduled");
    await wakecall.timers.fire(key("rule"), { wait: "30s" });
    const ring = await rung.await("rule");
    assert.equal(ring.occurrence, 1);
    await eventually(async () => (await wakecall.timers.get(key("rule"))).status === "delivered" || undefined);
    assert.equal((await collect(wakecall.timers.occurrences(key("rule")))).length, 1);
  });

  test("a one-shot timer is booked paused, and resumed", async () => {
    assert.equal((await wakecall.timers.add({ ...key("once"), delay: "1h", paused: true })).timer.status, "paused");
    assert.equal((await wakecall.timers.resume(key("once"), { wait: "30s" })).timer.status, "scheduled");
    assert.equal((await wakecall.timers.pause(key("once"), { wait: "30s" })).timer.status, "paused");
    assert.equal((await problemOf(wakecall.timers.upcoming(key("once")))).code, "not-recurring");
  });

  test("a batch answers for each, and a list goes from page to page", async () => {
    const ids = Array.from({ length: 7 }, (_, i) => `batch-${i}`);
    const labels = { shop: "7" };
    const bookings = ids.map((id) => ({ ...key(id), delay: "1h", labels }));
    const added = await wakecall.timers.addBatch([...bookings, { ...key("batch-bad"), delay: "soon" }]);
    assert.deepEqual(
      added.map((one) => one.status),
      [...ids.map(() => 201), 422],
    );
    const refused = added[7]?.problem;
    assert.ok(refused instanceof Problem);
    assert.equal(refused.fieldErrors[0]?.code, "invalid-duration");
    const filter = { business_type: type, label: ["shop=7"], page_size: 3 };
    const listed = await eventually(async () => {
      const all = await collect(wakecall.timers.list(filter));
      return all.length === ids.length ? all : undefined;
    });
    assert.deepEqual(listed.map((timer) => timer.business_id).sort(), ids);
    for await (const timer of wakecall.timers.list(filter)) {
      assert.equal(timer.business_type, type, "a caller may stop early");
      break;
    }

    const { job, created } = await wakecall.bulk.start({
      operation: "cancel",
      filter: { business_type: type, labels },
    });
    assert.equal(created, true);
    await eventually(async () => (await wakecall.bulk.get(job.id)).status !== "running" || undefined);
    assert.equal((await collect(wakecall.bulk.results(job.id))).length, ids.length);
    assert.ok((await collect(wakecall.bulk.list())).length > 0);
  });

  test("what is wrong is refused with the name of each field", async () => {
    const wrong = await problemOf(wakecall.timers.add({ ...key("wrong"), delay: "-1s", priority: 9 as never }));
    assert.equal(wrong.status, 422);
    assert.deepEqual(wrong.fieldErrors.map((field) => field.pointer).sort(), ["/delay", "/priority"]);
    const listing = wakecall.timers.list({ page_size: 0 })[Symbol.asyncIterator]().next();
    assert.deepEqual((await problemOf(listing)).fieldErrors[0]?.pointer, "page_size");
    const large = await problemOf(wakecall.timers.add({ ...key("large"), delay: "1s", payload: "x".repeat(2 ** 17) }));
    assert.deepEqual([large.status, large.code], [413, "payload-too-large"]);
    const many = Array.from({ length: 200 }, (_, i) => ({
      ...key(`l-${i}`),
      delay: "1s",
      payload: "x".repeat(2 ** 17),
    }));
    const larger = await problemOf(wakecall.timers.addBatch(many));
    assert.deepEqual([larger.status, larger.code], [413, "payload-too-large"]);
  });

  test("a key that is wrong is refused, and stands in no error", async () => {
    const stranger = new Wakecall({ url: running.url, key: "nobody-knows-me" });
    const refused = await problemOf(stranger.timers.get(key("order-1")));
    assert.deepEqual([refused.status, refused.code], [401, "unauthorized"]);
    assert.ok(!JSON.stringify([refused, refused.message, refused.stack]).includes("nobody-knows-me"));
  });

  test("who calls, and how much there is", async () => {
    assert.equal((await wakecall.access.whoami()).name, "tests");
    assert.deepEqual(
      (await wakecall.access.keys()).map((one) => one.name),
      ["tests"],
    );
    const stats = await wakecall.timers.stats({ business_type: type });
    assert.equal(stats.business_types.length, 1);
    assert.ok((await wakecall.timers.forecast({ business_type: type })).steps.length > 0);
  });

  test("policies: versions, patches, plans and deletions", async () => {
    const { version } = await wakecall.policies.put("refund", { callback: { url: "https://refunds.example.com/" } });
    const none = await problemOf(wakecall.policies.put("refund", {}, { none: true }));
    assert.equal(none.code, "precondition-failed");
    const patched = await wakecall.policies.patch("refund", { paused: true }, { version });
    assert.equal(patched.paused, true);
    assert.equal((await problemOf(wakecall.policies.patch("refund", { paused: false }, { version }))).status, 412);
    assert.equal((await wakecall.policies.plan("refund", {})).created, false);
    await eventually(async () => {
      const held = await wakecall.policies.list({ paused: true });
      return held.some((policy) => policy.business_type === "refund") || undefined;
    });
    assert.deepEqual(
      (await wakecall.policies.versions("refund")).map((one) => one.version),
      [2, 1],
    );
    await wakecall.policies.delete("refund");
    assert.equal((await problemOf(wakecall.policies.get("refund"))).code, "not-found");
  });

  test("everything is held back, and goes on", async () => {
    await wakecall.emergency.pause({ business_types: ["other"], note: "drill" });
    assert.deepEqual(
      (await wakecall.emergency.list()).map((pause) => pause.note),
      ["drill"],
    );
    assert.deepEqual(await wakecall.emergency.resume({ business_types: ["other"] }), { paused: [] });
  });

  test("a dispatch is opened, uploaded and followed to its end", async () => {
    const order = { ...key("reward"), per_second: 1000, upload: true };
    assert.equal((await wakecall.dispatches.start(order)).created, true);
    async function* items() {
      for (let i = 0; i < 50; i++) yield { id: `user-${i}`, payload: { i } };
    }
    await wakecall.dispatches.upload(order, items());
    const seen = await collect(wakecall.dispatches.follow(order));
    assert.equal(seen.at(-1)?.status, "done");
    assert.deepEqual(await collect(wakecall.dispatches.failures(order)), []);
    assert.equal((await wakecall.dispatches.cancel(order).catch((e: Problem) => e.code)) === undefined, false);
  });

  test("a receiver that nobody can call is rung by long polls", async () => {
    await wakecall.policies.put("laptop", { callback: { stream: true }, retry: { steps: ["1s"] } });
    await wakecall.timers.add({ business_type: "laptop", business_id: "1", delay: "0s", payload: { a: 1 } });
    const ended = new AbortController();
    const said: unknown[] = [];
    const listening = wakecall.streams.listen(
      "laptop",
      (ring) => {
        said.push([ring.businessId, ring.json(), ring.attempt]);
        if (ring.attempt === 1) throw new Refused("not yet", { retryAfter: 1000 });
      },
      { signal: ended.signal },
    );
    const got = { business_type: "laptop", business_id: "1" };
    await eventually(async () => (await wakecall.timers.get(got)).status === "delivered" || undefined);
    ended.abort(new Error("enough"));
    await assert.rejects(listening, /enough/);
    assert.deepEqual(said, [
      ["1", { a: 1 }, 1],
      ["1", { a: 1 }, 2],
    ]);
    const wrong = wakecall.streams.listen(type, () => undefined, { signal: AbortSignal.timeout(60_000), max: 1000 });
    assert.equal((await problemOf(wrong)).status, 422);
  });

  test("a Wakecall that is killed and comes back has every timer, and the call that met it was repeated", async () => {
    await wakecall.timers.add({ ...key("survivor"), delay: "1h" });
    await running.kill();
    const patient = new Wakecall({ url: running.url, key: apiKey, tries: 100 });
    const found = patient.timers.get(key("survivor"));
    await running.up();
    assert.equal((await found).status, "scheduled");
  });
});
