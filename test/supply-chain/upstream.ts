/**
 * Compares the installed binaries of the HTTP addon with those that upstream publishes as files of its tags, only on GitHub. The repack
 * has version numbers of its own, so the tag is found by the bytes.
 */
import { createHash } from 'node:crypto'
import type { AddonRecord } from '../../src/cli/doctor/http-addon.js'

const REPOSITORY = 'uNetworking/uWebSockets.js'

export interface UpstreamAddresses {
  api: string
  raw: string
}

const GITHUB: UpstreamAddresses = {
  api: 'https://api.github.com',
  raw: 'https://raw.githubusercontent.com',
}
/** Limit of each request, in milliseconds. */
const PATIENCE_MS = 30_000

export type Comparison =
  | { kind: 'same'; tag: string; files: number }
  /** The tag that has most of the files, with those that it lacks or has with other bytes. */
  | { kind: 'different'; tag: string | null; files: string[] }
  | { kind: 'not_asked'; reason: string }

/** The first file of this platform, for any version of Node: not every Node has one. */
export function binaryOfPlatform({ sha256 }: AddonRecord): string {
  const names = Object.keys(sha256)
  return names.find((name) => name.startsWith(`uws_${process.platform}_${process.arch}_`)) ?? names[0]!
}

/** @param mine file of this platform, by which the tag is found */
export async function compareWithUpstream(
  installed: AddonRecord,
  mine: string,
  { api, raw }: UpstreamAddresses = GITHUB,
): Promise<Comparison> {
  const sumAt = async (tag: string, file: string): Promise<string | null> => {
    const response = await ask(`${raw}/${REPOSITORY}/${tag}/${file}`)
    if (response.status === 404) return null
    return createHash('sha256')
      .update(new Uint8Array(await body(response)))
      .digest('hex')
  }
  try {
    const major = installed.version.split('.')[0]
    const response = await ask(`${api}/repos/${REPOSITORY}/git/matching-refs/tags/v${major}.`)
    const refs = JSON.parse(Buffer.from(await body(response)).toString()) as Array<{ ref: string }>
    const tags = refs.map(({ ref }) => ref.replace('refs/tags/', '')).sort(newestFirst)
    for (const tag of tags) {
      if ((await sumAt(tag, mine)) !== installed.sha256[mine]) continue
      const different: string[] = []
      for (const [file, sum] of Object.entries(installed.sha256))
        if (file !== mine && (await sumAt(tag, file)) !== sum) different.push(file)
      if (different.length > 0) return { kind: 'different', tag, files: different }
      return { kind: 'same', tag, files: Object.keys(installed.sha256).length }
    }
    return { kind: 'different', tag: null, files: [mine] }
  } catch (error) {
    if (error instanceof TypeError || error instanceof UpstreamError || isTimeout(error))
      return { kind: 'not_asked', reason: reasonOf(error as Error) }
    throw error
  }
}

/** Upstream answered, but without the requested file. */
class UpstreamError extends Error {}

async function ask(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
  if (!response.ok && response.status !== 404) throw new UpstreamError(`GitHub answers ${response.status}`)
  return response
}

async function body(response: Response): Promise<ArrayBuffer> {
  if (!response.ok) throw new UpstreamError(`GitHub answers ${response.status}`)
  return response.arrayBuffer()
}

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError'

/** `fetch` only says that it failed; its cause says why. */
function reasonOf({ message, cause }: Error): string {
  const code = (cause as { code?: string } | undefined)?.code
  return code ? `${message} (${code})` : message
}

function newestFirst(a: string, b: string): number {
  return b.localeCompare(a, 'en', { numeric: true })
}
