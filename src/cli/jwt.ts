/** `countersign jwt`: checks a verification JWT as a backend would, and shows its claims. */
import type { Command } from 'commander'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose'
import { TOKEN_TYPE } from '../crypto/verification-jwt.js'
import { declare } from './lib/command.js'
import { CommandError, EXIT } from './lib/output.js'
import { readStandardInput } from './lib/read-input.js'

const SECRET = /^svc-sec-\S+$/
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

export function registerJwtCommand(command: Command): void {
  declare(command, '<token>', {
    options: {
      '--secret <secret>': {
        does: 'the signing secret (svc-sec-…); "-" reads it from standard input',
        required: true,
      },
      '--audience <tenant id>': 'also require this `aud`',
    },
    async answer({ token, secret: given, audience }) {
      const secret = given === '-' ? await readStandardInput() : given
      if (!SECRET.test(secret))
        throw new CommandError('invalid_secret', 'The signing secret is malformed: expected svc-sec-…')
      if (!JWT.test(token))
        throw new CommandError(
          'invalid_jwt',
          'The token is not a JWT: expected three parts in base64url, separated by dots.',
        )
      try {
        const { payload, protectedHeader: header } = await jwtVerify(token, Buffer.from(secret), {
          algorithms: ['HS256'],
          typ: TOKEN_TYPE,
          ...(audience ? { audience } : {}),
        })
        return { valid: true as const, header, claims: payload }
      } catch (error) {
        const timing = timingOf(error)
        if (timing) {
          process.exitCode = EXIT.failed
          const { reason, seconds, claims } = timing
          return { valid: false as const, reason, seconds, header: decodeProtectedHeader(token), claims }
        }
        if (!(error instanceof errors.JOSEError)) throw error
        throw new CommandError(
          'invalid_jwt',
          audienceMismatch(error, audience) ?? `${error.message}${keyHint(token, error)}`,
        )
      }
    },
    text: (view) =>
      [
        view.valid ? verdictLine(view.claims, view.header.kid) : timingLine(view),
        JSON.stringify(view.claims, null, 2),
      ].join('\n'),
  })
}

/** The warning of a genuine token that carries a rejection, so that nobody reads it as an approval. */
function verdictLine({ verdict, reason }: JWTPayload, kid: string | undefined): string {
  if (verdict !== 'rejected') return `Valid, signed with ${kid}.`
  return `Genuine, but a rejection: ${typeof reason === 'string' ? reason : 'no reason named'} (signed with ${kid}).`
}

/** The audiences where the token's is not the expected one; null for any other error. */
function audienceMismatch(error: unknown, asked: string | undefined): string | null {
  if (!(error instanceof errors.JWTClaimValidationFailed) || error.claim !== 'aud') return null
  const { aud } = error.payload
  if (aud === undefined) return `The token has no \`aud\`, and --audience asks for ${asked}.`
  return `The token is for ${[aud].flat().join(', ')} (\`aud\`), and --audience asks for ${asked}.`
}

/** A failed signature most often means another secret: the header has the id of the right one. */
function keyHint(token: string, error: unknown): string {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) return ''
  const { kid } = decodeProtectedHeader(token)
  return `: the token names the secret ${kid}, and the secret given is not that one, or the token was changed`
}

interface Timing {
  reason: 'expired' | 'not_yet_valid'
  /** How long ago the token expired, or how long until it becomes valid, by this machine's clock. */
  seconds: number
  claims: JWTPayload
}

/** The time of a token that is expired or not valid yet; null for any other error. Signature, type and audience are checked before the time. */
function timingOf(error: unknown): Timing | null {
  const now = Math.floor(Date.now() / 1000)
  if (error instanceof errors.JWTExpired && typeof error.payload.exp === 'number')
    return { reason: 'expired', seconds: now - error.payload.exp, claims: error.payload }
  const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf'
  if (isEarly && typeof error.payload.nbf === 'number')
    return { reason: 'not_yet_valid', seconds: error.payload.nbf - now, claims: error.payload }
  return null
}

function timingLine({ reason, seconds, claims }: Timing): string {
  const time = describeSeconds(seconds)
  return reason === 'expired'
    ? `Expired ${time} ago; the rest holds.`
    : `Not valid yet: from ${new Date(claims.nbf! * 1000).toISOString()} on, in ${time}. Is this machine's clock right? The rest holds.`
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** The largest unit of a duration and the one below it, such as `3 h 2 min`. */
function describeSeconds(seconds: number): string {
  const counts = UNITS.map(([unit, size], index) => {
    const rest = seconds % (UNITS[index - 1]?.[1] ?? Number.POSITIVE_INFINITY)
    return { unit, count: Math.floor(rest / size) }
  })
  const first = counts.findIndex(({ count }) => count > 0)
  const parts = counts.slice(first, first + 2).filter(({ count }) => count > 0)
  return parts.map(({ unit, count }) => `${count} ${unit}`).join(' ') || '0 s'
}
