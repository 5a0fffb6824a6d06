// A receiver on Node's own server, with its own idle timeouts unless IDLE, in
// milliseconds, says otherwise. A request to /leave is answered once a connection:
// the next one on it finds it closed.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { verify } from "./verify.mjs";

const seen = new WeakMap();
const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const nth = (seen.get(request.socket) ?? 0) + 1;
    seen.set(request.socket, nth);
    const h = request.headers, body = Buffer.concat(chunks), verified = verify(h, body);
    appendFileSync(process.env.LOG, JSON.stringify({
      method: request.method, path: request.url, id: h["wakecall-business-id"], webhook_id: h["webhook-id"],
      attempt: h["wakecall-attempt"], length: h["content-length"], encoding: h["transfer-encoding"], size: body.length, nth,
      verified,
    }) + "\n");
    if (request.url === "/leave" && nth > 1) {
      request.socket.destroy();
    } else {
      response.statusCode = verified === "wrong" ? 401 : 200;
      response.end("ok");
    }
  });
});
server.on("clientError", (error, socket) => {
  appendFileSync(process.env.LOG, JSON.stringify({ error: String(error.code) }) + "\n");
  socket.destroy();
});
if (process.env.IDLE) server.keepAliveTimeout = Number(process.env.IDLE);
server.listen(Number(process.env.PORT), process.env.HOST);
