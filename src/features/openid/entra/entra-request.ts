/** Reads the form by which Entra ID asks for a second factor, after Microsoft's reference for providers of external methods. */
import { claimValues } from '../asked-acr.js'
import { RefusedRequest } from '../refusals.js'

export interface EntraRequest {
  hint: string
  nonce: string
  state: string | undefined
  /** The one value of those asked for that a face satisfies. */
  acr: string
}

/** Values of `acr` that a factor of the kind "something you are" satisfies. */
export const FACE_ACR_VALUES = [
  'possessionorinherence',
  'inherence',
  'knowledgeorinherence',
  'knowledgeorpossessionorinherence',
]
/** The method that an answer names, which is of the kind "something you are". */
export const FACE_AMR = 'face'

const MAX_ECHOED = 4096

/** The parameters of a form. @throws RefusedRequest request_not_valid for one that is there twice */
export function formOf(body: Buffer): Map<string, string> {
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body.toString())) {
    if (form.has(name)) throw new RefusedRequest('request_not_valid', `${name.slice(0, 40)} is there twice`)
    form.set(name, value)
  }
  return form
}

/** Microsoft's table says `redirect_url`, its example says `redirect_uri`. Undefined where they differ. */
export function redirectUriIn(form: ReadonlyMap<string, string>): string | undefined {
  const named = [form.get('redirect_uri'), form.get('redirect_url')].filter((uri) => uri !== undefined)
  return new Set(named).size === 1 ? named[0] : undefined
}

/** The rest of the form. Other parameters are ignored, as the reference asks. @throws RefusedRequest */
export function readRequest(form: ReadonlyMap<string, string>): EntraRequest {
  const fixed: Array<[string, (value: string) => boolean]> = [
    ['scope', (value) => value.split(' ').includes('openid')],
    // Microsoft's table writes it with a capital letter.
    ['response_type', (value) => value.toLowerCase() === 'id_token'],
    ['response_mode', (value) => value === 'form_post'],
  ]
  for (const [name, isFine] of fixed) if (!isFine(form.get(name) ?? '')) refuse(name)
  const nonce = form.get('nonce')
  // An ID token that comes through the browser is bound to its request only by the nonce (OpenID Connect Core, section 3.2.2.1).
  if (!nonce || nonce.length > MAX_ECHOED) return refuse('nonce')
  const state = form.get('state')
  if (state !== undefined && state.length > MAX_ECHOED) refuse('state')
  const hint = form.get('id_token_hint')
  if (!hint) return refuse('id_token_hint')
  return { hint, nonce, state, acr: acrOf(form.get('claims')) }
}

/** @throws RefusedRequest acr_not_reached where a face does not satisfy what is asked for */
function acrOf(claims: string | undefined): string {
  const { acr, amr } = idTokenClaims(claims)
  const asked = claimValues(acr)
  const given = asked.find((value) => FACE_ACR_VALUES.includes(value))
  if (given === undefined) throw new RefusedRequest('acr_not_reached', `acr: ${asked.join(' ')}`)
  const methods = claimValues(amr)
  if (methods.length > 0 && !methods.includes(FACE_AMR))
    throw new RefusedRequest('acr_not_reached', `amr: ${methods.join(' ')}`)
  return given
}

function idTokenClaims(claims: string | undefined): Record<string, unknown> {
  try {
    const parsed = JSON.parse(claims ?? '') as { id_token?: Record<string, unknown> | null } | null
    return parsed?.id_token ?? {}
  } catch {
    return refuse('claims')
  }
}

/** @param name parameter that is missing or wrong */
function refuse(name: string): never {
  throw new RefusedRequest('request_not_valid', name)
}
