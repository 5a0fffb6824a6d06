"""A receiver behind WSGI, on Python's own server."""
import json
import os
from wsgiref.simple_server import WSGIRequestHandler, make_server

from verify import verify


def application(env, start_response):
    body = env["wsgi.input"].read(int(env.get("CONTENT_LENGTH") or 0))
    verified = verify(lambda name: env.get("HTTP_" + name.upper().replace("-", "_")), body)
    with open(os.environ["LOG"], "a") as log:
        log.write(json.dumps({
            "method": env["REQUEST_METHOD"], "path": env["PATH_INFO"], "id": env.get("HTTP_WAKECALL_BUSINESS_ID"),
            "webhook_id": env.get("HTTP_WEBHOOK_ID"), "attempt": env.get("HTTP_WAKECALL_ATTEMPT"),
            "length": env.get("CONTENT_LENGTH"), "encoding": env.get("HTTP_TRANSFER_ENCODING"), "size": len(body),
            "verified": verified,
        }) + "\n")
    start_response("401 Unauthorized" if verified == "wrong" else "200 OK", [("Content-Length", "2")])
    return [b"ok"]


class Quiet(WSGIRequestHandler):
    def log_message(self, format, *args):
        pass


make_server(os.environ["HOST"], int(os.environ["PORT"]), application, handler_class=Quiet).serve_forever()
