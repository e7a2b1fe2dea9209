/** `countersign jwt`: checks a verification JWT as a backend would, and shows its claims. */
import type { Command } from 'commander'
import { decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { TOKEN_TYPE } from '../crypto/verification-jwt.js'
import { action, CommandError, type OutputOptions, print } from './output.js'
import { readStandardInput } from './standard-input.js'

const SECRET = /^svc-sec-\S+$/
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

export function registerJwtCommand(command: Command): void {
  command
    .requiredOption('--secret <secret>', 'the signing secret (svc-sec-…); "-" reads it from standard input')
    .option('--audience <tenant id>', 'also require this `aud`')
    .option('--json', 'print JSON')
    .action(
      action(async (token: string, options: OutputOptions & { secret: string; audience?: string }) => {
        const secret = options.secret === '-' ? await readStandardInput() : options.secret
        if (!SECRET.test(secret))
          throw new CommandError('invalid_secret', 'That is no signing secret: expected svc-sec-…')
        if (!JWT.test(token))
          throw new CommandError(
            'invalid_jwt',
            'That is no JWT: expected three parts in base64url with dots between them.',
          )
        try {
          const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(secret), {
            algorithms: ['HS256'],
            typ: TOKEN_TYPE,
            ...(options.audience ? { audience: options.audience } : {}),
          })
          print(options, { valid: true, header: protectedHeader, claims: payload }, () =>
            [`Valid, signed with ${protectedHeader.kid}.`, JSON.stringify(payload, null, 2)].join('\n'),
          )
        } catch (error) {
          if (!(error instanceof errors.JOSEError)) throw error
          throw new CommandError('invalid_jwt', `${error.message}${keyHint(token, error)}`)
        }
      }),
    )
}

/** A failed signature most often means another secret: its id is in the header. */
function keyHint(token: string, error: unknown): string {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) return ''
  const { kid } = decodeProtectedHeader(token)
  return `: the token names the secret ${kid}, and the secret given is not that one, or the token was changed`
}
