/** Notes the errors with which `oidc-provider` refuses requests, and gives them the codes of `refusals.ts`. */
import type { IncomingMessage } from 'node:http'
import type Provider from 'oidc-provider'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { RefusalCode } from './refusals.js'

interface LibraryRefusal {
  code: RefusalCode
  clientId: string | undefined
  detail: string | undefined
}

interface LibraryError {
  error?: string | undefined
  error_description?: string | undefined
  error_detail?: string | undefined
}

const CODE_OF_ERROR: Record<string, RefusalCode> = {
  invalid_client: 'client_not_authenticated',
  invalid_redirect_uri: 'redirect_uri_not_registered',
  invalid_request_uri: 'request_uri_not_valid',
  invalid_grant: 'code_not_valid',
  invalid_token: 'access_token_not_valid',
  invalid_request_object: 'hint_not_valid',
  invalid_authorization_details: 'action_not_valid',
  login_required: 'person_needed',
}
/** Errors that only their texts distinguish. */
const CODE_OF_TEXT: Array<[RegExp, RefusalCode]> = [
  [/Pushed Authorization Request must be used|Request Object must be used/, 'request_not_pushed'],
  [/redirect_uri/, 'redirect_uri_not_registered'],
  [/client not found/, 'client_unknown'],
  [/used before/, 'hint_used'],
  [/PKCE verification failed|code_verifier/, 'pkce_verifier_wrong'],
  [/PKCE|code_challenge/, 'pkce_missing'],
  [/id_token_hint/, 'hint_not_valid'],
]

/** @returns the refusals, as they happen, by the requests that were refused */
export function libraryRefusals(provider: Provider): WeakMap<IncomingMessage, LibraryRefusal> {
  const found = new WeakMap<IncomingMessage, LibraryRefusal>()
  const note = (ctx: KoaContextWithOIDC, error: LibraryError) => {
    // A result of the person's part is passed on; `SignIn` has recorded it.
    if (!isPersonsPart(ctx)) found.set(ctx.req, refusalOf(ctx, error))
  }
  provider.on('authorization.error', note)
  provider.on('pushed_authorization_request.error', note)
  provider.on('grant.error', note)
  provider.on('userinfo.error', note)
  return found
}

function isPersonsPart(ctx: KoaContextWithOIDC): boolean {
  const result = ctx.oidc?.entities?.Interaction?.result
  return result !== undefined && 'error' in result
}

function refusalOf(ctx: KoaContextWithOIDC, error: LibraryError): LibraryRefusal {
  const texts = [error.error_detail, error.error_description].filter((text) => text !== undefined)
  const text = texts.join('; ')
  const byText = CODE_OF_TEXT.find(([pattern]) => pattern.test(text))?.[1]
  const code =
    // A code that was redeemed for another address is no unregistered address.
    (error.error === 'invalid_grant' && byText !== 'pkce_verifier_wrong' ? undefined : byText) ??
    CODE_OF_ERROR[error.error ?? ''] ??
    'request_not_valid'
  const named = ctx.oidc?.client?.clientId ?? ctx.oidc?.params?.client_id ?? basicUser(ctx)
  return { code, clientId: typeof named === 'string' ? named : undefined, detail: text || undefined }
}

/** The client id of HTTP Basic authentication, which the library has not kept where the client is unknown. */
function basicUser(ctx: KoaContextWithOIDC): string | undefined {
  const [, basic] = /^basic ([\w+/=-]+)$/i.exec(ctx.get('authorization')) ?? []
  return basic && Buffer.from(basic, 'base64').toString().split(':')[0]
}
