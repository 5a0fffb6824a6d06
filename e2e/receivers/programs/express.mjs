// A receiver on Express. Its parser must take every body as bytes, also one
// without a Content-Type.
import { appendFileSync } from "node:fs";
import express from "express";
import { verify } from "./verify.mjs";

const app = express();
app.use(express.raw({ type: () => true }));
app.use((request, response) => {
  const h = request.headers, verified = verify(h, request.body);
  appendFileSync(process.env.LOG, JSON.stringify({
    method: request.method, path: request.url, id: h["wakecall-business-id"], webhook_id: h["webhook-id"],
    attempt: h["wakecall-attempt"], length: h["content-length"], encoding: h["transfer-encoding"],
    size: request.body.length, verified,
  }) + "\n");
  response.status(verified === "wrong" ? 401 : 200).send("ok");
});
app.listen(Number(process.env.PORT), process.env.HOST);
