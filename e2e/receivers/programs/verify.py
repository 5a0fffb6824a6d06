"""Verifies a callback by hand, over the bytes of the body."""
import base64
import hashlib
import hmac
import os
import time


def verify(header, body):
    """Says "hand", "wrong", or "" where there is no secret; header looks one up."""
    secret = os.environ.get("SECRET", "")
    if not secret:
        return ""
    id, timestamp = header("webhook-id") or "", header("webhook-timestamp") or "0"
    if abs(time.time() - float(timestamp)) > 300:
        return "wrong"
    key = base64.b64decode(secret[len("whsec_"):])
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    want = "v1," + base64.b64encode(digest).decode()
    given = (header("webhook-signature") or "").split(" ")
    return "hand" if any(hmac.compare_digest(want, one) for one in given) else "wrong"
