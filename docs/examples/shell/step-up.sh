#!/usr/bin/env bash
# Enrols a face, has an action countersigned, checks signature and verdict, erases the user: ./step-up.sh ada.jpg ada-today.jpg
set -euo pipefail
. "$(dirname "$0")/countersign.sh"
: "${CS_BASE_URL:?}" "${CS_API_KEY:?}" "${CS_SIGNING_SECRETS:?one, or both with a comma between}"
IFS=, read -ra secrets <<<"$CS_SIGNING_SECRETS"
answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

# call <method> <path> < JSON: prints the body once its signature holds.
call() {
  local status
  # The key goes by a file descriptor, so that no process list shows it.
  status=$(curl -sS -X "$1" "$CS_BASE_URL$2" --data-binary @- -D "$answer/headers" -o "$answer/body" -w '%{http_code}' \
    -H 'Content-Type: application/json' -H "X-Svc-Idempotency-Key: $(openssl rand -hex 16)" \
    -H @<(printf 'Authorization: Bearer %s' "$CS_API_KEY"))
  signature_holds "$(header x-svc-signature)" "$1" "/v1$2" "$status" "$(header x-request-id)" "$(date +%s)" \
    "${secrets[@]}" <"$answer/body" || { echo "$1 $2: the signature does not hold" >&2; return 1; }
  cat "$answer/body"
}

header() { tr -d '\r' <"$answer/headers" | sed -n "s/^$1: //Ip"; }
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p"; }
photo() { openssl base64 -A -in "$1"; }

echo "enroll $(printf '{"user_id":"ada-shell","image":"%s"}' "$(photo "$1")" | call POST /enroll | field status)"

action='{"amount":"1250.00","type":"wire_transfer"}'
verified=$(printf '{"user_id":"ada-shell","image":"%s","action":%s,"nonce":"session-1"}' "$(photo "$2")" "$action" |
  call POST /verify)
echo "verify $(field verdict <<<"$verified")"

claims=$(jwt_claims "$(field jwt <<<"$verified")" "${secrets[@]}")
# The action above is in RFC 8785 canonical form already, so its hash is that of the text.
hash=$(printf %s "$action" | openssl dgst -sha256 -r | cut -d' ' -f1)
for expected in "\"action_hash\":\"$hash\"" '"sub":"ada-shell"' '"env":"production"' '"verdict":"approved"' '"nonce":"session-1"'; do
  [[ $claims == *"$expected"* ]] || { echo "the verdict lacks $expected" >&2; exit 1; }
done
echo "verdict approved"

echo "delete $(printf '{"user_id":"ada-shell"}' | call DELETE /delete | field status)"
