import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { downloadFile } from '../../../models/install/download.js'
import { until } from '../../support/command.js'
import { type FilesServer, filesOf, offsetOf, serveFiles } from '../../support/files-server.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const CONTENT = randomBytes(300_000)
const sha256 = createHash('sha256').update(CONTENT).digest('hex')
const whole = filesOf({ '/file': CONTENT })

let folder: string
let servers: FilesServer[]
beforeEach(() => {
  folder = temporaryFolder()
  servers = []
})
afterEach(() => {
  for (const server of servers) server.close()
})

const path = (name = 'file') => join(folder, name)

async function serve(listener: RequestListener): Promise<FilesServer> {
  const server = await serveFiles(listener)
  servers.push(server)
  return server
}

async function download(listener: RequestListener) {
  const server = await serve(listener)
  const progress: number[] = []
  const file = { url: `${server.url}/file`, sha256, bytes: CONTENT.length }
  const failure = await downloadFile(file, path(), (bytes) => progress.push(bytes)).then(
    () => null,
    (error: { code: string; message: string }) => error,
  )
  return { failure, progress, requests: server.requests }
}

const expectWhole = () => {
  expect(readdirSync(folder)).toEqual(['file'])
  expect(readFileSync(path()).equals(CONTENT)).toBe(true)
}

/** Sends `bytes` of what it should, waits until they have been written, and hangs up, `times` times. */
function cutting(bytes: number, times: number): RequestListener {
  let cuts = 0
  return async (request, response) => {
    if (cuts++ >= times) return whole(request, response)
    const offset = offsetOf(request)
    response.writeHead(offset === 0 ? 200 : 206, {
      'Content-Length': CONTENT.length - offset,
      'Content-Range': `bytes ${offset}-${CONTENT.length - 1}/${CONTENT.length}`,
    })
    response.write(CONTENT.subarray(offset, offset + bytes))
    await until(() => (statSync(path('file.part'), { throwIfNoEntry: false })?.size ?? 0) === offset + bytes)
    response.destroy()
  }
}

describe('a download', () => {
  it('a download brings the file and reports progress', async () => {
    const { failure, progress } = await download(whole)
    expect(failure).toBeNull()
    expect(progress.at(-1)).toBe(CONTENT.length)
    expectWhole()
  })

  it('a download of a file that is there makes no request', async () => {
    writeFileSync(path(), CONTENT)
    expect(await download(whole)).toEqual({ failure: null, progress: [CONTENT.length], requests: [] })
  })

  it('a download replaces a different file', async () => {
    writeFileSync(path(), Buffer.alloc(CONTENT.length))
    expect((await download(whole)).failure).toBeNull()
    expectWhole()
  })

  it('a download that is cut continues where it ended, repeatedly', async () => {
    const { failure, progress, requests } = await download(cutting(50_000, 2))
    expect(failure).toBeNull()
    expect(requests).toEqual(['/file', '/file bytes=50000-', '/file bytes=100000-'])
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    expectWhole()
  })

  it('a failed download keeps its bytes, and the next one continues from there', async () => {
    const { failure } = await download(cutting(50_000, 10))
    expect(failure).toMatchObject({ code: 'download_failed' })
    expect(readdirSync(folder)).toEqual(['file.part'])
    const { requests } = await download(whole)
    expect(requests).toEqual(['/file bytes=200000-'])
    expectWhole()
  })

  it('a download from a server without ranges starts from the beginning', async () => {
    writeFileSync(path('file.part'), CONTENT.subarray(0, 1000))
    const { failure, requests } = await download((request, response) => {
      request.headers.range = undefined
      whole(request, response)
    })
    expect(failure).toBeNull()
    expect(requests).toEqual(['/file bytes=1000-'])
    expectWhole()
  })

  it('a download retries while the server is busy', async () => {
    const answers = [503, 429]
    const { failure, requests } = await download((request, response) => {
      const status = answers.shift()
      return status ? response.writeHead(status).end() : whole(request, response)
    })
    expect({ failure, requests: requests.length }).toEqual({ failure: null, requests: 3 })
    expectWhole()
  })

  it('a download does not write through a link that has the name of its part', async () => {
    writeFileSync(path('other'), 'mine')
    symlinkSync(path('other'), path('file.part'))
    expect((await download(whole)).failure).toBeNull()
    expect(readFileSync(path('other'), 'utf8')).toBe('mine')
    expect(readFileSync(path()).equals(CONTENT)).toBe(true)
  })
})

describe('a refused download keeps nothing', () => {
  const send =
    (content: Buffer, headers: Record<string, number> = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(200, headers).end(content)
  const otherBytes = Buffer.from(CONTENT)
  otherBytes[7]! ^= 1
  const longer = Buffer.concat([CONTENT, CONTENT])
  for (const [what, listener, reason] of [
    ['with one bit changed', send(otherBytes), /SHA-256 is [0-9a-f]{64}, expected/],
    [
      'that says it is larger',
      send(longer, { 'Content-Length': longer.length }),
      /has 600000 bytes, expected 300000/,
    ],
    ['that is larger without saying so', send(longer), /more than the 300000 bytes expected/],
    [
      'that is a page about something else',
      send(Buffer.from('<html>'), { 'Content-Length': 6 }),
      /has 6 bytes, expected 300000/,
    ],
  ] as const)
    it(`refuses a file ${what}`, async () => {
      const { failure, requests } = await download(listener)
      expect(failure).toMatchObject({ code: 'checksum_mismatch', message: expect.stringMatching(reason) })
      expect(requests).toHaveLength(1)
      expect(readdirSync(folder)).toEqual([])
    })

  it('refuses a rest that does not belong to the first part', async () => {
    writeFileSync(path('file.part'), Buffer.alloc(1000))
    const { failure } = await download(whole)
    expect(failure).toMatchObject({ code: 'checksum_mismatch' })
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses a file that does not exist, without a second request', async () => {
    const { failure, requests } = await download((_request, response) => response.writeHead(404).end())
    expect(failure).toMatchObject({
      code: 'download_failed',
      message: expect.stringContaining('the server answered 404'),
    })
    expect(requests).toHaveLength(1)
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses another range than the requested one', async () => {
    writeFileSync(path('file.part'), CONTENT.subarray(0, 1000))
    const { failure } = await download((_request, response) =>
      response
        .writeHead(206, { 'Content-Range': `bytes 0-${CONTENT.length - 1}/${CONTENT.length}` })
        .end(CONTENT),
    )
    expect(failure).toMatchObject({ code: 'download_failed', message: expect.stringContaining('bytes 0-') })
  })
})

describe('a redirect', () => {
  const to =
    (location: string): RequestListener =>
    (request, response) =>
      request.url === '/file'
        ? response.writeHead(302, { Location: location }).end()
        : filesOf({ '/moved': CONTENT })(request, response)

  it('a redirect on the same server is followed', async () => {
    const { failure, requests } = await download(to('/moved'))
    expect({ failure, requests }).toEqual({ failure: null, requests: ['/file', '/moved'] })
    expectWhole()
  })

  it('a redirect to another server without https is refused', async () => {
    const other = await serve(filesOf({ '/moved': CONTENT }))
    const { failure } = await download(to(`${other.url}/moved`))
    expect(failure).toMatchObject({
      code: 'download_failed',
      message: expect.stringContaining('which is not https'),
    })
    expect(other.requests).toEqual([])
  })

  it('a circle of redirects ends', async () => {
    const { failure, requests } = await download(to('/file'))
    expect(failure).toMatchObject({ message: expect.stringContaining('more than 5 times') })
    expect(requests).toHaveLength(6)
  })
})
