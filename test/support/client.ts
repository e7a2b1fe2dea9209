/** A bare HTTP client for tests, on Node's own fetch: shows status, headers, raw body and parsed body. */

export interface ApiResponse {
  status: number
  headers: Headers
  /** The body bytes as text, for checking the signature. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
  /** The method and target of the request, which the signature covers. */
  request: { method: string; target: string }
}

export interface CallOptions {
  headers?: Record<string, string>
  /** Sent as it is, instead of JSON. */
  raw?: string | Uint8Array
  signal?: AbortSignal
}

export interface ApiClient {
  call(method: string, path: string, json?: unknown, options?: CallOptions): Promise<ApiResponse>
  enroll(json: Record<string, unknown>, options?: CallOptions): Promise<ApiResponse>
  verify(json: Record<string, unknown>, options?: CallOptions): Promise<ApiResponse>
  erase(userId: string, options?: CallOptions): Promise<ApiResponse>
  health(options?: CallOptions): Promise<ApiResponse>
  rotate(json?: unknown, options?: CallOptions): Promise<ApiResponse>
}

/** `baseUrl` ends in /v1. */
export function apiClient(baseUrl: string, key?: string): ApiClient {
  const origin = baseUrl.replace(/\/v1$/, '')
  const call: ApiClient['call'] = async (method, path, json, options = {}) => {
    const body = options.raw ?? (json === undefined ? undefined : JSON.stringify(json))
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text ? JSON.parse(text) : undefined,
      request: { method, target: path },
    }
  }
  return clientOver(call)
}

/** The client whose calls are all made by this function. */
export function clientOver(call: ApiClient['call']): ApiClient {
  return {
    call,
    enroll: (json, options) => call('POST', '/v1/enroll', json, options),
    verify: (json, options) => call('POST', '/v1/verify', json, options),
    erase: (userId, options) => call('DELETE', '/v1/delete', { user_id: userId }, options),
    health: (options) => call('GET', '/v1/health', undefined, options),
    rotate: (json, options) => call('POST', '/v1/keys/rotate-signing', json, options),
  }
}
