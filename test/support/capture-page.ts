/** The hosted capture page as a browser would ask for it, without one. */

import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import {
  type CapturePageChanges,
  changeCapturePage,
} from '../../src/features/capture-sessions/capture-page-operations.js'
import { answerTo } from './challenges.js'
import type { ApiClient } from './client.js'
import type { TestService, TestTenant } from './service.js'

export const RETURN_ORIGIN = 'https://bank.example'
export const ACTION = { type: 'wire_transfer', amount: '1250.00' }

/** Lets the tenant's page lead back to `RETURN_ORIGIN`. */
export async function allowReturn(
  { service }: { service: Pick<TestService['service'], 'core'> },
  { id }: Pick<TestTenant, 'id'>,
  settings: CapturePageChanges = {},
): Promise<void> {
  const { tenancy, operations } = service.core
  await changeCapturePage(operations.audited, await tenancy.find(id), COMMAND_LINE, {
    company: null,
    returnOrigins: [RETURN_ORIGIN],
    frameAncestors: [],
    consent: null,
    color: null,
    ...settings,
  })
}

/** A session whose result needs no proof, unless the fields say otherwise. */
export function askForSession(client: ApiClient, fields: Record<string, unknown>) {
  return client.call('POST', '/v1/capture-sessions', {
    action: ACTION,
    return_url: `${RETURN_ORIGIN}/transfers/7?tab=1`,
    browser: 'any',
    ...fields,
  })
}

let people = 0
/** The id of a person whom nobody has named yet. @param suffix says what the sandbox answers */
export const newPerson = (suffix = '+match') => `person-${++people}${suffix}`

/** A session of a new person, unless the fields name one, and its visitor, who has not come yet. */
export async function newSession(client: ApiClient, fields: Record<string, unknown> = {}) {
  const { status, body } = await askForSession(client, { user_id: newPerson(), ...fields })
  if (status !== 201) throw new Error(`The session was refused: ${body.code}`)
  return { id: body.session_id as string, visitor: new Visitor(body.url), asked: body }
}

/** The session as its backend sees it. */
export async function lookAt(client: ApiClient, id: string, proof?: string) {
  return (await client.call('GET', `/v1/capture-sessions/${id}${proof ? `?proof=${proof}` : ''}`)).body
}

/** The proof with which the browser comes back. */
export const proofIn = (address: string) => new URL(address).searchParams.get('capture_proof')

/** One browser, which keeps its cookies. */
export class Visitor {
  private readonly cookies = new Map<string, string>()
  /** The text that the page showed last. */
  private shown: { version?: string | undefined; sha256?: string | undefined } = {}
  /** Hash of the typed action that the page showed last. */
  private display: string | undefined

  constructor(
    readonly url: string,
    private readonly origin = new URL(url).origin,
  ) {}

  /** Loads the page without running its script, as a program does that looks at links. */
  look(headers: Record<string, string> = {}) {
    return fetch(this.url, { headers: { ...this.cookieHeader(), ...headers }, redirect: 'manual' })
  }

  /** Begins, as the script of the first page does. */
  async begin() {
    const begun = await this.post('begin')
    for (const cookie of begun.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return begun
  }

  /** Loads the page, and begins where it does not belong to a browser yet. */
  async open(headers: Record<string, string> = {}) {
    let response = await this.look(headers)
    let text = await response.text()
    if (text.includes('src="/assets/begin.js"')) {
      await this.begin()
      response = await this.look(headers)
      text = await response.text()
    }
    const [, version, sha256] =
      /<section id="consent" data-version="([^"]*)" data-sha256="([^"]*)"/.exec(text) ?? []
    this.shown = { version, sha256 }
    this.display = /data-display="([^"]*)"/.exec(text)?.[1]
    return { status: response.status, headers: response.headers, text }
  }

  async post(step: string, body: unknown = {}, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.url}/${step}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: this.origin,
        ...this.cookieHeader(),
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
    return { status: response.status, headers: response.headers, body: JSON.parse(text || 'null') as any }
  }

  async status() {
    const response = await fetch(`${this.url}/status`, { headers: this.cookieHeader() })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
    return { status: response.status, body: (await response.json()) as any }
  }

  /** Types the code that the backend told the person. */
  type(code: string) {
    return this.post('code', { code })
  }

  /** Hands the capture over to a phone. @returns the phone, whose page has begun */
  async handOver(): Promise<Visitor> {
    const { body } = await this.post('phone')
    const phone = new Visitor(body.url)
    await phone.open()
    return phone
  }

  /** The number that the page shows; undefined where it shows none. */
  async number(): Promise<string | undefined> {
    return /<p class="number">(\d{6})<\/p>/.exec((await this.open()).text)?.[1]
  }

  /** To the text that the page showed. */
  agree(shown: { version?: string; sha256?: string } = {}) {
    return this.post('consent', { agree: true, ...this.shown, ...shown })
  }

  /** Opens the page and agrees. @returns the page */
  async enter() {
    const page = await this.open()
    await this.agree()
    return page
  }

  challenge() {
    return this.post('challenge', this.display === undefined ? {} : { display: this.display })
  }

  /** A challenge, and its answer with this picture. */
  async capture(image: string | string[]) {
    const { body } = await this.challenge()
    if (body.state !== 'challenge') return { status: 0, body }
    const { frames } = answerTo({ challenge_id: '', nonce: '', steps: body.challenge.steps }, image)
    return this.post('frames', { frames })
  }

  /** A challenge, and the first half of its answer's body: the service knows of the request. @returns sends the rest */
  async beginCapture(image: string): Promise<() => Promise<number>> {
    const { body } = await this.challenge()
    const challenge = { challenge_id: '', nonce: '', steps: body.challenge.steps }
    const text = JSON.stringify({ frames: answerTo(challenge, image).frames })
    const sent = request(`${this.url}/frames`, {
      method: 'POST',
      agent: false,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
        Origin: this.origin,
        ...this.cookieHeader(),
      },
    })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    await new Promise((resolve) => sent.write(text.slice(0, text.length / 2), resolve))
    await this.status()
    return async () => {
      sent.end(text.slice(text.length / 2))
      const [response] = await answered
      response.resume()
      return response.statusCode!
    }
  }

  private cookieHeader(): Record<string, string> {
    if (this.cookies.size === 0) return {}
    return { Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
  }
}
