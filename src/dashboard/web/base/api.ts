/** Calls the dashboard's routes, and sends the session's CSRF token with every call that changes something. */
import { BACKGROUND_HEADER, TRIED_KEY_HEADER } from '../../constants.js'
import type {
  AnswerOf,
  InputOf,
  OperatorRoutes,
  QueryOf,
  SessionView,
  TenantRoutes,
  TriedCall,
  TriedOperation,
} from '../../contract.js'
import type { Credentials } from '../../sign-in/sign-in.js'

export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Asks the person to confirm their identity. @returns whether the sign-in is fresh now */
type AskAgain = () => Promise<boolean>
let askAgain: AskAgain = async () => false

/** Sets the function that asks the person for a fresh sign-in when a call needs one. Calls that need one at the same time ask once. */
export function onFreshSignIn(ask: AskAgain): void {
  let asked: Promise<boolean> | null = null
  askAgain = () => {
    asked ??= ask().finally(() => {
      asked = null
    })
    return asked
  }
}

/** Event that the window receives when a call finds that the session has ended. */
export const SIGNED_OUT = 'signedout'

const PREFIX = '/api'
const SESSION = '/session'

let csrfToken = ''

type GetOf<Routes> = Extract<keyof Routes, `GET ${string}`>
type ChangeOf<Routes> = Exclude<keyof Routes, `GET ${string}`> & string
type BodyOf<Route> = InputOf<Route> extends undefined ? [] : [body: InputOf<Route>]

/** The address of an answer of this type. It is a string, so that equal addresses compare as equal. */
export type Address<Answer> = string & { readonly answer?: Answer }

export const operatorAddress = <Name extends GetOf<OperatorRoutes>>(name: Name) =>
  pathOf(name) as Address<AnswerOf<OperatorRoutes[Name]>>

export function tenantAddress<Name extends GetOf<TenantRoutes>>(
  tenantId: string,
  name: Name,
  query?: QueryOf<TenantRoutes[Name]>,
) {
  const parameters = new URLSearchParams({ ...query }).toString()
  const path = tenantPath(tenantId, name) + (parameters && `?${parameters}`)
  return path as Address<AnswerOf<TenantRoutes[Name]>>
}

/** Returns the address for a link, which the browser fetches itself. */
export function linkTo(address: Address<never>): string {
  return PREFIX + address
}

/** @param isBackground whether the page repeats the call automatically, which does not extend the session */
export function get<Answer>(address: Address<Answer>, isBackground = false): Promise<Answer> {
  return send<Answer>('GET', address, undefined, isBackground ? { [BACKGROUND_HEADER]: '1' } : {})
}

export function callOperator<Name extends ChangeOf<OperatorRoutes>>(
  name: Name,
  ...[body]: BodyOf<OperatorRoutes[Name]>
): Promise<AnswerOf<OperatorRoutes[Name]>> {
  return send(methodOf(name), pathOf(name), body ?? {})
}

export function callTenant<Name extends ChangeOf<TenantRoutes>>(
  tenantId: string,
  name: Name,
  ...[body]: BodyOf<TenantRoutes[Name]>
): Promise<AnswerOf<TenantRoutes[Name]>> {
  return send(methodOf(name), tenantPath(tenantId, name), body ?? {})
}

/** Calls the API itself, with a key that the person typed. */
export function tryCall(
  tenantId: string,
  call: { key: string; operation: TriedOperation; body: object },
): Promise<TriedCall> {
  const path = `${tenantPath(tenantId, 'POST /try/call')}?${new URLSearchParams({ operation: call.operation })}`
  return send('POST', path, call.body, { [TRIED_KEY_HEADER]: call.key })
}

const methodOf = (name: string) => name.slice(0, name.indexOf(' '))
const pathOf = (name: string) => name.slice(name.indexOf(' ') + 1)
const tenantPath = (tenantId: string, name: string) =>
  `/tenants/${tenantId}${pathOf(name) === '/' ? '' : pathOf(name)}`

async function send<Answer>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(PREFIX + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'X-CSRF-Token': csrfToken }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CallError('offline', 'The service cannot be reached.')
  })
  const answer = await response.json()
  if (!response.ok) {
    if (answer.code === 'not_signed_in' && path !== SESSION) dispatchEvent(new Event(SIGNED_OUT))
    // Once the person has confirmed their identity, the call is repeated.
    if (answer.code === 'fresh_sign_in_required' && (await askAgain()))
      return send(method, path, body, headers)
    throw new CallError(answer.code, sentence(answer))
  }
  return answer as Answer
}

interface Refusal {
  message: string
  details?: Array<{ path: string; issue: string }>
}

function sentence({ message, details }: Refusal): string {
  return [message, ...(details ?? []).map(({ path, issue }) => `${path} ${issue}.`)].join(' ')
}

async function remember(session: Promise<SessionView>): Promise<SessionView> {
  const view = await session
  csrfToken = view.csrf_token
  return view
}

export const currentSession = () => remember(send<SessionView>('GET', SESSION))
export const signIn = (credentials: Credentials) => remember(send<SessionView>('POST', SESSION, credentials))
export const signOut = () => send<unknown>('DELETE', SESSION)
/** Whether this browser has a session, and whether people sign in at the provider and by a password. */
export const waysToSignIn = () =>
  send<{ signed_in: boolean; enabled: boolean; password: boolean }>('GET', '/oidc')
/** Null where this browser has no session. */
export const sessionIfAny = async () => ((await waysToSignIn()).signed_in ? currentSession() : null)
