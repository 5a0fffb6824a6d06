<?php
// A receiver on PHP's own server.
file_put_contents(getenv("LOG"), json_encode([
    "method" => $_SERVER["REQUEST_METHOD"], "path" => $_SERVER["REQUEST_URI"],
    "id" => $_SERVER["HTTP_WAKECALL_BUSINESS_ID"] ?? null, "webhook_id" => $_SERVER["HTTP_WEBHOOK_ID"] ?? null,
    "attempt" => $_SERVER["HTTP_WAKECALL_ATTEMPT"] ?? null, "length" => $_SERVER["CONTENT_LENGTH"] ?? null,
    "encoding" => $_SERVER["HTTP_TRANSFER_ENCODING"] ?? null, "size" => strlen(file_get_contents("php://input")),
]) . "\n", FILE_APPEND | LOCK_EX);
echo "ok";
