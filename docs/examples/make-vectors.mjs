/**
 * Writes the test vectors: `node make-vectors.mjs > vectors.json`. Everything is made with node:crypto and by hand, with
 * nothing of Countersign's own code; canonical forms are written out, not computed.
 */
import { createHash, createHmac, createPublicKey } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { keyOf } from './deterministic-ecdsa.mjs'

const NOW = 1_800_000_000
const OLD = {
  id: 'sec_01a1fc301e9773feadea676a8f8270e5',
  secret: 'svc-sec-4BYKe6BI7FICf1UCpp8fFy2Usz9ILo9xP0XBMmGSkI6',
}
const NEW = {
  id: 'sec_01a1fd5c07d27b0cb9a2a2f0a9f1c3d4',
  secret: 'svc-sec-9ZtQm3vW0rXyLkJhGfDsAqPoIuYtReWqMnBvCxZlKjH',
}
const STRANGER = { id: 'sec_stranger', secret: 'svc-sec-somebody-else' }
const TENANT = 'ten_01a1fc301e95727e8b885c8bb08d5b5f'
const ISSUER = 'https://countersign.example.com/v1'
const REQUEST_ID = '01a1fc30-33ed-77cd-9ca9-f4430e93b957'

const hmac = (secret, data) => createHmac('sha256', secret).update(data)

// ---- response signatures -------------------------------------------------------------------------------------------

const RESPONSE = {
  environment: 'production',
  method: 'POST',
  target: '/v1/verify',
  status: 200,
  request_id: REQUEST_ID,
  body: '{"verdict":"approved","user_id":"Zoë","note":"€ 😀 \\u2028"}',
}

function signature({ environment, method, target, status, request_id, body }, secrets, t = NOW) {
  const input = `v2:${environment}:${t}:${request_id}:${status}:${method}:${target}:${body}`
  return `t=${t}${secrets.map(({ id, secret }) => `,kid=${id},v2=${hmac(secret, input).digest('hex')}`).join('')}`
}

function response(
  title,
  valid,
  { secrets = [OLD], signedBy = secrets, signed = {}, sent = {}, t, header } = {},
) {
  return {
    title,
    valid,
    now: NOW,
    tolerance_seconds: 300,
    secrets,
    ...RESPONSE,
    ...signed,
    ...sent,
    signature: header ?? signature({ ...RESPONSE, ...signed }, signedBy, t),
  }
}

const [onlyHex] = signature(RESPONSE, [OLD]).match(/[0-9a-f]{64}$/)
const responses = [
  response('one secret', true),
  response('a query in the path', true, {
    signed: { method: 'DELETE', target: '/v1/delete?user_id=Zo%C3%AB%20%26' },
  }),
  response('an empty body', true, { signed: { method: 'GET', target: '/v1/health', body: '' } }),
  response('an overlap, held by the old secret', true, { secrets: [OLD], signedBy: [OLD, NEW] }),
  response('an overlap, held by the new secret', true, { secrets: [NEW], signedBy: [OLD, NEW] }),
  response('an overlap, held by both', true, { secrets: [NEW, OLD], signedBy: [OLD, NEW] }),
  response('an answer of the sandbox, asked of the sandbox', true, { signed: { environment: 'sandbox' } }),
  response('300 s old', true, { t: NOW - 300 }),
  response('300 s ahead', true, { t: NOW + 300 }),
  response('301 s old', false, { t: NOW - 301 }),
  response('301 s ahead', false, { t: NOW + 301 }),
  response('a secret that is not held', false, { signedBy: [STRANGER] }),
  response('a known kid over a stranger’s signature', false, { signedBy: [{ ...STRANGER, id: OLD.id }] }),
  response('an answer of the sandbox where production was asked', false, {
    sent: { environment: 'production' },
    signed: { environment: 'sandbox' },
  }),
  response('an answer of production where the sandbox was asked', false, {
    sent: { environment: 'sandbox' },
  }),
  response('a changed body', false, { sent: { body: RESPONSE.body.replace('approved', 'rejected') } }),
  response('a changed status', false, { sent: { status: 201 } }),
  response('another method', false, { sent: { method: 'GET' } }),
  response('another path', false, { sent: { target: '/v1/enroll' } }),
  response('another request id', false, { sent: { request_id: '01a1fc30-33ed-77cd-9ca9-f4430e93b958' } }),
  response('a time that was not signed', false, { header: `t=${NOW + 1},kid=${OLD.id},v2=${onlyHex}` }),
  response('no header', false, { header: '' }),
  response('no kid', false, { header: `t=${NOW},v2=${onlyHex}` }),
  response('a signature of version 1, which names no environment', false, {
    header: `t=${NOW},kid=${OLD.id},v1=${hmac(OLD.secret, `v1:${NOW}:${REQUEST_ID}:200:POST:/v1/verify:${RESPONSE.body}`).digest('hex')}`,
  }),
  response('a signature cut short', false, { header: `t=${NOW},kid=${OLD.id},v2=${onlyHex.slice(0, 62)}` }),
  response('no signature', false, { header: `t=${NOW}` }),
  response('more signatures than the service makes, a genuine one last', false, {
    signedBy: [...Array(8).fill(STRANGER), OLD],
  }),
]

// ---- actions -------------------------------------------------------------------------------------------------------

/** [title, JSON text, RFC 8785 canonical form]. */
const ACTIONS = [
  ['a string', '"transfer"', '"transfer"'],
  [
    'sorted members',
    '{"type":"wire_transfer","amount":"1250.00"}',
    '{"amount":"1250.00","type":"wire_transfer"}',
  ],
  [
    'nested, with white space',
    '{ "b" : [ 3, { "d":1, "c":2 } ], "a" : { } }',
    '{"a":{},"b":[3,{"c":2,"d":1}]}',
  ],
  ['literals', '[null,true,false]', '[null,true,false]'],
  ['names that look like numbers', '{"10":1,"9":2,"1":3}', '{"1":3,"10":1,"9":2}'],
  [
    'names in the order of UTF-16 code units',
    '{"€":"Euro Sign","\\r":"Carriage Return","\ufb33":"Hebrew","1":"One","😀":"Emoji","\\u0080":"Control","ö":"Latin"}',
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin","€":"Euro Sign","😀":"Emoji","\ufb33":"Hebrew"}',
  ],
  ['a private-use name after an emoji', '{"\\ue000":1,"\\ud83d\\ude00":2}', '{"😀":2,"\ue000":1}'],
  [
    'escapes',
    '"\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f\\u0022\\u005c\\u002f\\u007f"',
    '"\\u0000\\b\\t\\n\\f\\r\\u001f\\"\\\\/\u007f"',
  ],
  ['letters stay as they are, composed or not', '"\\u00e9 e\\u0301 \\u2028"', '"é e\u0301 \u2028"'],
  ['zero and minus zero', '[0,-0,0.0,-0.0]', '[0,0,0,0]'],
  ['whole numbers', '[1.0,10,1e2,9007199254740991,-5]', '[1,10,100,9007199254740991,-5]'],
  [
    'the greatest whole numbers',
    '[9007199254740991,-9007199254740991]',
    '[9007199254740991,-9007199254740991]',
  ],
  ['small numbers', '[0.1,0.000001,0.0000001,1e-7,1.5e-10,0.002]', '[0.1,0.000001,1e-7,1e-7,1.5e-10,0.002]'],
  [
    'shortest digits',
    '[333333333.3333333,4.50,0.30000000000000004,1424953923781206.2]',
    '[333333333.3333333,4.5,0.30000000000000004,1424953923781206.2]',
  ],
  ['the smallest number', '[5e-324]', '[5e-324]'],
]
const actions = ACTIONS.map(([title, json, canonical]) => ({
  title,
  json,
  canonical,
  action_hash: createHash('sha256').update(canonical).digest('hex'),
}))

/** [title, JSON text]: numbers that not every reader takes for the same one. The service refuses them; so does the SDK. */
const REFUSED_ACTIONS = [
  ['an account number as a number', '{"to":123456789012345678}'],
  ['the same account number to a double', '{"to":123456789012345680}'],
  ['one beyond 2^53 - 1', '{"to":9007199254740992}'],
  ['one beyond -(2^53 - 1), in a list', '{"to":[1,-9007199254740992]}'],
  ['a whole number with an exponent', '{"amount":1e20}'],
]
const refusedActions = REFUSED_ACTIONS.map(([title, json]) => ({ title, json }))

// ---- verdicts ------------------------------------------------------------------------------------------------------

const ACTION = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }
const ACTION_HASH = createHash('sha256')
  .update('{"amount":"1250.00","currency":"EUR","type":"wire_transfer"}')
  .digest('hex')
const CLAIMS = {
  iss: ISSUER,
  aud: TENANT,
  sub: 'ada',
  iat: NOW - 10,
  nbf: NOW - 10,
  exp: NOW + 290,
  jti: 'ver_01a1fc30340671f4abee5c458e774724',
  txn: REQUEST_ID,
  env: 'production',
  verdict: 'approved',
  score: 0.95159,
  fmr: 0.0001,
  action: ACTION,
  action_hash: ACTION_HASH,
  nonce: 'n-4711',
  amr: ['face'],
  acr: 'urn:countersign:acr:face',
  auth_time: NOW - 10,
  model: 'acme-faces@1.0.0',
  model_grade: 'production',
  replay: { suspected: false },
}
const EXPECTED = {
  audience: TENANT,
  issuer: ISSUER,
  environment: 'production',
  user_id: 'ada',
  action: ACTION,
  nonce: 'n-4711',
}

function jws(claims, { id, secret }, header = {}) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg: 'HS256', typ: 'stepup+jwt', kid: id, ...header })}.${part(claims)}`
  return `${input}.${hmac(secret, input).digest('base64url')}`
}

const CAPTURED = {
  nonce: 'cap_01a1fc301e95727e8b885c8bb08d0001',
  capture_session: 'cap_01a1fc301e95727e8b885c8bb08d0001',
  capture_binding: 'same',
}
const OF_SESSION = { nonce: undefined, capture_session_id: CAPTURED.capture_session }
const SIGN_IN = {
  action: { type: 'login' },
  action_hash: createHash('sha256').update('{"type":"login"}').digest('hex'),
}

/** `error` is the SDK's code. */
function verdict(
  title,
  error,
  { claims = {}, secrets = [OLD], signedBy = OLD, header, jwt, expected = {} } = {},
) {
  return {
    title,
    valid: error === null,
    error,
    now: NOW,
    tolerance_seconds: 60,
    secrets,
    expected: { ...EXPECTED, ...expected },
    jwt: jwt ?? jws({ ...CLAIMS, ...claims }, signedBy, header),
  }
}

const genuine = jws(CLAIMS, OLD)
const [genuineHeader, , genuineMac] = genuine.split('.')
const dearer = jws({ ...CLAIMS, action: { ...ACTION, amount: '9999.00' } }, OLD).split('.')[1]
const unsigned = jws(CLAIMS, OLD, { alg: 'none' }).split('.')
const verdicts = [
  verdict('an approval', null),
  verdict('an approval in an overlap, under the old secret', null, { secrets: [NEW, OLD] }),
  verdict('an approval in an overlap, under the new secret', null, { secrets: [NEW, OLD], signedBy: NEW }),
  verdict('a user and an action in Unicode', null, {
    claims: {
      sub: 'Zoë 😀',
      action: { zweck: 'Miete für März', betrag: 1250.5 },
      action_hash: createHash('sha256').update('{"betrag":1250.5,"zweck":"Miete für März"}').digest('hex'),
    },
    expected: { user_id: 'Zoë 😀', action: { zweck: 'Miete für März', betrag: 1250.5 } },
  }),
  verdict('a rejection', 'not_approved', {
    claims: { verdict: 'rejected', reason: 'no_match', score: undefined, acr: '0' },
  }),
  verdict('of evaluation grade', 'evaluation_grade', { claims: { model_grade: 'evaluation' } }),
  verdict('of a pack whose data name no groups', 'evaluation_grade', {
    claims: { model_grade: 'ungrouped' },
  }),
  verdict('of a pack whose data name no groups, which is accepted', null, {
    claims: { model_grade: 'ungrouped' },
    expected: { accept_evaluation_grade: true },
  }),
  verdict('of no grade', 'evaluation_grade', { claims: { model_grade: undefined } }),
  verdict('of evaluation grade, which is accepted', null, {
    claims: { model_grade: 'evaluation' },
    expected: { accept_evaluation_grade: true },
  }),
  verdict('of evaluation grade, in the sandbox', null, {
    claims: { model_grade: 'evaluation', env: 'sandbox' },
    expected: { environment: 'sandbox' },
  }),
  verdict('of a photo seen before', 'replay_suspected', { claims: { replay: { suspected: true } } }),
  verdict('that does not say whether its photo was seen before', 'replay_suspected', {
    claims: { replay: undefined },
  }),
  verdict('of a photo seen before, which is accepted', null, {
    claims: { replay: { suspected: true } },
    expected: { accept_replays: true },
  }),
  verdict('expired within the tolerance', null, { claims: { exp: NOW - 59 } }),
  verdict('expired', 'expired', { claims: { exp: NOW - 60 } }),
  verdict('not yet valid within the tolerance', null, { claims: { iat: NOW + 60, nbf: NOW + 60 } }),
  verdict('not yet valid', 'not_yet_valid', { claims: { nbf: NOW + 61 } }),
  verdict('another audience', 'wrong_audience', { claims: { aud: 'ten_other' } }),
  verdict('another issuer', 'wrong_issuer', { claims: { iss: 'https://elsewhere.example.com/v1' } }),
  verdict('of the sandbox', 'wrong_environment', { claims: { env: 'sandbox' } }),
  verdict('another user', 'wrong_user', { claims: { sub: 'grace' } }),
  verdict('another action', 'wrong_action', { expected: { action: { ...ACTION, amount: '9999.00' } } }),
  verdict('another nonce', 'wrong_nonce', { claims: { nonce: 'n-0815' } }),
  verdict('no nonce', 'wrong_nonce', { claims: { nonce: undefined } }),
  verdict('of the capture session', null, { claims: CAPTURED, expected: OF_SESSION }),
  verdict('of another capture session', 'wrong_capture_session', {
    claims: { ...CAPTURED, capture_session: 'cap_01a1fc301e95727e8b885c8bb08d0002' },
    expected: OF_SESSION,
  }),
  verdict('of no capture session, with its id as nonce', 'wrong_capture_session', {
    claims: { nonce: CAPTURED.nonce },
    expected: OF_SESSION,
  }),
  verdict('of a capture session for any browser', 'wrong_capture_binding', {
    claims: { ...CAPTURED, capture_binding: 'any' },
    expected: OF_SESSION,
  }),
  verdict('of a capture session that does not say for which browser', 'wrong_capture_binding', {
    claims: { ...CAPTURED, capture_binding: undefined },
    expected: OF_SESSION,
  }),
  verdict('of a capture session for any browser, which is accepted', null, {
    claims: { ...CAPTURED, capture_binding: 'any' },
    expected: { ...OF_SESSION, capture_binding: 'any' },
  }),
  verdict('of the capture session, for a typed action whose text was shown', null, {
    claims: { ...CAPTURED, ...SIGN_IN, display_hash: '0'.repeat(64) },
    expected: { ...OF_SESSION, action: SIGN_IN.action },
  }),
  verdict('of the capture session, for a typed action without a text', 'not_displayed', {
    claims: { ...CAPTURED, ...SIGN_IN },
    expected: { ...OF_SESSION, action: SIGN_IN.action },
  }),
  verdict('an unknown secret', 'signature_invalid', { signedBy: STRANGER }),
  verdict('a stranger’s signature under a known kid', 'signature_invalid', {
    signedBy: { ...STRANGER, id: OLD.id },
  }),
  verdict('changed claims', 'signature_invalid', { jwt: `${genuineHeader}.${dearer}.${genuineMac}` }),
  verdict('a signature cut off', 'signature_invalid', {
    jwt: genuine.slice(0, genuine.lastIndexOf('.') + 1),
  }),
  verdict('alg none', 'malformed', { jwt: `${unsigned[0]}.${unsigned[1]}.` }),
  verdict('another type of token', 'malformed', { header: { typ: 'JWT' } }),
  verdict('an extension that must be understood', 'malformed', {
    header: { crit: ['example'], example: true },
  }),
  verdict('no expiry', 'malformed', { claims: { exp: undefined } }),
  verdict('not a JWT', 'malformed', { jwt: 'approved' }),
]

// ---- public verdicts -----------------------------------------------------------------------------------------------

const named = (kid, { publicJwk, sign }) => ({
  kid,
  sign,
  jwk: { ...publicJwk, kid, use: 'sig', alg: 'ES256' },
})
const SIGNING = named('vky_01a1fc301e9773feadea676a8f8270e5', keyOf('signing'))
const NEXT = named('vky_01a1fd5c07d27b0cb9a2a2f0a9f1c3d4', keyOf('next'))
const RETIRED = named('vky_01a1e07a3c4d7e1f8a9b0c1d2e3f4a5b', keyOf('retired'))
const FORGER = keyOf('forger')
const P384 = named(SIGNING.kid, keyOf('signing', 'P-384'))
const pem = createPublicKey({ key: SIGNING.jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const base64url = (bytes) => Buffer.from(bytes).toString('base64url')

/** @param key signs @param header replaces fields of the header @param encode the signature's form */
function publicJws({ claims = {}, key = SIGNING, header = {}, encode = (raw) => raw } = {}) {
  const input = `${part({ alg: 'ES256', typ: 'stepup+jwt', kid: key.kid, ...header })}.${part({ ...CLAIMS, ...claims })}`
  return `${input}.${base64url(encode(key.sign(input)))}`
}

/** The confusion of algorithms: an HMAC whose secret is something that everybody knows. */
function confused(secret) {
  const input = `${part({ alg: 'HS256', typ: 'stepup+jwt', kid: SIGNING.kid })}.${part(CLAIMS)}`
  return `${input}.${hmac(secret, input).digest('base64url')}`
}

/** ASN.1: SEQUENCE of two INTEGERs, whose first bit is no sign. */
function der(raw) {
  const integer = (bytes) => {
    const from = bytes.findIndex((byte) => byte !== 0)
    const value =
      bytes[from] < 0x80 ? bytes.subarray(from) : Buffer.concat([Buffer.of(0), bytes.subarray(from)])
    return Buffer.concat([Buffer.of(2, value.length), value])
  }
  const both = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))])
  return Buffer.concat([Buffer.of(0x30, both.length), both])
}

/** `keys` are those that the issuer publishes. */
function publicVerdict(title, error, jwt, { keys = [SIGNING], expected = {} } = {}) {
  return {
    title,
    valid: error === null,
    error,
    now: NOW,
    tolerance_seconds: 60,
    jwks: { keys: keys.map(({ jwk }) => jwk) },
    expected: { ...EXPECTED, ...expected },
    jwt,
  }
}

const known = publicJws()
const [knownHeader, knownClaims, knownSignature] = known.split('.')
const none = (alg) => `${part({ alg, typ: 'stepup+jwt', kid: SIGNING.kid })}.${part(CLAIMS)}.`
const publicVerdicts = [
  publicVerdict('an approval', null, known),
  publicVerdict('an approval while the next key is published', null, known, { keys: [SIGNING, NEXT] }),
  publicVerdict(
    'an approval under a retired key that is still published',
    null,
    publicJws({ key: RETIRED }),
    {
      keys: [RETIRED, SIGNING],
    },
  ),
  publicVerdict(
    'a retired key that is not published any more',
    'signature_invalid',
    publicJws({ key: RETIRED }),
  ),
  publicVerdict('an unknown key', 'signature_invalid', publicJws({ key: { ...FORGER, kid: 'vky_unknown' } })),
  publicVerdict(
    'a stranger’s signature under a known kid',
    'signature_invalid',
    publicJws({ key: { ...FORGER, kid: SIGNING.kid } }),
  ),
  publicVerdict(
    'the signature of another published key',
    'signature_invalid',
    publicJws({ key: { ...NEXT, kid: SIGNING.kid } }),
    {
      keys: [SIGNING, NEXT],
    },
  ),
  publicVerdict(
    'a stranger’s key in the header',
    'signature_invalid',
    publicJws({
      key: { ...FORGER, kid: SIGNING.kid },
      header: { jwk: FORGER.publicJwk, jku: 'https://forger.example.com/jwks.json' },
    }),
  ),
  publicVerdict('a changed claim', 'signature_invalid', `${knownHeader}.${dearer}.${knownSignature}`),
  publicVerdict('HS256 under the public key as PEM', 'malformed', confused(pem)),
  publicVerdict(
    'HS256 under the public key as PEM without its last line feed',
    'malformed',
    confused(pem.trim()),
  ),
  publicVerdict('HS256 under the public key as JWK', 'malformed', confused(JSON.stringify(SIGNING.jwk))),
  publicVerdict('HS256 under the tenant’s secret', 'malformed', genuine),
  publicVerdict('alg none', 'malformed', none('none')),
  publicVerdict('alg None', 'malformed', none('None')),
  publicVerdict(
    'alg none, with the signature of another token',
    'malformed',
    `${none('none')}${knownSignature}`,
  ),
  publicVerdict('alg ES384', 'malformed', publicJws({ header: { alg: 'ES384' } })),
  publicVerdict('a published key of another curve', 'signature_invalid', publicJws({ key: P384 }), {
    keys: [P384],
  }),
  publicVerdict('a signature in DER', 'signature_invalid', publicJws({ encode: der })),
  publicVerdict('a signature of zeros', 'signature_invalid', publicJws({ encode: () => Buffer.alloc(64) })),
  publicVerdict(
    'a signature cut short',
    'signature_invalid',
    publicJws({ encode: (raw) => raw.subarray(0, 63) }),
  ),
  publicVerdict('no signature', 'signature_invalid', `${knownHeader}.${knownClaims}.`),
  publicVerdict('another type of token', 'malformed', publicJws({ header: { typ: 'JWT' } })),
  publicVerdict('no type', 'malformed', publicJws({ header: { typ: undefined } })),
  publicVerdict('no kid', 'malformed', publicJws({ header: { kid: undefined } })),
  publicVerdict(
    'an extension that must be understood',
    'malformed',
    publicJws({ header: { crit: ['example'], example: true } }),
  ),
  publicVerdict('expired', 'expired', publicJws({ claims: { exp: NOW - 60 } })),
  publicVerdict(
    'another issuer',
    'wrong_issuer',
    publicJws({ claims: { iss: 'https://elsewhere.example.com/v1' } }),
  ),
  publicVerdict('another audience', 'wrong_audience', publicJws({ claims: { aud: 'ten_other' } })),
  publicVerdict('of the sandbox', 'wrong_environment', publicJws({ claims: { env: 'sandbox' } })),
  publicVerdict('another action', 'wrong_action', known, {
    expected: { action: { ...ACTION, amount: '9999.00' } },
  }),
  publicVerdict('no expiry', 'malformed', publicJws({ claims: { exp: undefined } })),
  publicVerdict('no key is published', 'signature_invalid', known, { keys: [] }),
  publicVerdict('not a JWT', 'malformed', 'approved'),
]
verdicts.push(verdict('a public verdict', 'malformed', { jwt: publicJws({ header: { kid: OLD.id } }) }))

// ---- API keys ------------------------------------------------------------------------------------------------------

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** CRC-32 of prefix and random part, six base62 digits, most significant first. */
function withChecksum(stem) {
  let rest = crc32(stem)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return stem + digits
}

const RANDOM = '4McI6pH7s1beayCe4zK5S5p8x8NjYH49UaAqnxelAlp'
const sandboxKey = withChecksum(`svc-sbx-${RANDOM}`)
const apiKeys = [
  { title: 'a sandbox key', key: sandboxKey, environment: 'sandbox' },
  { title: 'a production key', key: withChecksum(`svc-prod-${RANDOM}`), environment: 'production' },
  { title: 'zeros', key: withChecksum(`svc-sbx-${'0'.repeat(43)}`), environment: 'sandbox' },
  { title: 'two characters swapped', key: sandboxKey.replace('4Mc', 'M4c'), environment: null },
  { title: 'one character mistyped', key: sandboxKey.replace('4Mc', '5Mc'), environment: null },
  { title: 'cut short', key: sandboxKey.slice(0, -1), environment: null },
  { title: 'the prefix of the other kind', key: sandboxKey.replace('sbx', 'prod'), environment: null },
]

process.stdout.write(
  `${JSON.stringify({ description: 'Test vectors of Countersign. docs/examples/README.md says what each field is.', responses, actions, refused_actions: refusedActions, verdicts, public_verdicts: publicVerdicts, api_keys: apiKeys }, null, 2)}\n`,
)
