/** One call over HTTP with its time limit, its retries, and the check of the answer's signature before anything reads the answer. */
import { assertBodyFits } from './body-limit.js'
import {
  ApiError,
  type Attempts,
  ConnectionError,
  type ErrorBody,
  SignatureError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.js'
import type { CallObserver, ResponseInfo } from './observer.js'
import { assertResponseSignature } from './response-signature.js'
import { causeCode, isRefused, parseRetryAfter, type RetryPolicy, retryDelayMs, sleep } from './retry.js'
import { readSecrets, type SigningSecret, type SigningSecretSource } from './signing-secret.js'
import type { Environment } from './types.js'
import { UNVERIFIABLE_CODES } from './unverifiable-codes.js'

export interface TransportOptions extends RetryPolicy {
  apiKey: string
  /** Environment of the API key. An answer of the other environment is refused. */
  environment: Environment
  /** Base URL; its path ends in /v1. */
  baseUrl: string
  /** Source of the signing secrets; null where signatures are not checked. */
  signingSecret: SigningSecretSource | null
  signatureToleranceSeconds: number
  /** Largest body of a request, in bytes. */
  maxBodyBytes: number
  /** Time limit of one attempt, body included, in milliseconds. */
  timeoutMs: number
  fetch: typeof fetch
  /** The clock, in milliseconds since 1970. */
  now: () => number
  observer: CallObserver
}

export interface Outgoing {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path after /v1, with the query. */
  path: string
  /** The path for hooks and errors, with placeholders instead of ids. */
  name: string
  headers: Record<string, string>
  body: object | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  /** Largest body that the endpoint takes, in bytes, where it is less than that of others. */
  maxBodyBytes?: number | undefined
  signal?: AbortSignal | undefined
}

export interface Incoming {
  body: unknown
  info: ResponseInfo
}

/** @returns an answer with a status below 400, or a degraded health report, which has no `code` @throws CountersignError for all others */
export async function send(outgoing: Outgoing, options: TransportOptions): Promise<Incoming> {
  const policy = { ...options, maxRetries: outgoing.maxRetries ?? options.maxRetries }
  const { method, name: path, signal } = outgoing
  const body = outgoing.body && JSON.stringify(outgoing.body)
  const maxBytes = Math.min(outgoing.maxBodyBytes ?? options.maxBodyBytes, options.maxBodyBytes)
  const isOfClient = maxBytes === options.maxBodyBytes
  const { baseUrl } = options
  if (outgoing.body && body !== undefined)
    assertBodyFits(outgoing.body, body, { maxBytes, isOfClient, baseUrl })
  const started = performance.now()
  let retries = 0
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted()
    const soFar = (): Attempts => ({ attempts, elapsedMs: performance.now() - started })
    try {
      const incoming = await attempt(outgoing, body, options, soFar)
      options.observer.response({ method, path, ...incoming.info })
      return incoming
    } catch (error) {
      const delayMs = signal?.aborted ? null : retryDelayMs(error, retries, policy, soFar().elapsedMs)
      if (!isRefused(error)) retries++
      if (delayMs === null) {
        options.observer.failure({ method, path, error, ...soFar() })
        throw error
      }
      options.observer.retry({ method, path, error, delayMs, ...soFar() })
      await sleep(delayMs, signal)
    }
  }
}

async function attempt(
  outgoing: Outgoing,
  body: string | undefined,
  options: TransportOptions,
  soFar: () => Attempts,
): Promise<Incoming> {
  // The secrets are read again for every attempt: they may have been rotated since.
  const secrets = options.signingSecret === null ? null : await readSecrets(options.signingSecret)
  const { response, bytes } = await exchange(outgoing, body, options, secrets, soFar)
  const parsed = parse(bytes)
  const fault = secrets && (await signatureFault(outgoing, response, bytes, secrets, options))
  if (isErrorBody(parsed)) {
    if (fault && !UNVERIFIABLE_CODES.has(parsed.code)) throw fault
    throw new ApiError(parsed, {
      ...retryAfter(response, options),
      status: response.status,
      verified: !fault,
    })
  }
  // An error page of a proxy has no signature. Its status says more than the missing signature.
  if (typeof parsed !== 'object' || parsed === null || (fault && !response.ok))
    throw new UnexpectedResponseError(response.status)
  if (fault) throw fault
  return {
    body: parsed,
    info: {
      status: response.status,
      requestId: response.headers.get('x-request-id') ?? '',
      replayed: response.headers.get('x-svc-idempotent-replay') === 'true',
      ...retryAfter(response, options),
      ...soFar(),
    },
  }
}

async function exchange(
  { method, path, name, headers, signal, timeoutMs }: Outgoing,
  body: string | undefined,
  options: TransportOptions,
  secrets: SigningSecret[] | null,
  soFar: () => Attempts,
): Promise<{ response: Response; bytes: Uint8Array }> {
  const timeout = AbortSignal.timeout(timeoutMs ?? options.timeoutMs)
  const keyId = secrets?.[0]?.id
  try {
    const response = await options.fetch(options.baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${options.apiKey}`,
        'Content-Type': 'application/json',
        ...(keyId ? { 'X-Svc-Signing-Key-Id': keyId } : {}),
        ...headers,
      },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      // The service never redirects, and the key must not be sent where something else redirects to.
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    })
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    if (timeout.aborted)
      throw new TimeoutError(`No complete answer within ${timeoutMs ?? options.timeoutMs} ms.`, {
        ...soFar(),
        cause,
      })
    const code = causeCode(cause)
    throw new ConnectionError(
      `${method} ${options.baseUrl}${name} failed${code === undefined ? '' : `: ${code}`}.`,
      {
        ...soFar(),
        cause,
      },
    )
  }
}

async function signatureFault(
  { method, path }: Outgoing,
  response: Response,
  body: Uint8Array,
  secrets: SigningSecret[],
  options: TransportOptions,
): Promise<SignatureError | null> {
  const signed = {
    environment: options.environment,
    signature: response.headers.get('x-svc-signature'),
    requestId: response.headers.get('x-request-id'),
    status: response.status,
    method,
    // A proxy may add a prefix to the path; the service signs the path from /v1 on.
    target: `/v1${path}`,
    body,
  }
  const { signatureToleranceSeconds, now } = options
  try {
    await assertResponseSignature(signed, secrets, { now: now() / 1000, signatureToleranceSeconds })
    return null
  } catch (error) {
    if (error instanceof SignatureError) return error
    throw error
  }
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  const { error, code, message } = (body ?? {}) as Partial<ErrorBody>
  return [error, code, message].every((field) => typeof field === 'string')
}

function retryAfter(response: Response, { now }: TransportOptions): { retryAfterSeconds?: number } {
  const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after'), now())
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
}
