/** `countersign models calibrate --from-users`, on a database with users whose embeddings are known. */
import { cp, readFile } from 'node:fs/promises'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { parseCalibration } from '../../models/pack/calibration.js'
import { loadModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import { showCalibration } from '../../src/http/metrics/engine-metrics.js'
import { normals } from '../evaluation/synthetic.js'
import { type Workplace, workplace } from '../support/command.js'
import { createDatabase, isOnPostgres, type TestDatabase } from '../support/postgres.js'

const USERS = 120
/** Users whose embedding was deleted when a change of the model pack ended. */
const DROPPED = 10
/** Users whose reference another model made. */
const FOREIGN = 20

let place: Workplace
let database: TestDatabase | null
let env: Record<string, string>
/** Every embedding that was stored. */
const stored: Float32Array[] = []

beforeAll(async () => {
  database = isOnPostgres() ? await createDatabase() : null
  place = await workplace(database ? { COUNTERSIGN_DATABASE: database.url } : {})
  await cp(inject('modelsDir'), place.path('models'), { recursive: true })
  env = { COUNTERSIGN_MODELS_DIR: place.path('models') }
  for (const name of ['acme', 'beta', 'other']) await place.run(['tenant', 'create', name])
  const pack = await loadModelPack(place.path('models', 'baseline'))
  const core = await open()
  const normal = normals(1)
  const embedding = () => {
    const vector = Float32Array.from({ length: pack.manifest.embedder.dimensions }, normal)
    return vector.map((value) => value / Math.hypot(...vector))
  }
  const add = async (tenant: string, count: number, model: string, made = embedding, isDropped = false) => {
    const { id } = await core.tenancy.find(tenant)
    await core.store.transaction('installation', async (tx) => {
      for (let i = 0; i < count; i++) {
        const user = `${tenant}-${model}-${stored.length}`
        const blindIndex = core.vault.blindIndex(id, 'production', user)
        const subject = core.vault.create(id, 'production', blindIndex, user)
        await tx.insertSubject(subject.record)
        stored.push(made())
        const content = { embedding: stored.at(-1)!, photoCount: 2, weight: 1, consent: null }
        const reference = await core.vault.putReference(tx, subject, model, content)
        if (isDropped) {
          const sealed = core.vault.sealAs(subject, reference, null)
          await tx.replaceTemplate({ id: reference.id, model, sealed })
        }
      }
    })
  }
  await add('acme', USERS, pack.modelId)
  await add('beta', 30, pack.modelId)
  // All users of this tenant have one face, which would spoil every rate if they were compared.
  const same = embedding()
  await add('other', 20, pack.modelId, () => same)
  await add('acme', FOREIGN, 'earlier@1.0.0', () => same)
  await add('acme', DROPPED, pack.modelId, () => same, true)
  await core.store.close()
})
afterAll(async () => {
  await place?.dispose()
  await database?.drop()
})

const open = () =>
  openCore(
    loadConfig({
      COUNTERSIGN_DATA_DIR: place.dataDir,
      ...(database ? { COUNTERSIGN_DATABASE: database.url } : {}),
    }),
  )

const calibrate = (args: string[], more: Record<string, string> = {}) =>
  place.run(['models', 'calibrate', 'baseline', ...args, '--per-second', '100000', '--json'], {
    ...env,
    ...more,
  })

const auditEvents = async (tenant: string) => {
  const core = await open()
  const { id } = await core.tenancy.find(tenant)
  const entries = await core.store.read.auditEntriesOfEvent(id, 'users_compared', 0, 100)
  await core.store.close()
  return entries.map(({ entry }) => JSON.parse(entry))
}

it('compares nobody unless the operator names a tenant, and records nothing', async () => {
  const { code, error } = await calibrate(['--from-users'])
  expect([code, error.code]).toEqual([1, 'comparison_not_allowed'])
  const unknown = await calibrate(['--from-users'], { COUNTERSIGN_COMPARE_USERS: 'nobody' })
  expect(unknown.error).toMatchObject({
    code: 'comparison_not_allowed',
    message: expect.stringContaining('nobody'),
  })
  expect(await auditEvents('acme')).toEqual([])
})

it('asks for data or for --from-users, and not for both', async () => {
  for (const args of [[], ['photos', '--from-users'], ['--from-users', '--people', '0']])
    expect((await calibrate(args)).error.code).toBe('invalid_option')
})

it('shows a calibration without writing it, leaves out users whose embedding was deleted, and records who was compared', async () => {
  const { code, json } = await calibrate(['--from-users', '--dry-run'], { COUNTERSIGN_COMPARE_USERS: 'ACME' })
  expect(code).toBe(0)
  expect(json).toMatchObject({
    file: null,
    source: 'users',
    users_without_template: DROPPED,
    data: {
      people: USERS,
      photos: 2 * USERS,
      impostor_pairs: (USERS * (USERS - 1)) / 2,
      likely_duplicates: 0,
    },
  })
  expect(await auditEvents('acme')).toMatchObject([
    { actor: 'operator', model: 'baseline@1.0.0', users: USERS + FOREIGN + DROPPED },
  ])
  expect(await auditEvents('other')).toEqual([])
  const pack = await loadModelPack(place.path('models', 'baseline'))
  expect(pack.calibration?.source).toBeUndefined()
})

it('draws as many users as asked for, and all of a small tenant, and never compares users of two tenants', async () => {
  const asked = ['--from-users', '--dry-run', '--people', '80']
  const { json } = await calibrate(asked, { COUNTERSIGN_COMPARE_USERS: 'acme,beta' })
  expect(json.data).toMatchObject({ people: 80, impostor_pairs: (30 * 29) / 2 + (50 * 49) / 2 })
})

it('writes the calibration, which decides from then on and names no user', async () => {
  const { code, json } = await calibrate(['--from-users'], { COUNTERSIGN_COMPARE_USERS: 'acme' })
  expect(code).toBe(0)
  const text = await readFile(json.file, 'utf8')
  const calibration = parseCalibration(text, json.file)
  expect(text).not.toMatch(/acme-|sub_|ref_/)
  const pack = await loadModelPack(place.path('models', 'baseline'))
  expect(pack.calibration).toEqual(calibration)
  const { threshold, fmr, basis } = json.threshold
  expect(thresholdForFmr(pack, 1e-4)).toMatchObject({ fmr, threshold: json.threshold.after, basis })
  expect(threshold).toBeUndefined()
  // No score of the output belongs to a pair: the histogram counts all of them.
  expect(json.histogram.reduce((sum: number, count: number) => sum + count, 0)).toBe(
    calibration.data.impostor_pairs,
  )
})

it('is named by doctor, with its people and the likely duplicates', async () => {
  const { json } = await place.ask('doctor', env)
  const finding = json.findings.find(({ check }: { check: string }) => check === 'model pack')
  expect(finding.detail).toMatch(
    /measured between 120 of your users on \d{4}-\d\d-\d\d \(likely duplicates: 0\)/,
  )
})

it('is shown by the metrics, with the source of the thresholds', async () => {
  const { calibration } = await loadModelPack(place.path('models', 'baseline'))
  const registry = new Registry()
  showCalibration(registry, {
    ...calibration!,
    data: { ...calibration!.data, likely_duplicates: 3 },
  })
  const text = await registry.metrics()
  expect(text).toContain('countersign_calibration_people{source="users"} 120')
  expect(text).toContain('countersign_likely_duplicates 3')
})

it('prints a table for people of what was measured and what was not', async () => {
  const line = 'models calibrate baseline --from-users --dry-run --per-second 100000'
  const { stdout } = await place.run(line.split(' '), { ...env, COUNTERSIGN_COMPARE_USERS: 'acme' })
  expect(stdout).toMatch(/^Measured on +120 users, 7,?140 pairs/m)
  expect(stdout).toMatch(/^Likely duplicates +/m)
  expect(stdout).toMatch(/^Left out +10 people whose template was deleted with its pack$/m)
  expect(stdout).toMatch(/extrapolated$/m)
  expect(stdout).toMatch(/^Not measured +FNMR/m)
})

it('is refused where too few users are enrolled', async () => {
  const { code, error } = await calibrate(['--from-users', '--people', '20'], {
    COUNTERSIGN_COMPARE_USERS: 'acme',
  })
  expect([code, error.code]).toEqual([1, 'too_few_people'])
})
