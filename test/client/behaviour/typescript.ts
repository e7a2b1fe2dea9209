/** Drives the TypeScript SDK, which needs no program of its own: its commands and answers are those of README.md. */
import { Countersign, CountersignError, type CountersignOptions } from '../../../clients/node/index.js'
import type { Command, Driver, Said } from './driver.js'

const KINDS: Record<string, string> = {
  ApiError: 'api',
  ConnectionError: 'connection',
  TimeoutError: 'timeout',
  UnexpectedResponseError: 'unexpected',
  SignatureError: 'signature',
  VerdictError: 'verdict',
}

// biome-ignore lint/suspicious/noExplicitAny: each command has members of its own
type Members = Record<string, any>

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
// biome-ignore lint/suspicious/noExplicitAny: what a caller in JavaScript may pass
const inCamel = (options: object = {}): any =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value]))

// biome-ignore lint/suspicious/noExplicitAny: the scenarios hold the types
const COMMANDS: Record<string, (client: Countersign, request: any, options: any) => Promise<unknown>> = {
  enroll: (client, request, options) => client.enroll(request, options),
  add_photos: (client, request, options) => client.addPhotos(request, options),
  assess_photos: (client, request, options) => client.assessPhotos(request, options),
  verify: (client, request, options) => client.verify(request, options),
  delete: (client, { user_id }, options) => client.delete(user_id, options),
  get_user: (client, { user_id }, options) => client.getUser(user_id, options),
  get_verification: (client, { verification_id, ...known }, options) =>
    client.getVerification(verification_id, known, options),
  guide: (client, request, options) => client.guide(request, options),
  create_challenge: (client, request, options) => client.createChallenge(request, options),
  create_capture_session: (client, request, options) => client.createCaptureSession(request, options),
  get_capture_session: (client, { session_id, proof }, options) =>
    client.getCaptureSession(session_id, { proof, ...options }),
  begin_passkey_registration: (client, { user_id, ...request }, options) =>
    client.beginPasskeyRegistration(user_id, request, options),
  register_passkey: (client, { user_id, ...request }, options) =>
    client.registerPasskey(user_id, request, options),
  list_passkeys: (client, { user_id }, options) => client.listPasskeys(user_id, options),
  cancel_passkey_recovery: (client, { user_id }, options) => client.cancelPasskeyRecovery(user_id, options),
  revoke_passkey: (client, { user_id, passkey_id }, options) =>
    client.revokePasskey(user_id, passkey_id, options),
  begin_passkey_assertion: (client, { user_id, ...request }, options) =>
    client.beginPasskeyAssertion(user_id, request, options),
  audit_page: (client, request, options) => client.auditPage(request, options),
  async audit_entries(client, request, options) {
    const entries = []
    for await (const entry of client.auditEntries(request, options)) entries.push(entry)
    return entries
  },
  health: (client, _request, options) => client.health(options),
  rotate_signing: (client, request, options) => client.rotateSigning(request, options),
  async verify_verdict(client, { token, session_id, proof, ...expected }) {
    const source = session_id === undefined ? token : await client.getCaptureSession(session_id, { proof })
    return client.verifyVerdict(source, inCamel(expected))
  },
  verify_webhook: (client, { headers, body }) => client.verifyWebhook(headers, body),
}

export function typescriptDriver(): Driver {
  const clients = new Map<string, Countersign>()
  const secrets = new Map<string, CountersignOptions['signingSecret']>()
  let now = 0

  async function run({ do: what, name, request, options = {} }: Command): Promise<unknown> {
    if (what === 'secrets') return void secrets.set(name, request as string[])
    if (what !== 'client') return COMMANDS[what]!(clients.get(name)!, request ?? {}, inCamel(options))
    const { signing_secret, timeout_seconds, ...others } = options as Members
    secrets.set(name, signing_secret)
    const client = new Countersign({
      ...inCamel(others),
      ...(timeout_seconds === undefined ? {} : { timeoutMs: timeout_seconds * 1000 }),
      signingSecret: async () => secrets.get(name) as string[],
      now: () => now * 1000,
    })
    return void clients.set(name, client)
  }

  return {
    async say(command) {
      now = command.now
      const said = await run(command).then(
        (value) => ({ value: value ?? null, ...responseOf(value ?? {}) }),
        (error) => ({ error: errorOf(error) }),
      )
      // In the form in which a program says it.
      return JSON.parse(JSON.stringify(said)) as Said
    },
    complaints: '',
    stop: async () => {},
  }
}

function errorOf(error: Members) {
  const { code, message, httpStatus: status, requestId, details, remedy, category, reason } = error
  return {
    kind: error instanceof CountersignError ? (KINDS[error.name] ?? error.name) : 'argument',
    ...{ code, message, status, details, remedy, category, reason },
    ...{ attempts: error.attempts, verified: error.verified, request_id: requestId },
    retry_after_seconds: error.retryAfterSeconds,
  }
}

function responseOf({ response }: Members) {
  if (response === undefined) return {}
  const { status, attempts, replayed, requestId, retryAfterSeconds } = response
  return {
    response: { status, attempts, replayed, request_id: requestId, retry_after_seconds: retryAfterSeconds },
  }
}
