/** The routes of the page "Try it": the engine's findings on a photo, and real calls of the API with a key that the person types. */
import { timingSafeEqual } from 'node:crypto'
import { compactVerify, decodeProtectedHeader, type JWTPayload } from 'jose'
import { livenessView, measuredView } from '../../api/views.js'
import {
  SIGNATURE_HEADER,
  type SignedParts,
  type SigningSecret,
  signResponse,
} from '../../crypto/response-signature.js'
import type { Reply } from '../../http/listeners/listener.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import { parseApiKey } from '../../tenants/api-key.js'
import { assertAllowed } from '../../tenants/rate-limiter.js'
import { schedulingClassOf } from '../../tenants/tenancy.js'
import { decodeImages } from '../../verification/capture/images.js'
import { livenessStatement } from '../../verification/liveness.js'
import { TRIED_KEY_HEADER } from '../constants.js'
import { DashboardError } from '../dashboard-error.js'
import { base64 } from '../lib/bodies.js'
import { asks, tenantRoute } from './route.js'

const OPERATIONS = {
  challenge: '/v1/challenges',
  enroll: '/v1/enroll',
  guidance: '/v1/guidance',
  verify: '/v1/verify',
}

export const TRY_ROUTES = {
  /** Reports the face that the engine finds in a photo. Nothing is stored. */
  'POST /try/inspect': tenantRoute({
    right: 'write',
    harmless: 'It assesses a photo that the person has, and stores nothing.',
    body: { image: base64 },
    takesLargeBody: true,
    async answer({ services, tenant, input, request, deadlineMs }) {
      // An inspection counts as a call in the sandbox, so that production's verdicts have precedence.
      const contract = services.core.tenancy.rateContract(tenant, 'sandbox')
      assertAllowed(await services.rateLimiter.take(contract.holder, contract))
      const { images } = await decodeImages(input)
      const { samples, timingsMs } = await services.engine.enrol(images, {
        // The photo is assessed but not refused, since a photo to verify may be poorer than one to enrol.
        assessOnly: true,
        signal: request.signal,
        deadlineMs,
        schedulingClass: schedulingClassOf(contract, 'sandbox'),
      })
      const { box, landmarks, quality, liveness } = samples[0]!
      return {
        box,
        landmarks,
        quality: measuredView(quality),
        liveness: livenessView(livenessStatement(liveness, services.engine.pack.modelId)),
        timings_ms: timingsMs,
      }
    },
  }),

  /**
   * Makes a call of the API, as if it had come over the API's listener. Takes the body of the call unchanged, under the API's own rules for
   * bodies. The key stands in the header TRIED_KEY_HEADER.
   */
  'POST /try/call': tenantRoute({
    right: 'write',
    harmless: 'The API key that the person types decides what the call may do.',
    query: asks<{ operation: keyof typeof OPERATIONS }>(),
    givesSecret: true,
    takesLargeBody: true,
    async answer({ services, tenant, query, request }) {
      const { core, apis } = services
      const operation = query.get('operation')
      const [, path] = Object.entries(OPERATIONS).find(([name]) => name === operation) ?? []
      if (!path) throw invalidField('operation', 'must be challenge, enroll, guidance or verify')
      const key = request.headers[TRIED_KEY_HEADER.toLowerCase()] ?? ''
      const environment = parseApiKey(key)
      if (environment === null) throw new DomainError('malformed_api_key')
      const authorization = `Bearer ${key}`
      const caller = await core.tenancy.authenticate(authorization, environment)
      if (caller.tenant.id !== tenant.id)
        throw new DashboardError('not_permitted', 'The key belongs to another tenant.')
      const { remoteAddress, encrypted, signal, body } = request
      const answer = await apis[environment]({
        ...{ remoteAddress, encrypted, signal, body },
        query: '',
        method: 'POST',
        path,
        headers: {
          authorization,
          'content-type': request.headers['content-type'],
          'x-forwarded-for': request.headers['x-forwarded-for'],
        },
      })
      answer.afterwards?.()
      const { outgoing, incoming } = await core.secrets.active(core.store.read, tenant.id)
      const secrets = incoming ? [outgoing, incoming] : [outgoing]
      const text = answer.body.toString()
      const parsed = JSON.parse(text) as Record<string, unknown> & { jwt?: string }
      return {
        environment,
        status: answer.status,
        headers: answer.headers,
        body: parsed,
        signature_valid: isSigned(answer, { environment, target: path, body: text }, secrets),
        ...(parsed.jwt ? { jwt: await checkJwt(parsed.jwt, secrets) } : {}),
      }
    },
  }),
}

function isSigned(
  { status, headers }: Reply,
  call: Pick<SignedParts, 'environment' | 'target' | 'body'>,
  secrets: SigningSecret[],
): boolean {
  const given = Buffer.from(headers[SIGNATURE_HEADER] ?? '')
  const timestamp = Number(/^t=(\d+),/.exec(given.toString())?.[1])
  const requestId = headers['X-Request-Id'] ?? ''
  const parts = { ...call, timestamp, requestId, status, method: 'POST' }
  const expected = Buffer.from(signResponse(parts, secrets))
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function checkJwt(token: string, secrets: SigningSecret[]) {
  const { kid } = decodeProtectedHeader(token)
  const secret = secrets.find(({ id }) => id === kid)
  if (!secret) return { valid: false, kid, claims: null }
  try {
    // Only the signature is checked here: the page shows the times of the token as they are.
    const { payload } = await compactVerify(token, Buffer.from(secret.secret))
    return { valid: true, kid, claims: JSON.parse(Buffer.from(payload).toString()) as JWTPayload }
  } catch {
    return { valid: false, kid, claims: null }
  }
}
