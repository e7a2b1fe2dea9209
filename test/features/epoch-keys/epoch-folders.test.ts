/** Folders of epoch keys as network mounts can be: late, gone, hanging, empty, or owned by another user. */
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { openCore } from '../../../src/app/core.js'
import { databaseTag, EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import type { EpochStep } from '../../../src/features/epoch-keys/epoch-rotation.js'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import { isUnderWay } from '../../../src/features/postgres/store/epoch-book.js'
import { HOUR_MS, SECOND_MS } from '../../../src/lib/clock.js'
import { type Cluster, makeTenant, startCluster } from '../../cluster/nodes.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { overPostgres } from '../../support/postgres.js'
import { assertAllUnder, destroyEnded, enrol, keyFiles, opens, rotationOf } from './epoch-parts.js'

/** Time for services that start on a busy machine. */
const LIMIT_MS = 120_000
const PATIENCE_MS = 60_000
const NOBODY = 65_534

overPostgres(() => {
  let base: string
  let path: string
  let cluster: Cluster
  const ledgers: Core[] = []
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'countersign-epoch-folders-'))
    path = join(base, 'epochs')
    mkdirSync(path)
    cluster = await startCluster(0, { COUNTERSIGN_EPOCH_KEYS: path, COUNTERSIGN_EPOCH_HOURS: '0' })
  })
  afterEach(async () => {
    for (const core of ledgers.splice(0)) await core.store.close()
    await cluster.stop()
    await rm(base, { recursive: true, force: true })
  })

  const core = async () => {
    const opened = await openCore(await cluster.configure())
    ledgers.push(opened)
    return opened
  }
  const folder = () => new EpochFolder(path)
  const rotate = async (at: Core, onStep?: (step: EpochStep) => void) =>
    rotationOf(at, folder()).rotate({ patienceMs: PATIENCE_MS, ...(onStep ? { onStep } : {}) })
  const age = (file: string) => {
    const then = (Date.now() - HOUR_MS) / SECOND_MS
    utimesSync(file, then, then)
  }

  it(
    'a folder that shows a key late, in part or not at all, or hangs, delays the rotation and no call',
    async () => {
      const [first, second] = [path, join(base, 'late')]
      mkdirSync(second)
      await cluster.start()
      await cluster.start({ COUNTERSIGN_EPOCH_KEYS: second })
      const tenant = await makeTenant(cluster)
      const image = base64(await face('ada'))
      const command = await core()
      const nameOf = async () => {
        const { keyId } = (await poll(
          async () => (await epochsOf(command.store)!.epochs.all()).find(isUnderWay),
          (found) => found !== undefined,
        ))!
        return `${keyId}.epoch-key`
      }
      const warned = (reason: string) =>
        poll(
          async () => cluster.logText(),
          (text) => text.split('\n').some((line) => line.includes('cannot be read') && line.includes(reason)),
        )
      const obstacles: Array<[string, (file: string, whole: string) => void]> = [
        ['lacks the key', () => {}],
        ['is damaged', (file, whole) => writeFileSync(file, readFileSync(whole).subarray(0, 20))],
        // Stands for EIO and ESTALE, which a test cannot provoke here.
        ['EISDIR', (file) => mkdirSync(file)],
        ['does not answer', (file) => void execFileSync('mkfifo', [file])],
      ]
      for (const [index, [reason, put]] of obstacles.entries()) {
        const changing = rotate(command)
        const name = await nameOf()
        const file = join(second, name)
        put(file, join(first, name))
        await warned(reason)
        for (const [node, { adminUrl }] of cluster.nodes.entries()) {
          expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200)
          const enrolled = await tenant.production[node]!.enroll({ user_id: `${index}-${node}`, image })
          expect(enrolled.status).toBe(201)
        }
        // Ends the read that hangs on the pipe.
        if (statSync(file, { throwIfNoEntry: false })?.isFIFO()) writeFileSync(file, '')
        rmSync(file, { recursive: true, force: true })
        copyFileSync(join(first, name), `${file}.new`)
        renameSync(`${file}.new`, file)
        expect((await changing).completedAt).not.toBeNull()
        for (const [node, client] of tenant.production.entries()) {
          const user = { user_id: `${index}-${1 - node}`, image, action: { type: 'login' } }
          expect((await client.verify(user)).status).toBe(200)
        }
      }
    },
    LIMIT_MS,
  )

  const STEPS: EpochStep[] = ['announced', 'activated', 'fenced', 'wrapped']
  it(
    'a folder that is replaced by an empty one during a rotation loses no user: the rotation completes once the folder is back',
    async () => {
      const living = await core()
      const { tenant } = await living.tenancy.create('acme')
      await rotate(living)
      for (const step of STEPS) {
        const user = `before ${step}`
        const changing = await core()
        await enrol(changing, changing, tenant.id, user)
        const away = `${path}.away`
        const refused = rotate(changing, (done) => {
          if (done !== step) return
          renameSync(path, away)
          mkdirSync(path)
        })
        await expect(refused).rejects.toThrow(/COUNTERSIGN_EPOCH_KEYS/)
        await expect(rotate(changing)).rejects.toThrow(/COUNTERSIGN_EPOCH_KEYS/)
        expect(keyFiles(path)).toEqual([])
        expect(await opens(changing, tenant.id, user)).toBe(true)
        rmSync(path, { recursive: true })
        renameSync(away, path)
        const { keyId } = await rotate(await core())
        await destroyEnded(changing, folder())
        expect(keyFiles(path)).toEqual([`${keyId}.epoch-key`])
        const after = await core()
        await assertAllUnder(after, folder(), keyId)
        expect(await opens(after, tenant.id, user)).toBe(true)
      }
    },
    LIMIT_MS,
  )

  it('a service restores a missing key file from memory, but not into an empty folder', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    const first = await rotate(living)
    await enrol(living, living, tenant.id, 'ada')
    const known = folder()
    const rotation = rotationOf(living, known)
    const second = await rotation.rotate({ patienceMs: PATIENCE_MS })
    expect(await rotation.registry.restoreMissing()).toEqual([])
    const file = join(path, `${second.keyId}.epoch-key`)
    const text = readFileSync(file, 'utf8')
    rmSync(file)
    expect(await rotation.registry.restoreMissing()).toEqual([second.keyId])
    expect(readFileSync(file, 'utf8')).toBe(text)
    for (const { keyId } of [first, second]) rmSync(join(path, `${keyId}.epoch-key`))
    await expect(rotation.registry.restoreMissing()).rejects.toThrow(/Is it mounted/)
    expect(keyFiles(path)).toEqual([])
  })

  it('orphaned keys of this database become epochs and are destroyed; keys of other databases stay', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    await enrol(living, living, tenant.id, 'ada')
    await rotate(living)
    const own = databaseTag(living.keys)
    const astray = [await folder().make(own), await folder().make(own)]
    const foreign = await folder().make('of another database')
    for (const id of [...astray, foreign]) age(join(path, `${id}.epoch-key`))
    // A young key may belong to a process that is about to announce it.
    const young = await folder().make(own)
    const { keyId } = await rotate(living)
    expect([...astray, foreign, young]).not.toContain(keyId)
    await destroyEnded(living, folder())
    expect(keyFiles(path)).toEqual([keyId, foreign, young].map((id) => `${id}.epoch-key`).sort())
    await assertAllUnder(await core(), folder(), keyId)
  })

  it('a key that never appears in the folder does not block the next epoch', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    await enrol(living, living, tenant.id, 'ada')
    const announced = rotate(living, () => {
      throw new Error('crash')
    })
    await expect(announced).rejects.toThrow('crash')
    const [lost] = keyFiles(path)
    rmSync(join(path, lost!))
    await expect(rotate(living)).rejects.toThrow(/lacks the key/)
    await cluster.database.query('UPDATE epoch SET announced_at = $1', [Date.now() - HOUR_MS])
    const { keyId } = await rotate(living)
    expect(`${keyId}.epoch-key`).not.toBe(lost)
    await assertAllUnder(await core(), folder(), keyId)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'files that root writes into the folder belong to the owner of the folder',
    async () => {
      chownSync(path, NOBODY, NOBODY)
      const living = await core()
      await living.tenancy.create('acme')
      const { keyId } = await rotate(living)
      for (const name of [`${keyId}.epoch-key`, 'users.keys'])
        expect(statSync(join(path, name))).toMatchObject({ uid: NOBODY, gid: NOBODY })
    },
  )
})
