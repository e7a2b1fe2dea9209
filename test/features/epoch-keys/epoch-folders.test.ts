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
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { databaseTag } from '../../../src/features/epoch-keys/epoch-folder.js'
import type { EpochStep } from '../../../src/features/epoch-keys/epoch-rotation.js'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import { isUnderWay } from '../../../src/features/postgres/store/epoch-book.js'
import { HOUR_MS, SECOND_MS } from '../../../src/lib/clock.js'
import { makeTenant } from '../../cluster/nodes.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { overPostgres } from '../../support/postgres.js'
import { EpochStage, enrol, keyFiles, opens, rotationOf } from './epoch-parts.js'

const NOBODY = 65_534

overPostgres(() => {
  const stage = new EpochStage()
  beforeEach(() => stage.start(0))

  const core = () => stage.core()
  const rotate = (at: Core, onStep?: (step: EpochStep) => void) => stage.rotate(at, onStep ? { onStep } : {})
  const age = (file: string) => {
    const then = (Date.now() - HOUR_MS) / SECOND_MS
    utimesSync(file, then, then)
  }

  it('a folder that shows a key late, in part or not at all, or hangs, delays the rotation and no call', async () => {
    const [first, second] = [stage.path, `${stage.path}.late`]
    mkdirSync(second)
    await stage.cluster.start()
    await stage.cluster.start({ COUNTERSIGN_EPOCH_KEYS: second })
    const tenant = await makeTenant(stage.cluster)
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
        async () => stage.cluster.logText(),
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
      for (const [node, { adminUrl }] of stage.cluster.nodes.entries()) {
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
  })

  const STEPS: EpochStep[] = ['announced', 'activated', 'fenced', 'wrapped']
  it('a folder that is replaced by an empty one during a rotation loses no user: the rotation completes once the folder is back', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    await rotate(living)
    for (const step of STEPS) {
      const user = `before ${step}`
      const changing = await core()
      await enrol(changing, changing, tenant.id, user)
      const { path } = stage
      const away = `${path}.away`
      const refused = rotate(changing, (done) => {
        if (done !== step) return
        renameSync(path, away)
        mkdirSync(path)
      })
      await expect(refused).rejects.toThrow(/COUNTERSIGN_EPOCH_KEYS/)
      await expect(rotate(changing)).rejects.toThrow(/COUNTERSIGN_EPOCH_KEYS/)
      expect(keyFiles(stage.path)).toEqual([])
      expect(await opens(changing, tenant.id, user)).toBe(true)
      rmSync(path, { recursive: true })
      renameSync(away, path)
      const { keyId } = await rotate(await core())
      await stage.destroyEnded(changing)
      expect(keyFiles(stage.path)).toEqual([`${keyId}.epoch-key`])
      const after = await core()
      await stage.assertAllUnder(after, keyId)
      expect(await opens(after, tenant.id, user)).toBe(true)
    }
  })

  it('a service restores a missing key file from memory, but not into an empty folder', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    const first = await rotate(living)
    await enrol(living, living, tenant.id, 'ada')
    const known = stage.folder
    const rotation = rotationOf(living, known)
    const second = await rotation.rotate({ patienceMs: 60_000 })
    expect(await rotation.registry.restoreMissing()).toEqual([])
    const file = join(stage.path, `${second.keyId}.epoch-key`)
    const text = readFileSync(file, 'utf8')
    rmSync(file)
    expect(await rotation.registry.restoreMissing()).toEqual([second.keyId])
    expect(readFileSync(file, 'utf8')).toBe(text)
    for (const { keyId } of [first, second]) rmSync(join(stage.path, `${keyId}.epoch-key`))
    await expect(rotation.registry.restoreMissing()).rejects.toThrow(/Is it mounted/)
    expect(keyFiles(stage.path)).toEqual([])
  })

  it('orphaned keys of this database become epochs and are destroyed; keys of other databases stay', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    await enrol(living, living, tenant.id, 'ada')
    await rotate(living)
    const own = databaseTag(living.keys)
    const astray = [await stage.folder.make(own), await stage.folder.make(own)]
    const foreign = await stage.folder.make('of another database')
    for (const id of [...astray, foreign]) age(join(stage.path, `${id}.epoch-key`))
    // A young key may belong to a process that is about to announce it.
    const young = await stage.folder.make(own)
    const { keyId } = await rotate(living)
    expect([...astray, foreign, young]).not.toContain(keyId)
    await stage.destroyEnded(living)
    expect(keyFiles(stage.path)).toEqual([keyId, foreign, young].map((id) => `${id}.epoch-key`).sort())
    await stage.assertAllUnder(await core(), keyId)
  })

  it('a key that never appears in the folder does not block the next epoch', async () => {
    const living = await core()
    const { tenant } = await living.tenancy.create('acme')
    await enrol(living, living, tenant.id, 'ada')
    const announced = rotate(living, () => {
      throw new Error('crash')
    })
    await expect(announced).rejects.toThrow('crash')
    const [lost] = keyFiles(stage.path)
    rmSync(join(stage.path, lost!))
    await expect(rotate(living)).rejects.toThrow(/lacks the key/)
    await stage.cluster.database.query('UPDATE epoch SET announced_at = $1', [Date.now() - HOUR_MS])
    const { keyId } = await rotate(living)
    expect(`${keyId}.epoch-key`).not.toBe(lost)
    await stage.assertAllUnder(await core(), keyId)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'files that root writes into the folder belong to the owner of the folder',
    async () => {
      chownSync(stage.path, NOBODY, NOBODY)
      const living = await core()
      await living.tenancy.create('acme')
      const { keyId } = await rotate(living)
      for (const name of [`${keyId}.epoch-key`, 'users.keys'])
        expect(statSync(join(stage.path, name))).toMatchObject({ uid: NOBODY, gid: NOBODY })
    },
  )
})
