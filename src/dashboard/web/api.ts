/** Calls of the dashboard's API, with the session's CSRF token on whatever changes something. */

export interface SessionView {
  role: 'operator' | 'tenant'
  tenant_id: string | null
  csrf_token: string
  expires_at: string
}

export class CallError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Told to the window when a call finds that the session has ended. */
export const SIGNED_OUT = 'signedout'

let csrfToken = ''

export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`/api${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'X-CSRF-Token': csrfToken }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CallError(0, 'offline', 'The service cannot be reached.')
  })
  const answer = await response.json()
  if (!response.ok) {
    if (answer.code === 'not_signed_in' && path !== '/session') dispatchEvent(new Event(SIGNED_OUT))
    throw new CallError(response.status, answer.code, sentence(answer))
  }
  return answer as T
}

interface Refusal {
  message: string
  details?: Array<{ path: string; issue: string }>
}

function sentence({ message, details }: Refusal): string {
  return [message, ...(details ?? []).map(({ path, issue }) => `${path} ${issue}.`)].join(' ')
}

export const get = <T>(path: string) => call<T>('GET', path)
export const post = <T>(path: string, body: unknown = {}) => call<T>('POST', path, body)

async function remember(session: Promise<SessionView>): Promise<SessionView> {
  const view = await session
  csrfToken = view.csrf_token
  return view
}

export const currentSession = () => remember(get<SessionView>('/session'))
export const signIn = (credentials: { login_token: string } | { password: string }) =>
  remember(post<SessionView>('/session', credentials))
export const signOut = () => call('DELETE', '/session')

export interface KeyView {
  id: string
  type: 'sandbox' | 'production'
  hint: string
  state: 'active' | 'grace' | 'expired' | 'revoked'
  created_at: string
  valid_until: string | null
  rate: { per_second: number; burst: number; remaining: number }
}

export interface TenantView {
  id: string
  name: string
  created_at: string
  rate_per_second: number
  burst: number
  fmr: number | null
  production_key: string
}

export interface TenantOverview extends TenantView {
  now: string
  fmr_in_force: number
  threshold: number
  model: string
  urls: Record<'production' | 'sandbox', string>
  keys: KeyView[]
  signing_secrets: Array<{ id: string; created_at: string; valid_until: string | null }>
}

export interface TrafficSlot {
  at: number
  production: number
  sandbox: number
  errors: number
  limited: number
  approved: number
  rejected: number
  latencies: Record<string, [number, number, number]>
  scores: number[]
  signingKeys: Record<string, number>
}

export interface TrafficView {
  now: number
  step_ms: number
  span_ms: number
  slots: TrafficSlot[]
}
