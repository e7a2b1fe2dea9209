#!/usr/bin/env bash
# Enrols a face, has an action countersigned, checks signature and verdict, erases the user: ./step-up.sh ada.jpg … ada-today.jpg
set -euo pipefail
. "$(dirname "$0")/countersign.sh"
: "${CS_BASE_URL:?}" "${CS_API_KEY:?}" "${CS_SIGNING_SECRETS:?one, or both with a comma between}"
answer=$(mktemp -d)
enrolled=
# No photo and no reference stays behind, even after a failure.
clean_up() {
  local status=$?
  trap - EXIT
  if [[ $enrolled ]]; then
    erased=$(printf '{"user_id":"ada-shell"}' | call DELETE /delete) && echo "delete $(field status <<<"$erased")" || status=1
  fi
  rm -rf "$answer"
  exit "$status"
}
trap clean_up EXIT

# Pairs of id and secret, the preferred one first: sec_…:svc-sec-…
IFS=, read -ra pairs <<<"$CS_SIGNING_SECRETS"
secrets=("${pairs[@]#*:}")

# Signed with no tenant's secret: the service does not know whose request it was.
UNVERIFIABLE=' malformed_request request_timeout headers_too_large missing_api_key malformed_api_key invalid_api_key revoked_api_key wrong_environment tenant_suspended too_many_wrong_keys unknown_endpoint method_not_allowed shutting_down store_unavailable internal_error '

# One secret signs for both environments, so an answer of the other environment is refused.
environment=production
[[ $CS_API_KEY != svc-sbx-* ]] || environment=sandbox

# call <method> <path> < JSON: prints the body once its signature holds and it is no refusal. The body is read from stdin,
# since a photo is longer than an argument may be.
call() {
  local status code holds=1
  # The key goes by a file descriptor, so that no process list shows it.
  status=$(curl -sS -X "$1" "$CS_BASE_URL$2" --data-binary @- -D "$answer/headers" -o "$answer/body" -w '%{http_code}' \
    -H 'Content-Type: application/json' -H "X-Svc-Idempotency-Key: $(openssl rand -hex 16)" \
    -H "X-Svc-Signing-Key-Id: ${pairs[0]%%:*}" -H @<(printf 'Authorization: Bearer %s' "$CS_API_KEY")) || return 1
  signature_holds "$(header x-svc-signature)" "$environment" "$1" "/v1$2" "$status" "$(header x-request-id)" "$(date +%s)" \
    "${secrets[@]}" <"$answer/body" || holds=
  code=$(field code <"$answer/body")
  if [[ ! $holds && $UNVERIFIABLE != *" ${code:-none} "* ]]; then
    echo "$1 $2: the signature does not hold" >&2
    return 1
  fi
  if ((status >= 400)); then
    echo "$1 $2: $status $code: $(field message <"$answer/body")" >&2
    return 1
  fi
  if [[ ! $holds ]]; then
    echo "$1 $2: the signature does not hold" >&2
    return 1
  fi
  cat "$answer/body"
}

header() { tr -d '\r' <"$answer/headers" | sed -n "s/^$1: //Ip"; }
field() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p"; }
photo() { openssl base64 -A -in "$1"; }

# Each answer is a variable of its own: a failure inside an argument would not stop the script.
photos=
for path in "${@:1:$#-1}"; do
  encoded=$(photo "$path")
  photos+="${photos:+,}\"$encoded\""
done
result=$(printf '{"user_id":"ada-shell","images":[%s],"replace":true}' "$photos" | call POST /enroll)
enrolled=yes
echo "enroll $(field status <<<"$result")"

action='{"amount":"1250.00","type":"wire_transfer"}'
today=$(photo "${@: -1}")
result=$(printf '{"user_id":"ada-shell","image":"%s","action":%s,"nonce":"session-1"}' "$today" "$action" |
  call POST /verify)
echo "verify $(field verdict <<<"$result")"

claims=$(jwt_claims "$(field jwt <<<"$result")" "${secrets[@]}") || { echo "the verdict's signature does not hold" >&2; exit 1; }
# The action above is in RFC 8785 canonical form already, so its hash is that of the text.
hash=$(printf %s "$action" | openssl dgst -sha256 -r | cut -d' ' -f1)
required=("\"action_hash\":\"$hash\"" '"sub":"ada-shell"' '"env":"production"' '"verdict":"approved"' '"nonce":"session-1"' '"replay":{"suspected":false}')
# The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
[[ ${CS_ACCEPT_EVALUATION:-} == true ]] || required+=('"model_grade":"production"')
for expected in "${required[@]}"; do
  [[ $claims == *"$expected"* ]] || { echo "the verdict lacks $expected" >&2; exit 1; }
done
echo "verdict approved $(field amount <<<"$claims")"
