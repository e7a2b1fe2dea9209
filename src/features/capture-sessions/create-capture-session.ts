/** POST /v1/capture-sessions: a link to the hosted capture page, for one user and one action. */

import { isIP } from 'node:net'
import Type, { type Static } from 'typebox'
import { actionField } from '../../api/action.js'
import { assertLivenessOffered } from '../../api/captures.js'
import type { Commit, EndpointDescription, Topic, UserEndpoint } from '../../api/endpoint.js'
import { assertPlainUserId, assertReplaceVerdict } from '../../api/enrolment-checks.js'
import { assertActionScope, assertOneOf } from '../../api/key-scope.js'
import { choice, nullable, ownId, requireLiveness, text, time, userId, words } from '../../api/schemas.js'
import type { Services } from '../../api/services.js'
import { isReadableLine, isReadableText, READABLE } from '../../contract/actions/readable-text.js'
import { DISPLAY_LOCALES } from '../../contract/locales.js'
import { isoTime } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import { safeOrigin } from '../../tenants/safe-origin.js'
import type { UserCall } from '../../verification/call.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import {
  actionFor,
  assertVerifiable,
  modesField,
  type Purpose,
  purposeField,
  type VerifiableParts,
} from '../challenges/exports.js'
import { assertPayees, payeesField, typedActions } from '../displayed-actions/exports.js'
import { passkeyField, passkeyOptions, passkeyServices, passkeySettings } from '../passkeys/exports.js'
import { assertCaptureMeets, policyServices } from '../policies/exports.js'
import { browserWords } from './browser-words.js'
import {
  capturePageSettings,
  MAX_CONSENT_CHARACTERS,
  MAX_VERSION_CHARACTERS,
} from './capture-page-settings.js'
import type { CaptureSessionBook } from './capture-session-book.js'

export const CAPTURE: Topic = { name: 'capture', about: 'The hosted capture page.' }

const NO_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const BINDINGS = ['same', 'any'] as const
export const bindingView = words(BINDINGS, '`browser` of the request.')
const bindingField = words(
  BINDINGS,
  '`same` (default): the result is given out only with the proof that the browser which captured brings back. `any`: also without, for links that are opened on another device than the one that goes on. A person who passes such a link on gets the result of the one who opens it, and the JWT says `capture_binding: "any"`.',
)

/** The kinds of actions that a verify knows. */
const KINDS = [typedActions]

const body = Type.Object(
  {
    user_id: userId,
    purpose: Type.Optional(purposeField),
    action: Type.Optional(actionField(KINDS)),
    payees: Type.Optional(payeesField('Only for a verification')),
    modes: Type.Optional(modesField),
    require_liveness: Type.Optional(requireLiveness),
    passkey: Type.Optional(passkeyField),
    replace: choice('Only for an enrollment: the field `replace` of `enroll`.'),
    confirmation: Type.Optional(
      words(
        ['code', 'none'],
        '`code`: the page first asks for `confirmation_code`. Send it to the person by another channel than the link. `none`: the link is enough for the first person who opens it. Default: `code` for an enrollment, `none` for a verification.',
      ),
    ),
    verification_id: Type.Optional(
      ownId('Only for an enrollment that replaces: the field `verification_id` of `enroll`.'),
    ),
    return_url: Type.String({
      minLength: 1,
      maxLength: 1024,
      description:
        'Address to which the page leads the person at the end, with `capture_session=<id>` and `capture_proof=<proof>` added to the query. Its origin must be allowed for the tenant.',
      examples: ['https://bank.example/transfers/4711'],
    }),
    browser: Type.Optional(bindingField),
    locale: Type.Optional(
      words(DISPLAY_LOCALES, 'Language of the page. Default: what the browser asks for.'),
    ),
    description: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NO_CONTROL_CHARACTERS,
        description:
          'The action in words, shown on the page to the person who confirms it. It holds no invisible characters and none that change the direction of writing.',
        examples: ['Transfer of 1250.00 EUR to Grace Hopper'],
      }),
    ),
    consent: Type.Optional(
      Type.Object(
        {
          id: Type.String({
            minLength: 1,
            maxLength: MAX_VERSION_CHARACTERS,
            pattern: NO_CONTROL_CHARACTERS,
          }),
          text: Type.String({ minLength: 1, maxLength: MAX_CONSENT_CHARACTERS }),
        },
        {
          title: 'ConsentText',
          additionalProperties: false,
          description:
            'The text that the person agrees to before the camera starts, instead of the tenant’s.',
        },
      ),
    ),
    began: Type.Optional(
      Type.Object(
        {
          ip: Type.Optional(
            Type.String({ maxLength: 45, description: 'Address of the visitor.', examples: ['203.0.113.7'] }),
          ),
          user_agent: Type.Optional(
            Type.String({
              maxLength: 1024,
              pattern: NO_CONTROL_CHARACTERS,
              description: 'Header `User-Agent` of the visitor. The page shows browser and system in words.',
            }),
          ),
        },
        {
          title: 'CaptureSessionBegan',
          additionalProperties: false,
          description:
            'Facts about the visitor who began what is to be confirmed. The page then says when and where that was, and has a button “No, that was not me”. `{}` shows only the time.',
        },
      ),
    ),
  },
  { title: 'CaptureSessionRequest', additionalProperties: false },
)

const success = Type.Object(
  {
    session_id: Type.String(),
    url: text('Link to send to the person. It opens in one browser, once. No other call returns it.'),
    confirmation_code: nullable(
      Type.String({
        description:
          'Six digits, returned only here. Send them to the person by another channel than the link. After five wrong codes the session ends. Null where the page asks for no code.',
        examples: ['493028'],
      }),
    ),
    user_id: userId,
    purpose: purposeField,
    browser: bindingView,
    expires_at: time('When the session expires.'),
  },
  { title: 'CaptureSessionLink' },
)

export const createCaptureSessionDescription: EndpointDescription = {
  id: 'create_capture_session',
  topic: CAPTURE,
  sdkName: 'createCaptureSession',
  example: {
    user_id: 'ada+match',
    action: { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' },
    description: 'Transfer of 1250.00 EUR to Grace Hopper',
    return_url: 'https://bank.example/transfers/4711',
  },
  alwaysKeeps: true,
  method: 'POST',
  path: '/v1/capture-sessions',
  summary: 'Have a face captured on the hosted page',
  description:
    'Makes a link to the capture page of this installation. The page asks for a code where one is wanted and for consent, then runs the camera and a challenge, with up to three tries. The backend reads the result at `GET /v1/capture-sessions/{session_id}`; the person returns with the id of the session and a proof, without which the session gives no result.',
  body,
  success: { status: 201, description: 'The link.', schema: success },
  errors: [
    'capture_page_unavailable',
    'return_url_not_allowed',
    'replace_verdict_required',
    'already_enrolled',
    'reference_not_found',
    'reference_model_mismatch',
    'locked_out',
    'liveness_required',
    'liveness_unavailable',
    'passkeys_unavailable',
    'passkey_origin_not_allowed',
    'passkey_not_found',
    'passkey_limit_reached',
    'policy_not_met',
    'overloaded',
  ],
  // The list of a batch has up to 1,000 payees.
  maxBodyBytes: 262_144,
  idempotent: true,
  scopes: ['verify', 'enroll'],
}

type Input = Static<typeof body>

export function createCaptureSession(
  services: Services & { captureSessions: CaptureSessionBook },
): UserEndpoint<Input> {
  const { captureSessions } = services
  const policies = policyServices(services)
  return {
    ...createCaptureSessionDescription,
    aboutUser: true,
    async handle(call): Promise<Commit> {
      const { input, tenant, environment, keyId, user } = call
      const purpose: Purpose = input.purpose ?? 'verify'
      assertOneOf(call.scopes, [purpose], 'purpose')
      assertActionScope(call.scopes, input.action)
      if (input.replace) assertOneOf(call.scopes, ['replace'], 'replace')
      actionFor(purpose, input.action, KINDS)
      assertPayees(input.action, input.payees)
      assertReadable(input)
      const origin = services.origin('capture')
      if (origin === null) throw new DomainError('capture_page_unavailable')
      assertReturnAllowed(tenant, input.return_url, services.origin('openid'))
      const provider = decidingProvider(services.provider, tenant)
      if (!provider.takesFilms) throw new DomainError('liveness_unavailable')
      assertLivenessOffered(services, call, input.modes?.length !== 0)
      if (purpose === 'verify') {
        if (!call.isDiscreet) await assertVerifiable(services, call)
        await assertCaptureMeets(policies, call, input.browser ?? 'same')
      } else await assertEnrollable(services, call)
      await assertPasskeyOffered(services, call, purpose, origin)
      return async (tx) => {
        const { blindIndex } = user
        const binding = input.browser ?? 'same'
        const { id, token, code, expiresAt } = await captureSessions.issue(
          tx,
          { tenantId: tenant.id, environment, keyId, blindIndex, purpose, binding },
          {
            userId: input.user_id,
            action: input.action,
            payees: input.payees,
            modes: input.modes,
            requireLiveness: input.require_liveness,
            passkey: input.passkey,
            replace: input.replace,
            verificationId: input.verification_id,
            returnUrl: input.return_url,
            isDiscreet: call.isDiscreet,
            keepsDevice: call.keepsDevice,
            locale: input.locale,
            description: input.description,
            consent: input.consent && { version: input.consent.id, text: input.consent.text },
            began: input.began && {
              ip: input.began.ip,
              browser: browserWords(input.began.user_agent ?? ''),
            },
          },
          { asksForCode: (input.confirmation ?? (purpose === 'verify' ? 'none' : 'code')) === 'code' },
        )
        return {
          status: 201,
          body: {
            session_id: id,
            url: `${origin}/capture/${token}`,
            confirmation_code: code,
            user_id: input.user_id,
            purpose,
            browser: binding,
            expires_at: isoTime(expiresAt),
          },
          // Link and code: a holder of the database and the service's keys must not be able to use them.
          onlyForCaller: true,
        }
      }
    },
  }
}

/** Refuses texts whose characters could make the person read something else. @throws DomainError invalid_request */
function assertReadable({ description = '', consent, began }: Input): void {
  const readable: Array<[string, boolean]> = [
    ['description', isReadableLine(description)],
    ['consent.id', isReadableLine(consent?.id ?? '')],
    ['consent.text', isReadableText(consent?.text ?? '')],
  ]
  const details = readable.filter(([, isFine]) => !isFine).map(([path]) => ({ path, issue: READABLE }))
  if (began?.ip !== undefined && isIP(began.ip) === 0)
    details.push({ path: 'began.ip', issue: 'must be an IPv4 or IPv6 address' })
  if (details.length > 0) throw new DomainError('invalid_request', { details })
}

/** @throws DomainError return_url_not_allowed */
function assertReturnAllowed(tenant: TenantRecord, returnUrl: string, own: string | null): void {
  const origin = safeOrigin(returnUrl)
  if (origin === null)
    throw new DomainError('return_url_not_allowed', {
      message: '`return_url` must be an https URL (http only for localhost), without user name and password.',
      remedy:
        'Send the full address to which the person returns, such as https://bank.example/transfers/4711.',
    })
  const { returnOrigins } = capturePageSettings(tenant)
  if (origin === own || returnOrigins.includes(origin)) return
  const allowed = returnOrigins.length > 0 ? `allowed are ${returnOrigins.join(', ')}` : 'none is allowed yet'
  throw new DomainError('return_url_not_allowed', {
    message: `The capture page of this tenant may not lead back to ${origin}: ${allowed}.`,
    remedy: `Have the operator allow it: \`countersign tenant capture-page ${tenant.name} --return-origin ${[...returnOrigins, origin].join(' ')}\`.`,
  })
}

/** @throws DomainError invalid_request, already_enrolled, replace_verdict_required */
async function assertEnrollable(
  { vault, store, clock }: VerifiableParts,
  { input, tenant, user }: UserCall<Input>,
): Promise<void> {
  assertPlainUserId(input.user_id)
  const existing = await vault.find(store.read, user.blindIndex, user.id)
  if (!existing?.reference) return
  if (!input.replace) throw new DomainError('already_enrolled')
  await assertReplaceVerdict(store.read, tenant, existing.record, input.verification_id, clock.now())
}

/** @throws DomainError passkeys_unavailable, passkey_origin_not_allowed, passkey_not_found, passkey_limit_reached */
async function assertPasskeyOffered(
  services: Services,
  call: UserCall<Input>,
  purpose: Purpose,
  origin: string,
): Promise<void> {
  const options = await passkeyOptions(passkeyServices(services), call, purpose, call.input.passkey)
  const isAllowed = passkeySettings(call.tenant)?.origins.includes(new URL(origin).origin)
  if (options && !isAllowed)
    throw new DomainError('passkey_origin_not_allowed', {
      message: `The capture page is at ${origin}, which is no origin of the tenant’s passkeys.`,
    })
}
