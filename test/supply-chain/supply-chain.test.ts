import { createHash } from 'node:crypto'
import { cp, mkdtemp, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  addonBinaries,
  addonDifferences,
  installedAddon,
  recordedAddon,
} from '../../src/cli/doctor/http-addon.js'
import { uwsFolder } from '../../src/http/listeners/uws-package.js'
import { audit } from './audit.js'
import { lockedPackages, lockfileIssues, manifest } from './lockfile.js'
import { binaryOfPlatform, compareWithUpstream } from './upstream.js'

const installed = installedAddon()
const mine = binaryOfPlatform(installed)
/** A binary of another platform. */
const WINDOWS = 'uws_win32_x64_127.node'

const servers: Server[] = []
const folders: string[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A copy of the addon's package with only these binaries, for spoiling: all of them are 100 MB. */
async function copyOfAddon(names: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-addon-'))
  folders.push(folder)
  const isWanted = (path: string) => !path.endsWith('.node') || names.includes(basename(path))
  await cp(uwsFolder(), folder, { recursive: true, filter: isWanted })
  return folder
}

async function spoil(file: string): Promise<void> {
  const bytes = await readFile(file)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(file, bytes)
}

describe('the binaries of the HTTP addon', () => {
  it('match the record, the binary of this platform included', () => {
    expect(addonDifferences(recordedAddon(), installed)).toEqual([])
    expect(mine).toMatch(`_${process.platform}_${process.arch}_`)
  })

  it('are reported with one bit changed or one file missing', async () => {
    const names = [mine, WINDOWS]
    const folder = await copyOfAddon(names)
    const binary = (name: string) => addonBinaries(folder).find((file) => basename(file) === name)!
    await spoil(binary(mine))
    await unlink(binary(WINDOWS))
    const { sha256, ...recorded } = recordedAddon()
    const sums = Object.fromEntries(names.map((name) => [name, sha256[name]!]))
    const differences = addonDifferences({ ...recorded, sha256: sums }, installedAddon(folder))
    expect(differences).toEqual([
      expect.stringMatching(
        new RegExp(`^${mine} differs from the one on record: its SHA-256 is [0-9a-f]{64}$`),
      ),
      `${WINDOWS} is missing`,
    ])
  })

  it('are reported if they are of another release', () => {
    expect(addonDifferences(recordedAddon(), { ...installed, version: '20.0.99' })).toEqual([
      `${installed.package} 20.0.99 is installed, ${installed.package} ${installed.version} is on record`,
    ])
  })
})

describe('upstream', () => {
  const files = { [mine]: Buffer.from('for this platform'), [WINDOWS]: Buffer.from('for Windows') }
  const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  /** An installed addon of these files. */
  const few = {
    ...installed,
    sha256: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, sha256Of(bytes)])),
  }

  /** A server instead of GitHub, with these files under these tags. */
  async function github(tags: Record<string, Record<string, Buffer>>) {
    const address = await serve((request, response) => {
      const repository = '/uNetworking/uWebSockets.js'
      if (request.url === `/repos${repository}/git/matching-refs/tags/v20.`)
        return response.end(JSON.stringify(Object.keys(tags).map((tag) => ({ ref: `refs/tags/${tag}` }))))
      const [tag, file] = request.url!.slice(repository.length + 1).split('/') as [string, string]
      const bytes = tags[tag]?.[file]
      return bytes ? response.end(bytes) : response.writeHead(404).end()
    })
    return { api: address, raw: address }
  }

  it('is found where it has the same bytes under some tag', async () => {
    const other = { [mine]: Buffer.from('another release') }
    const addresses = await github({ 'v20.9.0': other, 'v20.49.0': files, 'v20.50.0': other, 'v20.51.0': {} })
    expect(await compareWithUpstream(few, mine, addresses)).toEqual({
      kind: 'same',
      tag: 'v20.49.0',
      files: Object.keys(files).length,
    })
  })

  it('is reported where one file differs, with the file', async () => {
    const addresses = await github({
      'v20.49.0': { ...files, [WINDOWS]: Buffer.from('other') },
    })
    expect(await compareWithUpstream(few, mine, addresses)).toEqual({
      kind: 'different',
      tag: 'v20.49.0',
      files: [WINDOWS],
    })
  })

  it('is reported where no tag has this platform’s file', async () => {
    const addresses = await github({ 'v20.49.0': { [mine]: Buffer.from('other') } })
    expect(await compareWithUpstream(few, mine, addresses)).toEqual({
      kind: 'different',
      tag: null,
      files: [mine],
    })
  })

  it('reports upstream as not asked when it cannot be reached or refuses', async () => {
    const refusing = await serve((_request, response) => response.writeHead(403).end())
    expect(await compareWithUpstream(few, mine, { api: refusing, raw: refusing })).toEqual({
      kind: 'not_asked',
      reason: 'GitHub answers 403',
    })
    // Nobody listens at port 1 of this machine.
    const nobody = 'http://127.0.0.1:1'
    expect(await compareWithUpstream(few, mine, { api: nobody, raw: nobody })).toMatchObject({
      kind: 'not_asked',
    })
  })
})

describe('the lockfile', () => {
  it('pins every package to one version and its checksum, and every install script is decided on', () => {
    expect(lockedPackages().size).toBeGreaterThan(100)
    expect(lockfileIssues(manifest(), lockedPackages())).toEqual([])
  })

  it('is reported without any of these; a commit replaces a checksum', () => {
    const packages = lockedPackages()
    packages.set('node_modules/a', { version: '1.0.0' })
    packages.set('node_modules/g', {
      version: '1.0.0',
      resolved: `git+ssh://git@github.com/g/g.git#${'0'.repeat(40)}`,
    })
    packages.set('node_modules/a/node_modules/@b/c', {
      version: '1.0.0',
      integrity: 'sha512-',
      hasInstallScript: true,
    })
    const loose = {
      ...manifest(),
      dependencies: { d: '^1.0.0', e: 'github:e/e', f: '1.0.0', g: 'github:g/g#v1.0.0' },
    }
    expect(lockfileIssues(loose, packages)).toEqual([
      'd is not pinned to one version: ^1.0.0',
      'e is not pinned to one version: github:e/e',
      'a has neither SHA-512 nor commit in the lockfile',
      '@b/c has an install script that nobody decided on',
    ])
  })
})

describe('npm audit', () => {
  /** A registry with these advisories; it knows only the data of packages that npm needs to judge them. */
  const registry = (advisories: Record<string, object[]>) =>
    serve((request, response) => {
      response.setHeader('Content-Type', 'application/json')
      if (request.url === '/-/npm/v1/security/advisories/bulk')
        return response.end(JSON.stringify(advisories))
      const name = decodeURIComponent(request.url!.slice(1))
      const version = lockedPackages().get(`node_modules/${name}`)?.version
      if (!version) return response.writeHead(404).end('{}')
      return response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { name, version } },
        }),
      )
    })
  const advisory = (severity: string) => ({
    id: 1,
    url: 'https://example.com/1',
    title: 'An advisory',
    severity,
    vulnerable_versions: '<99.0.0',
    cwe: [],
    cvss: { score: 0, vectorString: null },
  })

  /** A separate cache: npm remembers advisories by their number. */
  async function auditAt(address: string) {
    const cache = await mkdtemp(join(tmpdir(), 'countersign-npm-'))
    folders.push(cache)
    return audit([`--registry=${address}`, `--cache=${cache}`])
  }

  it('names a package with a high advisory, and none with a moderate one', async () => {
    const advisories = { pino: [advisory('high')], jose: [advisory('moderate')] }
    expect(await auditAt(await registry(advisories))).toMatchObject({
      answered: true,
      severe: [expect.stringMatching(/^pino .*\(high\)$/)],
      counts: { high: 1, moderate: 1 },
    })
  })

  it('does not stop where there is no advisory', async () => {
    expect(await auditAt(await registry({}))).toMatchObject({
      answered: true,
      severe: [],
      counts: { total: 0 },
    })
  })

  it('never takes a missing answer for a clean one', async () => {
    const mirror = await serve((_request, response) => response.writeHead(405).end())
    expect(await auditAt(mirror)).toEqual({ answered: false, reason: '405 Method Not Allowed' })
  })

  it('finds nothing high or critical with the configured registry', async ({ skip }) => {
    const result = await audit()
    if (!result.answered) return skip(`the registry could not be asked: ${result.reason}`)
    expect(result.severe).toEqual([])
  }, 120_000)
})
