"""A receiver on Python's http.server, which knows a body by its Content-Length only."""
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import verify


def note(**line):
    with open(os.environ["LOG"], "a") as log:
        log.write(json.dumps(line) + "\n")


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        h = self.headers
        verified = verify(h.get, body)
        note(method=self.command, path=self.path, id=h["Wakecall-Business-Id"], webhook_id=h["webhook-id"],
             attempt=h["Wakecall-Attempt"], length=h["Content-Length"], encoding=h["Transfer-Encoding"], size=len(body),
             verified=verified)
        self.send_response(401 if verified == "wrong" else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_error(self, format, *args):
        if "timed out" not in format:
            note(error=format % args)

    def log_message(self, format, *args):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Receiver).serve_forever()
