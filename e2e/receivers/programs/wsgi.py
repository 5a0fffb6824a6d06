"""A receiver behind WSGI, on Python's own server."""
import json
import os
from wsgiref.simple_server import WSGIRequestHandler, make_server


def application(env, start_response):
    size = len(env["wsgi.input"].read(int(env.get("CONTENT_LENGTH") or 0)))
    with open(os.environ["LOG"], "a") as log:
        log.write(json.dumps({
            "method": env["REQUEST_METHOD"], "path": env["PATH_INFO"], "id": env.get("HTTP_WAKECALL_BUSINESS_ID"),
            "webhook_id": env.get("HTTP_WEBHOOK_ID"), "attempt": env.get("HTTP_WAKECALL_ATTEMPT"),
            "length": env.get("CONTENT_LENGTH"), "encoding": env.get("HTTP_TRANSFER_ENCODING"), "size": size,
        }) + "\n")
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


class Quiet(WSGIRequestHandler):
    def log_message(self, format, *args):
        pass


make_server(os.environ["HOST"], int(os.environ["PORT"]), application, handler_class=Quiet).serve_forever()
