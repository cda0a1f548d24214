#!/bin/sh
# One request reads a document. In Zapier use "Webhooks by Zapier: Custom Request", in Make
# "HTTP: Make a request", with the same method, URL, header and form.
set -eu
curl -sS --fail-with-body \
  -X POST "${RECIBO_URL:-http://127.0.0.1:8000}/v1/extract" \
  -H "X-API-Key: $RECIBO_API_KEY" \
  -F "file=@-;filename=receipt" < "$1"
