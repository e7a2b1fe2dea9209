/** A browser with its cookies that follows the OpenID provider's redirects, without Chromium, and the person before it. */
import { Visitor } from './capture-page.js'
import { base64 } from './faces.js'
import { plain } from './images.js'

export interface Opened {
  status: number
  text: string
  headers: Headers
  /** The first address outside of the provider; null where the provider shows a page. */
  left: URL | null
  /** Address and fields of the form that the page posts (OAuth 2.0 Form Post Response Mode); null for none. */
  post: { action: string; fields: Record<string, string> } | null
}

export class OpenIdBrowser {
  /** Cookies by name and path: the provider's hold for one interaction each. */
  private readonly jar = new Map<string, { name: string; value: string; path: string }>()
  /** Every address of the provider that was opened. */
  readonly visited: string[] = []

  /** @param origin of the provider */
  constructor(private readonly origin: string) {}

  /** Names of the cookies. */
  get cookies(): string[] {
    return [...this.jar.values()].map(({ name }) => name)
  }

  /** Posts a form, and goes on as `open` does. */
  post(address: string, form: Record<string, string>): Promise<Opened> {
    return this.open(address, { method: 'POST', body: new URLSearchParams(form) })
  }

  /** Opens an address, and follows redirects as long as they stay at the provider. */
  async open(address: string, first: RequestInit = {}): Promise<Opened> {
    let url = new URL(address)
    for (let init = first; ; init = {}) {
      this.visited.push(url.href)
      const response = await fetch(url, { ...init, redirect: 'manual', headers: this.cookiesFor(url) })
      this.keep(response)
      const location = response.headers.get('location')
      const { status, headers } = response
      const text = await response.text()
      if (!location) return { status, headers, text, left: null, post: formIn(text) }
      url = new URL(location, url)
      if (url.origin !== new URL(this.origin).origin) return { status, headers, text, left: url, post: null }
    }
  }

  /** Opens an address of the provider, and follows no redirect. @returns the address to which it leads; null for a page */
  async step(address: string): Promise<string | null> {
    const url = new URL(address)
    const response = await fetch(url, { redirect: 'manual', headers: this.cookiesFor(url) })
    this.keep(response)
    return response.headers.get('location')
  }

  /** The address of the interaction of the last request. */
  get interaction(): string {
    return this.visited.findLast((address) => /\/interaction\/[\w-]+$/.test(address))!
  }

  /** Goes from the application's request over the capture page. @returns the way back from there */
  async confirm(url: string): Promise<string> {
    return confirmAt((await this.open(url)).left!)
  }

  /** Goes from the application's request over the capture page and back. @returns the address of the application */
  async signIn(url: string): Promise<URL> {
    const { left } = await this.open(url)
    if (!left!.pathname.startsWith('/capture/')) return left!
    return (await this.open(await confirmAt(left!))).left!
  }

  private cookiesFor({ pathname }: URL): Record<string, string> {
    const sent = [...this.jar.values()].filter(({ path }) => pathname.startsWith(path))
    return { cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') }
  }

  private keep(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      const [, path = '/'] = /; *path=([^;]+)/i.exec(line) ?? []
      this.jar.set(`${name} ${path}`, { name, value, path })
    }
  }
}

function formIn(page: string): Opened['post'] {
  const [, action] = /<form method="post" action="([^"]*)"/.exec(page) ?? []
  if (action === undefined) return null
  const inputs = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  return { action, fields: Object.fromEntries(inputs.map(([, name, value]) => [name!, unescaped(value!)])) }
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** The person's part at the capture page: agrees and is captured. @returns the address to which the page leads */
export async function confirmAt(link: URL): Promise<string> {
  const visitor = new Visitor(link.href)
  await visitor.open()
  await visitor.agree()
  let { body } = await visitor.capture(base64(await plain()))
  // A rejected person has three tries.
  for (let tries = 1; tries < 3 && body.state === 'again'; tries++)
    body = (await visitor.capture(base64(await plain()))).body
  if (body.state !== 'over') throw new Error(`The capture page did not end: ${JSON.stringify(body)}`)
  return body.return_url
}
