# Countersign with curl and openssl, for bash: source it. openssl takes the secret as an argument, which other users of
# the same machine can see while it runs; it is meant for trying and diagnosing.

# hmac <secret> < data: HMAC-SHA256, binary.
hmac() {
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')" -binary
}

# signature_holds <X-Svc-Signature> <production|sandbox> <method> <path with query> <status> <request id> <now> <secret>… < body
signature_holds() {
  local header=$1 environment=$2 method=$3 target=$4 status=$5 request_id=$6 now=$7 body timestamp secret mac
  shift 7
  [[ $header =~ ^t=([0-9]{1,12})((,kid=[^,=]+,v2=[0-9a-f]{64}){1,8})$ ]] || return 1
  timestamp=${BASH_REMATCH[1]}
  ((now - timestamp <= 300 && timestamp - now <= 300)) || return 1
  # A dot keeps the line ends that $(…) would drop.
  body=$(cat; printf .)
  for secret; do
    mac=$(printf %s "v2:$environment:$timestamp:$request_id:$status:$method:$target:${body%.}" | hmac "$secret" | od -An -v -tx1 | tr -d ' \n')
    [[ $header =~ ,v2=$mac(,|$) ]] && return 0
  done
  return 1
}

# jwt_claims <jwt> <secret>…: prints the claims of a verdict that one of the secrets signed. It checks nothing else.
jwt_claims() {
  local jwt=$1 secret
  shift
  [[ $jwt =~ ^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$ ]] || return 1
  [[ $(from_base64url "${jwt%%.*}") == *'"alg":"HS256"'* ]] || return 1
  for secret; do
    if [[ $(printf %s "${jwt%.*}" | hmac "$secret" | openssl base64 -A | tr '+/' '-_' | tr -d =) == "${jwt##*.}" ]]; then
      jwt=${jwt%.*}
      from_base64url "${jwt#*.}"
      return 0
    fi
  done
  return 1
}

from_base64url() {
  local text
  text=$(printf %s "$1" | tr -- '-_' '+/')
  while ((${#text} % 4)); do text+='='; done
  printf %s "$text" | openssl base64 -d -A
}
