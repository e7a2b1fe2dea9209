/** Looks through what a customer's backend sends to browsers for what helps somebody who tries picture after picture. */
import { afterAll, beforeAll, expect } from 'vitest'

/** Members that say how near a capture came, or what gave it away. */
const GUIDING = ['score', 'threshold', 'findings', 'quality']
/** Anything in the form of a JWS. */
const TOKEN = /[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g

/** @returns what the text should not hold: guiding members, and tokens of rejections, with any claims */
export function leaksIn(text: string): string[] {
  const named = GUIDING.filter((name) => new RegExp(`["']${name}["']\\s*:`).test(text))
  const tokens = [...text.matchAll(TOKEN)].flatMap(([token]) => {
    const claims = decoded(token)
    return claims === null || claims.verdict === 'approved' ? [] : [`a token: ${JSON.stringify(claims)}`]
  })
  return [...named, ...tokens]
}

function decoded(token: string): Record<string, unknown> | null {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
  } catch {
    return null
  }
}

/** Looks through every answer that the tests of this block get from this address by `fetch`, with its headers. */
export function watchAnswers(address: () => string): void {
  const { fetch } = globalThis
  let seen = 0
  const leaks: string[] = []
  beforeAll(() => {
    globalThis.fetch = async (...call) => {
      const response = await fetch(...call)
      if (!response.url.startsWith(address())) return response
      const text = [...response.headers, await response.clone().text()].join('\n')
      seen += 1
      leaks.push(...leaksIn(text).map((leak) => `${new URL(response.url).pathname}: ${leak}`))
      return response
    }
  })
  afterAll(() => {
    globalThis.fetch = fetch
    expect(seen).toBeGreaterThan(0)
    expect(leaks).toEqual([])
  })
}
