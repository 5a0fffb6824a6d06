import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import {
  fetchReceiver,
  type ReceiverOptions,
  Refused,
  type Ring,
  receiver,
  SignatureError,
  Verifier,
} from "../src/index.js";

const secretOf = () => `whsec_${randomBytes(24).toString("base64")}`;
const [mine, other] = [secretOf(), secretOf()];

/** Signs as the specification of Standard Webhooks says, without its library. */
function signed(body: Uint8Array | string, secrets = [mine], at = Date.now(), id = "msg_1"): Record<string, string> {
  const timestamp = Math.floor(at / 1000);
  const sign = (secret: string) =>
    createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((secret) => `v1,${sign(secret)}`).join(" "),
    "Wakecall-Business-Type": "order-close",
    "Wakecall-Business-Id": "order-4711",
    "Wakecall-Due-At": "2026-11-21T12:00:00.000Z",
    "Wakecall-Attempt": "2",
  };
}

const bodies: Record<string, Buffer> = {
  json: Buffer.from('{"order": 4711}'),
  text: Buffer.from("no JSON, häßlich"),
  mark: Buffer.from("\ufeffa text with a byte order mark"),
  bytes: Buffer.from([0, 255, 254, 1]),
  empty: Buffer.alloc(0),
};

test("a good signature is good over every body, and a wrong one over none", () => {
  const verifier = new Verifier(mine);
  for (const [name, body] of Object.entries(bodies)) {
    const ring = verifier.verify(signed(body), body);
    assert.deepEqual(Buffer.from(ring.body), body, name);
    assert.equal(
      `${ring.businessType}/${ring.businessId} ${ring.attempt} ${ring.webhookId}`,
      "order-close/order-4711 2 msg_1",
    );
    const wrong: [Record<string, string>, Buffer][] = [
      [signed(body, [other]), body],
      [signed(body), Buffer.concat([body, Buffer.from("x")])],
      [{ ...signed(body), "webhook-id": "msg_2" }, body],
      [signed(body, [mine], Date.now() - 301_000), body],
      [signed(body, [mine], Date.now() + 302_000), body],
      [{ ...signed(body), "webhook-timestamp": "soon" }, body],
      [{ ...signed(body), "webhook-signature": signed(body)["webhook-signature"]?.replace("v1,", "v1a,") ?? "" }, body],
      [{}, body],
    ];
    for (const [headers, bytes] of wrong) assert.throws(() => verifier.verify(headers, bytes), SignatureError, name);
  }
});

test("the vector of the specification", (t) => {
  t.mock.method(Date, "now", () => 1_614_265_330_000);
  const ring = new Verifier("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").verify(
    {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    Buffer.from('{"test": 2432232314}'),
  );
  assert.deepEqual(ring.json(), { test: 2432232314 });
});

test("while secrets are rotated either verifies", () => {
  const body = bodies.json as Buffer;
  assert.ok(new Verifier([other, mine]).verify(signed(body), body));
  assert.ok(new Verifier(mine).verify(signed(body, [other, mine]), body));
  assert.throws(() => new Verifier([other]).verify(signed(body), body), SignatureError);
  assert.throws(() => new Verifier([]), TypeError);
  const shown = inspect(new Verifier(mine), { depth: null, showHidden: true });
  assert.ok(!shown.includes(mine.slice(6)));
  for (const bad of ["whsec_", "whsec_#!", `whsec_${mine.slice(6)}#`]) {
    assert.throws(() => new Verifier(bad), { name: "TypeError", message: "a secret must be whsec_ and base64" });
  }
});

/** Starts a receiver, and returns how to ring it. */
async function start(t: TestContext, options: Omit<ReceiverOptions, "secrets">) {
  const server = createServer(receiver({ secrets: mine, ...options }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const same = fetchReceiver({ secrets: mine, ...options });
  return async (
    headers: Record<string, string>,
    body: Uint8Array<ArrayBuffer> | string,
    by: "node" | "fetch" = "node",
  ) => {
    const response = await (by === "node" ? fetch : (u: string, i: RequestInit) => same(new Request(u, i)))(url, {
      method: "POST",
      headers,
      body,
    });
    const { status } = response;
    const said = ["Wakecall-Stop", "Wakecall-No-Retry", "Retry-After"].map((name) => response.headers.get(name));
    return [status, await response.text(), ...said];
  };
}

test("a receiver says what its handler says", async (t) => {
  const failed: unknown[] = [];
  const ring = await start(t, {
    failed: (error) => failed.push(error),
    ring: (r: Ring) => {
      const { say } = r.json() as { say: string };
      if (say === "final") throw new Refused("no such order", { final: true });
      if (say === "later") throw new Refused("busy", { retryAfter: 1500 });
      if (say === "no") throw new Refused("not today");
      if (say === "no more") throw new Refused("closed", { final: true, last: true });
      if (say === "never") throw new Refused("busy", { retryAfter: Number.POSITIVE_INFINITY, last: true });
      if (say === "now") throw new Refused("busy", { retryAfter: -1, last: true });
      if (say === "bug") throw new Error("a secret of the receiver's");
      return say === "accepted" || say === "last" ? say : undefined;
    },
  });
  const table: Record<string, unknown[]> = {
    yes: [200, "", null, null, null],
    accepted: [202, "", null, null, null],
    last: [200, "", "true", null, null],
    final: [422, "no such order", null, "true", null],
    later: [503, "busy", null, null, "2"],
    no: [500, "not today", null, null, null],
    "no more": [422, "closed", "true", "true", null],
    never: [503, "busy", "true", null, "3600"],
    now: [500, "busy", "true", null, null],
    bug: [500, "the receiver failed", null, null, null],
  };
  for (const by of ["node", "fetch"] as const) {
    for (const [say, want] of Object.entries(table)) {
      const body = JSON.stringify({ say });
      assert.deepEqual(await ring(signed(body), body, by), want, `${say} by ${by}`);
    }
    assert.deepEqual(await ring(signed("{}", [other]), "{}", by), [401, "the signature is wrong", null, null, null]);
    const large = "x".repeat(2 ** 20 + 1);
    assert.equal((await ring(signed(large), large, by))[0], 413);
  }
  assert.equal(failed.length, 2, "only what is no word for Wakecall");
});

test("a repetition is answered without the handler, and what failed is no repetition", async (t) => {
  let calls = 0;
  const ring = await start(t, {
    taken: new Set<string>(),
    ring: () => {
      if (++calls === 1) throw new Refused("not yet");
    },
  });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ring(signed("{}"), "{}"))[0]);
  assert.deepEqual(statuses, [500, 200, 200]);
  assert.equal(calls, 2);
});

test("a ring whose end is not known yet is no repetition", async (t) => {
  for (const verdict of ["accepted", "last"] as const) {
    let calls = 0;
    const taken = new Set<string>();
    const ring = await start(t, {
      taken,
      ring: () => {
        calls++;
        return verdict;
      },
    });
    // It comes again after a nack, after the time to acknowledge it, or because its answer was lost.
    const answers = [await ring(signed("{}"), "{}"), await ring(signed("{}"), "{}")];
    assert.deepEqual(answers[1], answers[0], verdict);
    assert.equal(calls, 2, verdict);
    assert.equal(taken.size, 0);
  }
});
