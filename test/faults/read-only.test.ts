/** Tests of a database that cannot be written any more: refused at the start in one line, and survived while serving. */
import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { apiClient } from '../support/client.js'
import { until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { Crowd } from './crowd.js'
import { FailingDisk } from './failing-disk.js'
import { Installation } from './installation.js'

const REFUSAL =
  /^serve ended before it was ready:\nerror: Cannot (?:use|write) the database \S+: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/

describe('a read-only database', () => {
  it.skipIf(!FailingDisk.isPossible())(
    'stops only writes while the service runs; the repaired disk holds a complete database',
    async () => {
      const disk = FailingDisk.make()
      onTestFinished(() => disk.dispose())
      const installation = await Installation.create({ dataDir: disk.folder })
      onTestFinished(() => installation.dispose())
      const server = await installation.serve()
      const crowd = await Crowd.gather(installation, server, { seed: 4, excused: ['store_unavailable'] })
      const client = apiClient(`${server.production}/v1`, crowd.tenants[0]!.key)
      const stop = new AbortController()
      const working = crowd.work(server.production, stop.signal)
      await until(() => crowd.findings.acknowledged > 20)

      disk.fail()
      await until(() => (crowd.findings.refused.store_unavailable ?? 0) > 20)
      const degraded = await client.health()
      expect(degraded.status).toBe(503)
      expect(degraded.body).toMatchObject({ status: 'degraded', checks: { store: { status: 'degraded' } } })
      const image = base64(await face('ada'))
      const missing = await client.verify({ user_id: 'nobody', image, action: 'login' })
      expect(missing.body.code).toBe('store_unavailable')
      expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
      stop.abort()
      await working
      expect(await server.stop()).toBe(0)
      expect(crowd.problems).toEqual([])
      expect(crowd.findings.unanswered).toBe(0)
      await expect(installation.serve()).rejects.toThrow(REFUSAL)

      disk.repair()
      const repaired = await installation.serve()
      // Completeness is not checked: e2fsck may drop the last commits from when the file system failed.
      const enrolled = await apiClient(`${repaired.production}/v1`, crowd.tenants[0]!.key).enroll({
        user_id: 'after the repair',
        image,
      })
      expect(enrolled.status).toBe(201)
      await installation.run('audit', 'verify')
    },
  )

  // The superuser may write in any mode.
  it.skipIf(process.getuid?.() === 0)('is refused at the start with one line', async () => {
    const installation = await Installation.create()
    onTestFinished(() => installation.dispose())
    await installation.run('tenant', 'create', 'acme')
    chmodSync(installation.databaseFile, 0o400)
    await expect(installation.serve()).rejects.toThrow(REFUSAL)
  })

  it.skipIf(process.getuid?.() === 0)(
    'is refused by naming the folder when only the folder is read-only',
    async () => {
      const installation = await Installation.create()
      onTestFinished(() => installation.dispose())
      await installation.run('tenant', 'create', 'acme')
      const folder = dirname(installation.databaseFile)
      chmodSync(folder, 0o500)
      onTestFinished(async () => chmodSync(folder, 0o700))
      const opening = async () => SqliteStore.open(installation.databaseFile)
      await expect(opening()).rejects.toThrow(`${folder} is not writable for this user`)
    },
  )
})
