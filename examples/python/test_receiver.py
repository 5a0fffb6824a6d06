"""The official libraries' own test vector, and what has to be refused.

    python3 -m unittest
"""
import unittest

from receiver import sign, verify

SECRET, MESSAGE, AT = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


class Vectors(unittest.TestCase):
    def headers(self, **changed):
        return {"webhook-id": MESSAGE, "webhook-timestamp": str(AT), "webhook-signature": SIGNATURE, **changed}

    def test_the_official_vector(self):
        self.assertEqual(SIGNATURE, sign(SECRET, MESSAGE, AT, BODY))
        self.assertTrue(verify(SECRET, self.headers(), BODY, now=AT))

    def test_one_of_several(self):
        several = {"webhook-signature": "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,x " + SIGNATURE}
        self.assertTrue(verify(SECRET, self.headers(**several), BODY, now=AT))

    def test_what_is_refused(self):
        for name, headers, body, now in [
            ("another body", self.headers(), BODY + b" ", AT),
            ("another id", self.headers(**{"webhook-id": "msg_x"}), BODY, AT),
            ("no id", self.headers(**{"webhook-id": ""}), BODY, AT),
            ("no timestamp", self.headers(**{"webhook-timestamp": ""}), BODY, AT),
            ("too old", self.headers(), BODY, AT + 301),
            ("of the future", self.headers(), BODY, AT - 301),
            ("a digit that is none", self.headers(**{"webhook-timestamp": "\u00b2"}), BODY, AT),
            ("digits without an end", self.headers(**{"webhook-timestamp": "1" * 5000}), BODY, AT),
            ("a timestamp below zero", self.headers(**{"webhook-timestamp": "-1"}), BODY, AT),
            ("an id beyond ASCII", self.headers(**{"webhook-id": "\u00e9\udcff"}), BODY, AT),
            ("a signature beyond ASCII", self.headers(**{"webhook-signature": "v1,\u00e9\udcff"}), BODY, AT),
            ("no signature", self.headers(**{"webhook-signature": ""}), BODY, AT),
            ("of no version", self.headers(**{"webhook-signature": SIGNATURE[3:]}), BODY, AT),
        ]:
            self.assertFalse(verify(SECRET, headers, body, now=now), name)


if __name__ == "__main__":
    unittest.main()
