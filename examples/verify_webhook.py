import hashlib
import hmac


def is_genuine(raw_body, signature, secret):
    """Whether a webhook comes from the service, unaltered.

    raw_body: the bytes as they came, before any JSON parser
    signature: the x-service-signature header, or None
    secret: the endpoint's whole secret, "whsec_" included
    """
    digest = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    expected = f"sha256={digest}"
    return hmac.compare_digest(expected.encode(), (signature or "").encode())
