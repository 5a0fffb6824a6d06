"""A receiver on Flask, behind gunicorn."""
import json
import os

from flask import Flask, request
from verify import verify

application = Flask(__name__)


@application.route("/", defaults={"path": ""}, methods=["POST"])
@application.route("/<path:path>", methods=["POST"])
def receive(path):
    body, h = request.get_data(), request.headers
    verified = verify(h.get, body)
    with open(os.environ["LOG"], "a") as log:
        log.write(json.dumps({
            "method": request.method, "path": "/" + path, "id": h.get("Wakecall-Business-Id"), "webhook_id": h.get("webhook-id"),
            "attempt": h.get("Wakecall-Attempt"), "length": h.get("Content-Length"), "encoding": h.get("Transfer-Encoding"),
            "size": len(body), "verified": verified,
        }) + "\n")
    return "ok", 401 if verified == "wrong" else 200
