// A receiver of callbacks on Node. It verifies each signature with the official Standard
// Webhooks library, drops repetitions by webhook-id, and answers 401 to a wrong signature.
//
//   npm install && WEBHOOK_SECRET=whsec_… npm start
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
const [host, port] = (process.env.RECEIVER_ADDR ?? "127.0.0.1:9000").split(":");
const seen = new Set(); // a real receiver keeps it where it survives a restart

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks), id = request.headers["webhook-id"];
    try {
      webhook.verify(body, request.headers, { jsonParse: false }); // over the bytes as they came
    } catch {
      response.writeHead(401).end("the signature is wrong\n");
      return;
    }
    if (!seen.has(id)) {
      seen.add(id);
      console.log(`${request.headers["wakecall-business-type"]}/${request.headers["wakecall-business-id"]} ${body}`);
    }
    response.writeHead(200).end();
  });
}).listen(Number(port), host, () => console.log(`listening on http://${host}:${port}`));
