// A receiver on Node's own server, with its own idle timeouts. A request to
// /leave is answered once a connection: the next one on it finds it closed.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";

const seen = new WeakMap();
const server = createServer((request, response) => {
  let size = 0;
  request.on("data", (chunk) => { size += chunk.length; });
  request.on("end", () => {
    const nth = (seen.get(request.socket) ?? 0) + 1;
    seen.set(request.socket, nth);
    const h = request.headers;
    appendFileSync(process.env.LOG, JSON.stringify({
      method: request.method, path: request.url, id: h["wakecall-business-id"], webhook_id: h["webhook-id"],
      attempt: h["wakecall-attempt"], length: h["content-length"], encoding: h["transfer-encoding"], size, nth,
    }) + "\n");
    if (request.url === "/leave" && nth > 1) {
      request.socket.destroy();
    } else {
      response.end("ok");
    }
  });
});
server.on("clientError", (error, socket) => {
  appendFileSync(process.env.LOG, JSON.stringify({ error: String(error.code) }) + "\n");
  socket.destroy();
});
server.listen(Number(process.env.PORT), process.env.HOST);
