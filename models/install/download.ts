/** Fetches a file of a known size and checksum; continues a download that was cut off. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { CodedError } from '../../src/lib/errors.js'

export interface Download {
  /** The server's own address is trusted as it was given; redirects lead to https or back to it. */
  url: string
  sha256: string
  bytes: number
}

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 500
/** Milliseconds without data after which a connection is given up. */
const STALL_MS = 30_000
const MAX_REDIRECTS = 5

/** The server answers, but not with the file: another request would change nothing. */
class RefusedError extends Error {}

/** The server sends a different file: none of it is kept. */
class WrongFileError extends Error {}

/**
 * Downloads a file, unless it is complete already. Until it is whole and checked, its name ends in `.part`.
 * @param onProgress receives the number of bytes present
 * @throws CodedError download_failed, checksum_mismatch
 */
export async function downloadFile(
  { url, sha256, bytes }: Download,
  file: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  if ((await sizeOf(file)) === bytes && (await hashOf(file)) === sha256) return onProgress(bytes)
  const part = `${file}.part`
  try {
    await fetchAll(url, part, bytes, onProgress)
    const actual = await hashOf(part)
    if (actual !== sha256) throw new WrongFileError(`its SHA-256 is ${actual}, expected ${sha256}`)
  } catch (error) {
    if (!(error instanceof WrongFileError)) throw error
    await rm(part, { force: true })
    throw new CodedError('checksum_mismatch', `${url} is not the file that was asked for: ${error.message}.`)
  }
  await rename(part, file)
}

async function fetchAll(
  url: string,
  part: string,
  bytes: number,
  onProgress: (bytes: number) => void,
): Promise<void> {
  for (let attempt = 1; (await sizeOf(part)) !== bytes; attempt++) {
    try {
      await fetchRest(url, part, bytes, onProgress)
    } catch (error) {
      // The disk's failures, unlike the network's, come as they are.
      if (error instanceof WrongFileError || (error instanceof Error && 'syscall' in error)) throw error
      if (error instanceof RefusedError || attempt === ATTEMPTS)
        throw new CodedError('download_failed', `Cannot download ${url}: ${reasonOf(error)}.`)
      await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1))
    }
  }
}

async function fetchRest(
  url: string,
  part: string,
  bytes: number,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const have = await sizeOf(part)
  const offset = have < bytes ? have : 0
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(new Error('nothing came for half a minute')), STALL_MS)
  try {
    const response = await request(url, offset, stalled.signal)
    const start = startOf(response, offset)
    const declared = response.headers.get('content-length')
    if (declared !== null && start + Number(declared) !== bytes)
      throw new WrongFileError(`it has ${start + Number(declared)} bytes, expected ${bytes}`)
    await mkdir(dirname(part), { recursive: true })
    if (start === 0) await rm(part, { force: true })
    // A new file only: a link that somebody put there is not written through.
    const output = await open(part, start === 0 ? 'wx' : 'a')
    let there = start
    try {
      for await (const chunk of response.body!) {
        timer.refresh()
        there += chunk.length
        if (there > bytes) throw new WrongFileError(`it has more than the ${bytes} bytes expected`)
        // Written as it comes, so that a connection that is cut costs nothing of it.
        await output.appendFile(chunk)
        onProgress(there)
      }
    } finally {
      await output.close()
    }
    if (there < bytes) throw new Error(`it ended after ${there} of ${bytes} bytes`)
  } finally {
    clearTimeout(timer)
    // Lets go of the connection when the body was not read to its end.
    stalled.abort()
  }
}

/** @throws RefusedError; any other error for a failure that may pass */
async function request(address: string, offset: number, signal: AbortSignal): Promise<Response> {
  const { origin } = new URL(address)
  let url = address
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(url, {
      headers: { 'Accept-Encoding': 'identity', ...(offset > 0 ? { Range: `bytes=${offset}-` } : {}) },
      redirect: 'manual',
      signal,
    })
    const { status } = response
    if (status === 200 || status === 206) return response
    if (status === 429 || status >= 500) throw new Error(`the server answered ${status}`)
    const location = response.headers.get('location')
    if (status < 300 || status > 399 || location === null)
      throw new RefusedError(`the server answered ${status}`)
    const next = URL.canParse(location, url) ? new URL(location, url) : null
    if (next?.protocol !== 'https:' && next?.origin !== origin)
      throw new RefusedError(`it redirects to ${location}, which is not https`)
    url = next.href
  }
  throw new RefusedError(`it redirects more than ${MAX_REDIRECTS} times`)
}

/** Offset at which the body begins in the file: a server without ranges sends all of it. */
function startOf({ status, headers }: Response, offset: number): number {
  if (status === 200) return 0
  const range = headers.get('content-range')
  if (!range?.startsWith(`bytes ${offset}-`))
    throw new RefusedError(`the server sends ${range ?? 'some other part'} instead of the rest`)
  return offset
}

/** 0 for what is no file. */
async function sizeOf(file: string): Promise<number> {
  const stats = await lstat(file).catch(() => null)
  return stats?.isFile() ? stats.size : 0
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message
}
