/**
 * ECDSA with SHA-256 whose signatures are the same in every run (RFC 6979), for test vectors only: node:crypto signs with random numbers.
 * It is slow, and its time depends on the key: never sign anything real with it.
 */
import { createHash, createHmac } from 'node:crypto'

/** FIPS 186-5 and SP 800-186: field, order, base point and the coefficient b; a is -3. */
const CURVES = {
  'P-256': {
    bytes: 32,
    p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
    x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  },
  'P-384': {
    bytes: 48,
    p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffffn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
    x: 0xaa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7n,
    y: 0x3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5fn,
  },
}

const mod = (value, m) => ((value % m) + m) % m
const big = (bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
const bytesOf = (value, length) => Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex')

/** By Fermat: p and n are prime. */
function inverse(value, m) {
  let result = 1n
  let base = mod(value, m)
  for (let rest = m - 2n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * base) % m
    base = (base * base) % m
  }
  return result
}

function add({ p }, one, other) {
  if (!one) return other
  if (!other) return one
  if (one.x === other.x && one.y !== other.y) return null
  const slope =
    one.x === other.x
      ? (3n * one.x * one.x - 3n) * inverse(2n * one.y, p)
      : (other.y - one.y) * inverse(other.x - one.x, p)
  const x = mod(slope * slope - one.x - other.x, p)
  return { x, y: mod(slope * (one.x - x) - one.y, p) }
}

function multiply(curve, factor) {
  let result = null
  let base = { x: curve.x, y: curve.y }
  for (let rest = factor; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = add(curve, result, base)
    base = add(curve, base, base)
  }
  return result
}

/** A key pair that follows from a text. @returns its public half as a JWK, and a function that signs a text */
export function keyOf(seed, crv = 'P-256') {
  const curve = CURVES[crv]
  const d = mod(big(createHash('sha512').update(seed).digest()), curve.n - 1n) + 1n
  const { x, y } = multiply(curve, d)
  const base64url = (value) => bytesOf(value, curve.bytes).toString('base64url')
  return {
    publicJwk: { kty: 'EC', crv, x: base64url(x), y: base64url(y) },
    /** @returns r and s, each as long as the curve's order */
    sign: (text) => sign(curve, d, createHash('sha256').update(text).digest()),
  }
}

function sign(curve, d, digest) {
  const { n, bytes } = curve
  // SHA-256 is not longer than the order of either curve.
  const z = big(digest)
  for (const k of candidates(curve, d, z)) {
    const r = mod(multiply(curve, k).x, n)
    const s = mod(inverse(k, n) * (z + r * d), n)
    if (r > 0n && s > 0n) return Buffer.concat([bytesOf(r, bytes), bytesOf(s, bytes)])
  }
  throw new Error('no number fits')
}

/** RFC 6979, section 3.2. */
function* candidates({ n, bytes }, d, z) {
  const hmac = (key, ...parts) => createHmac('sha256', key).update(Buffer.concat(parts)).digest()
  const facts = Buffer.concat([bytesOf(d, bytes), bytesOf(mod(z, n), bytes)])
  let v = Buffer.alloc(32, 1)
  let key = Buffer.alloc(32, 0)
  for (const step of [0, 1]) {
    key = hmac(key, v, Buffer.of(step), facts)
    v = hmac(key, v)
  }
  for (;;) {
    let bits = Buffer.alloc(0)
    while (bits.length < bytes) {
      v = hmac(key, v)
      bits = Buffer.concat([bits, v])
    }
    const k = big(bits.subarray(0, bytes))
    if (k > 0n && k < n) yield k
    key = hmac(key, v, Buffer.of(0))
    v = hmac(key, v)
  }
}
