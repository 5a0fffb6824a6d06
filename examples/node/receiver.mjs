// A receiver of callbacks on Node. The TypeScript client verifies each signature with the
// official Standard Webhooks library, drops repetitions by webhook-id, and answers 401 to a
// wrong signature. `make receiver-node` builds the client and starts this.
import { createServer } from "node:http";
import { receiver } from "wakecall";

const [host, port] = (process.env.RECEIVER_ADDR ?? "127.0.0.1:9000").split(":");

const listener = receiver({
  secrets: process.env.WEBHOOK_SECRET ?? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  taken: new Set(), // a real receiver keeps it where it survives a restart
  ring: (ring) => console.log(`${ring.businessType}/${ring.businessId} ${ring.text()}`),
});
createServer(listener).listen(Number(port), host, () => console.log(`listening on http://${host}:${port}`));
