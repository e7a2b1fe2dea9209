import { chmod, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import Database from 'better-sqlite3'
import { describe, expect, inject, it } from 'vitest'
import type { Finding } from '../../src/cli/lib/finding.js'
import { chooseTransport } from '../../src/http/listeners/transport.js'
import { docPath } from '../../src/lib/doc-path.js'
import { workplaceForEach } from '../support/command.js'
import { damageTable } from '../support/damage.js'
import { writeShiftedPack } from '../support/packs.js'

const place = workplaceForEach()

async function examine(env: Record<string, string> = {}) {
  const { code, json, stderr } = await place.ask('doctor', env)
  expect(stderr).toBe('')
  const { ok, findings } = json as { ok: boolean; findings: Finding[] }
  expect({ code, ok }).toEqual(
    findings.some(({ status }) => status === 'problem') ? { code: 1, ok: false } : { code: 0, ok: true },
  )
  return { ok, findings, of: (check: string) => findings.find((finding) => finding.check === check)! }
}

const transport = await chooseTransport('auto')

describe('doctor', () => {
  it('finds nothing wrong with a good installation', async () => {
    const { ok, findings } = await examine()
    expect(ok).toBe(true)
    expect(findings.filter(({ status }) => status === 'problem')).toEqual([])
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'Node.js',
        'HTTP server',
        ...(transport.name === 'uws' ? ['HTTP addon'] : []),
        'onnxruntime-node',
        'sharp',
        'better-sqlite3',
        'provider cpu',
        'model pack',
        'database',
        'disk',
        'clock',
        'topology',
      ]),
    )
  })

  it('names the HTTP server that serves, and why', async () => {
    const { of } = await examine()
    expect(of('HTTP server')).toMatchObject({
      status: transport.reason === 'unavailable' ? 'warning' : 'ok',
      detail: transport.description,
    })
    const node = await examine({ COUNTERSIGN_HTTP: 'node' })
    expect(node.of('HTTP server')).toMatchObject({
      status: 'ok',
      detail: `node:http of ${process.version} (COUNTERSIGN_HTTP=node)`,
    })
    expect(node.findings.map(({ check }) => check)).not.toContain('HTTP addon')
  })

  it('prints a table for people and ends with 0', async () => {
    const { code, stdout } = await place.run(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok +Node\.js +v\d+/m)
    expect(stdout).toContain('Everything that is needed is in place.')
  })

  it('runs while the service does', async () => {
    await place.host()
    await place.run(['tenant', 'create', 'acme'])
    const { ok, of } = await examine()
    expect(ok).toBe(true)
    expect(of('database').detail).toBe('whole; 1 tenant, 0 production references')
  })

  it('says for a new installation that the first start builds its pack', async () => {
    const { ok, of } = await examine({
      COUNTERSIGN_MODELS_DIR: place.path('none'),
      COUNTERSIGN_ACCEPT_PACK: 'standard',
    })
    expect(ok).toBe(true)
    expect(of('model pack')).toMatchObject({
      status: 'warning',
      detail: `${place.path('none', 'standard')} does not exist yet; the first countersign serve builds it. It is of evaluation grade at a false match rate of 0.0001: not proven for 5 groups of people (worst: women, measured 1.6 in 10,000)`,
      remedy: 'to have it now, run countersign models build standard',
    })
  })

  it('says for a new installation what creates the database, and creates nothing', async () => {
    const folder = place.path('not', 'yet')
    const { ok, of } = await examine({ COUNTERSIGN_DATA_DIR: folder })
    expect(ok).toBe(true)
    expect(of('database')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('does not exist yet'),
    })
    expect(of('disk').status).toBe('ok')
    expect(await readdir(place.dataDir)).toEqual([])
  })

  it('reports a missing master key and creates no other', async () => {
    await place.run(['tenant', 'create', 'acme'])
    await rm(place.path('master.key'))
    const { ok, of } = await examine()
    expect(ok).toBe(false)
    expect(of('database').detail).toContain('There is no master key')
    expect(await readdir(place.dataDir)).not.toContain('master.key')
  })

  it('reports a path that cannot be examined as unreadable, not as missing, and goes on', async () => {
    // A link to itself cannot be followed by root either.
    const loop = place.path('loop')
    await symlink(loop, loop)
    const { findings, of } = await examine({
      COUNTERSIGN_MODELS_DIR: loop,
      COUNTERSIGN_DATABASE: `sqlite:${loop}/countersign.db`,
      COUNTERSIGN_TLS_CERT: `${loop}/cert.pem`,
      COUNTERSIGN_TLS_KEY: `${loop}/cert.key`,
    })
    for (const check of ['model pack', 'database', 'TLS'])
      expect(of(check)).toMatchObject({ status: 'problem', detail: expect.stringContaining('ELOOP') })
    expect(findings.map(({ check }) => check)).toContain('topology')
  })

  it('names a missing TLS file and goes on', async () => {
    const { ok, findings, of } = await examine({
      COUNTERSIGN_TLS_CERT: place.path('none.pem'),
      COUNTERSIGN_TLS_KEY: place.path('none.key'),
    })
    expect(ok).toBe(false)
    expect(of('configuration')).toMatchObject({ detail: expect.stringContaining('none.pem') })
    expect(findings.map(({ check }) => check)).toContain('model pack')
  })

  it.each([
    ['acme', 'install the pack into'],
    ['opencv-zoo', 'run countersign models pull opencv-zoo'],
  ])('reports that the pack %s is missing, with its remedy, and ends with 1', async (pack, remedy) => {
    const { of } = await examine({ COUNTERSIGN_MODEL_PACK: pack })
    expect(of('model pack')).toMatchObject({ status: 'problem', remedy: expect.stringContaining(remedy) })
  })

  it('reports each pack that follows, and what is missing', async () => {
    const shifted = place.path('shifted')
    await writeShiftedPack(shifted, inject('modelsDir'))
    const { findings } = await examine({
      COUNTERSIGN_MODEL_PACK: 'baseline',
      COUNTERSIGN_FOLLOWING_PACKS: `${shifted},opencv-zoo`,
      COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    })
    const [present, missing] = findings.filter(({ check }) => check === 'following packs')
    expect(present).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('shifted@1.0.0 is whole'),
    })
    expect(missing).toMatchObject({ status: 'problem', remedy: 'run countersign models pull opencv-zoo' })
  })

  it('reports a pack that follows whose grade nobody has accepted', async () => {
    const shifted = place.path('shifted')
    await writeShiftedPack(shifted, inject('modelsDir'))
    const { of } = await examine({
      COUNTERSIGN_MODEL_PACK: 'baseline',
      COUNTERSIGN_FOLLOWING_PACKS: shifted,
      COUNTERSIGN_ACCEPT_PACK: 'baseline',
    })
    expect(of('following packs')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('COUNTERSIGN_ACCEPT_PACK=baseline,shifted'),
    })
  })

  it('warns of a calibration without a check vector, and of no other', async () => {
    expect((await examine()).of('check vector')).toBeUndefined()
    const models = place.path('older-models')
    await cp(inject('modelsDir'), models, { recursive: true })
    const file = `${models}/baseline/calibration.json`
    const { check: _, ...calibration } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify(calibration))
    const { ok, of } = await examine({ COUNTERSIGN_MODELS_DIR: models })
    expect(ok).toBe(true)
    expect(of('check vector')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('holds no check vector'),
      remedy: expect.stringContaining('countersign models calibrate baseline'),
    })
  })

  it('reports a corrupted pack', async () => {
    const dir = place.path('models')
    await cp(inject('modelsDir'), dir, { recursive: true })
    const pack = JSON.parse(await readFile(`${dir}/baseline/pack.json`, 'utf8'))
    const file = `${dir}/baseline/${pack.embedder.file}`
    const bytes = await readFile(file)
    bytes[bytes.length - 1]! ^= 1
    await writeFile(file, bytes)
    const { of } = await examine({ COUNTERSIGN_MODELS_DIR: dir })
    expect(of('model pack')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining(pack.embedder.file),
      remedy: 'run countersign models build baseline',
    })
  })

  it("reports another application's database, and leaves it as it was", async () => {
    await place.run(['tenant', 'create', 'acme'])
    const file = place.path('other.db')
    const other = new Database(file)
    other.exec('CREATE TABLE theirs (x)')
    other.close()
    const before = await readFile(file)
    const { of } = await examine({ COUNTERSIGN_DATABASE: `sqlite:${file}` })
    expect(of('database')).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('another application'),
    })
    expect(await readFile(file)).toEqual(before)
  })

  it('reports a master key file that others may read', async () => {
    await place.run(['tenant', 'create', 'acme'])
    await chmod(place.path('master.key'), 0o644)
    const { of } = await examine()
    expect(of('database')).toMatchObject({ status: 'problem', detail: expect.stringContaining('chmod 600') })
  })

  it('reports a database that is damaged', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const file = place.path('countersign.db')
    const bytes = await readFile(file)
    bytes.fill(0xff, 4096, 3 * 4096)
    await writeFile(file, bytes)
    const { of } = await examine()
    expect(of('database')).toMatchObject({
      status: 'problem',
      remedy: `see ${docPath('operations/runbooks.md#database_corrupt')}`,
    })
  })

  it('names the table of a database that is damaged, also where its keys cannot be read', async () => {
    for (const table of ['audit', 'keyring']) {
      await rm(place.path('countersign.db'), { force: true })
      await place.run(['tenant', 'create', 'acme'])
      damageTable(place.path('countersign.db'), table)
      const { of } = await examine()
      expect(of('database')).toMatchObject({
        status: 'problem',
        detail: expect.stringContaining(`(table ${table})`),
        remedy: `see ${docPath('operations/runbooks.md#database_corrupt')}`,
      })
      expect(of('database').detail).not.toContain('countersign doctor')
    }
  })

  it.skipIf(process.getuid?.() === 0)('reports a data folder that cannot be written to', async () => {
    await mkdir(place.path('locked'), { mode: 0o500 })
    const { of } = await examine({ COUNTERSIGN_DATA_DIR: place.path('locked') })
    expect(of('disk').status).toBe('problem')
  })

  it('warns of oddities without failing', async () => {
    const { ok, of } = await examine({
      COUNTERSIGN_WORKERS: '256',
      COUNTERSIGN_EXECUTION_PROVIDERS: 'nonsense,cpu',
    })
    expect(ok).toBe(true)
    expect(of('topology').status).toBe('warning')
    expect(of('provider nonsense').status).toBe('warning')
    expect(of('provider cpu').detail).toBe('loads, and would serve')
  })

  it('tries each accelerator, and says why one does not load and which provider would serve', async () => {
    const { ok, of } = await examine({ COUNTERSIGN_EXECUTION_PROVIDERS: 'tensorrt,cpu-lane,cpu' })
    expect(ok).toBe(true)
    expect(of('provider tensorrt')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/\S/),
      remedy: expect.stringContaining('the engine uses cpu-lane instead'),
    })
    expect(of('provider tensorrt').detail).not.toContain('\n')
    expect(of('provider cpu-lane').detail).toBe('loads, and would serve')
    expect(of('provider cpu').detail).toBe('loads')
  })

  it('warns of a secret that every user of the machine may read', async () => {
    const file = place.path('password')
    await writeFile(file, 'correct horse\n', { mode: 0o644 })
    const { ok, of } = await examine({ COUNTERSIGN_OPERATOR_PASSWORD_FILE: file })
    expect(ok).toBe(true)
    expect(of('configuration')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(file),
      remedy: expect.stringContaining(`chmod 600 ${file}`),
    })
  })

  it('says to people what failed and how to mend it', async () => {
    const { code, stdout, stderr } = await place.run(['doctor'], {
      COUNTERSIGN_MODEL_PACK: 'opencv-zoo',
    })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(/^FAIL +model pack .*models pull opencv-zoo$/m)
    expect(stdout).toContain('1 problem found.')
  })

  it('reports a setting that cannot be used, and goes on with its default', async () => {
    const { findings, of } = await examine({ COUNTERSIGN_FMR: '2' })
    expect(of('configuration')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/^COUNTERSIGN_FMR is "2"/),
    })
    expect(findings.map(({ check }) => check)).toContain('model pack')
  })

  it('fails on a configuration file that cannot be read, since it would examine another installation', async () => {
    const result = await place.ask(`doctor --config ${place.path('none.env')}`)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'invalid_configuration' } })
  })
})
