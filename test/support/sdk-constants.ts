/** Writes the constants that the SDK shares with the service: error codes, and the sentences and fields of the service in memory. */

import { GUIDANCE_TEXTS } from '../../src/capture/guidance-texts.js'
import { CAPTURE_LANGUAGES } from '../../src/config/capture-languages.js'
import { ERRORS, type ErrorCode } from '../../src/lib/error-codes.js'
import { API_ERRORS } from './api-errors.js'
import { formatted } from './wire-types.js'

/** Codes with which the service in memory refuses requests. */
const FAKE_CODES = [
  ...['invalid_request', 'invalid_api_key', 'insufficient_scope', 'unknown_endpoint', 'reference_not_found'],
  ...['already_enrolled', 'locked_out', 'rotation_in_progress', 'secret_already_told', 'challenge_not_found'],
  ...[
    'challenge_used',
    'challenge_expired',
    'challenge_mismatch',
    'liveness_required',
    'liveness_unavailable',
  ],
  ...[
    'return_url_not_allowed',
    'capture_session_not_found',
    'capture_proof_invalid',
    'verification_not_found',
    'idempotency_key_reused',
    'face_not_found',
  ],
  ...[
    'passkeys_unavailable',
    'passkey_verdict_required',
    'passkey_proof_required',
    'passkey_recovery_pending',
    'passkey_recovery_not_found',
    'replace_verdict_required',
    'passkey_already_registered',
    'passkey_limit_reached',
  ],
  ...['passkey_required', 'passkey_not_found', 'passkey_invalid', 'passkey_challenge_mismatch'],
  ...['passkey_origin_not_allowed', 'passkey_rp_mismatch', 'passkey_user_not_verified'],
  ...['passkey_counter_reversed', 'passkey_not_allowed', 'policy_not_met'],
  ...['multiple_faces', 'low_quality', 'liveness_failed', 'different_people', 'rate_limited', 'overloaded'],
] as ErrorCode[]

/** @returns the text of `src/contract/error-codes.ts` */
export function errorCodes(): string {
  const categories = [...new Set(Object.values(ERRORS).map(({ category }) => category))]
  return formatted(
    `/** Codes and categories of the service's errors. Generated from the service's registry: \`npm run docs\` writes this file. */

/** Every \`code\` that an error of this version of the service can have. */
export const ERROR_CODES = ${JSON.stringify(Object.keys(ERRORS))} as const

/** The exact reason of an error. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** Every category of errors. */
export const ERROR_CATEGORIES = ${JSON.stringify(categories)} as const

/** The kind of an error, which decides what an application does about it. */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number]
`,
    'src/contract/error-codes.ts',
  )
}

/** @param document the OpenAPI document @returns the text of `src/client/testing/service-texts.ts` */
export function serviceTexts(document: object): string {
  const errors = Object.fromEntries(FAKE_CODES.map((code) => [code, API_ERRORS[code]]))
  const codes = FAKE_CODES.map((code) => `'${code}'`).join(' | ')
  return formatted(
    `/** Sentences and fields of the service for the service in memory. Generated from the service: \`npm run docs\` writes this file. */
import type { ErrorCategory } from '../../contract/error-codes.js'
import type { PhotoGuidance } from '../types.js'

interface FakeError {
  /** HTTP status. */
  status: number
  category: ErrorCategory
  message: string
  remedy: string
}

/** The errors that the service in memory answers with. */
export const FAKE_ERRORS: Readonly<Record<${codes}, FakeError>> = ${JSON.stringify(errors)}

/** Sentences that a person can be shown about a refused photo. */
export const FAKE_HINTS: Readonly<Record<PhotoGuidance, string>> = ${JSON.stringify(GUIDANCE_TEXTS)}

/** The fields of the body of each call, by method and path. */
export const FAKE_FIELDS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(fieldsOf(document))}

/** Languages of the capture page. */
export const FAKE_LOCALES: readonly string[] = ${JSON.stringify(CAPTURE_LANGUAGES)}
`,
    'src/client/testing/service-texts.ts',
  )
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
function fieldsOf({ paths, components }: any): Record<string, string[]> {
  const resolved = (schema: { $ref?: string }) =>
    schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!] : schema
  const fields: Record<string, string[]> = {}
  for (const [path, operations] of Object.entries<object>(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (!requestBody) continue
      const whole = resolved(requestBody.content['application/json'].schema)
      const names = (whole.oneOf ?? [whole]).flatMap((one: object) => Object.keys(resolved(one).properties))
      fields[`${method.toUpperCase()} ${path.replace(/^\/v1/, '')}`] = [...new Set<string>(names)]
    }
  return fields
}
