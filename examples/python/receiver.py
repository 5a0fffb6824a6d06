"""A receiver of callbacks in Python, with nothing but its standard library.

It verifies each signature as Standard Webhooks 1.0.0 says, drops repetitions by
webhook-id, and answers 401 to a wrong signature. With the official library, of the same
name on PyPI, verify() is one call: Webhook(secret).verify(body, headers).

    WEBHOOK_SECRET=whsec_… python3 receiver.py
"""
import base64
import hashlib
import hmac
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 300  # seconds
LARGEST = 1 << 20  # bytes of a body

SECRET = os.environ.get("WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


def sign(secret, message, timestamp, body):
    """The signature of a body, which is bytes."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message}.{timestamp}.".encode(errors="replace") + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def verify(secret, headers, body, now=None):
    """Whether one of the signatures is right and of the last five minutes."""
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message or not re.fullmatch("[0-9]{1,12}", timestamp):  # isdigit() is true of "²" as well
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        return False
    want = sign(secret, message, timestamp, body).encode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(want, given.encode(errors="replace")) for given in signatures)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = set()  # a real receiver keeps it where it survives a restart

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,7}", length) or int(length) > LARGEST:
            self.close_connection = True  # where the next request begins is unknown
            self.answer(400)
            return
        body = self.rfile.read(int(length))
        if not verify(SECRET, self.headers, body):
            self.answer(401)
            return
        if self.headers["webhook-id"] not in self.seen:
            self.seen.add(self.headers["webhook-id"])
            print(f"{self.headers['Wakecall-Business-Type']}/{self.headers['Wakecall-Business-Id']} {body.decode(errors='replace')}", flush=True)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    host, port = os.environ.get("RECEIVER_ADDR", "127.0.0.1:9000").split(":")
    ThreadingHTTPServer((host, int(port)), Receiver).serve_forever()
