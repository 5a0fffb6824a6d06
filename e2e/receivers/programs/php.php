<?php
// A receiver on PHP's own server. It verifies by hand, over the bytes of the body.
function verify(string $body): string
{
    $secret = getenv("SECRET");
    if (!$secret) {
        return "";
    }
    $timestamp = $_SERVER["HTTP_WEBHOOK_TIMESTAMP"] ?? "0";
    if (abs(time() - (int) $timestamp) > 300) {
        return "wrong";
    }
    $signed = ($_SERVER["HTTP_WEBHOOK_ID"] ?? "") . "." . $timestamp . "." . $body;
    $want = "v1," . base64_encode(hash_hmac("sha256", $signed, base64_decode(substr($secret, strlen("whsec_"))), true));
    foreach (explode(" ", $_SERVER["HTTP_WEBHOOK_SIGNATURE"] ?? "") as $given) {
        if (hash_equals($want, $given)) {
            return "hand";
        }
    }
    return "wrong";
}

$body = file_get_contents("php://input");
$verified = verify($body);
file_put_contents(getenv("LOG"), json_encode([
    "method" => $_SERVER["REQUEST_METHOD"], "path" => $_SERVER["REQUEST_URI"],
    "id" => $_SERVER["HTTP_WAKECALL_BUSINESS_ID"] ?? null, "webhook_id" => $_SERVER["HTTP_WEBHOOK_ID"] ?? null,
    "attempt" => $_SERVER["HTTP_WAKECALL_ATTEMPT"] ?? null, "length" => $_SERVER["CONTENT_LENGTH"] ?? null,
    "encoding" => $_SERVER["HTTP_TRANSFER_ENCODING"] ?? null, "size" => strlen($body), "verified" => $verified,
]) . "\n", FILE_APPEND | LOCK_EX);
http_response_code($verified === "wrong" ? 401 : 200);
echo "ok";
