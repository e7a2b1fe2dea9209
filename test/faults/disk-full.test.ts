/** Tests of a full disk, for database and log: writes are refused, reads continue, and the service recovers when there is space again. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiClient } from '../support/client.js'
import { poll, until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { validSignatures } from '../support/trust.js'
import { Crowd } from './crowd.js'
import { Installation } from './installation.js'
import { DISKS } from './small-disk.js'

describe('a full disk', () => {
  for (const { name, isPossible, make } of DISKS)
    it.skipIf(!isPossible)(`stops only writes, and only while it is full: ${name}`, async () => {
      const disk = await make()
      onTestFinished(disk.dispose)
      const installation = await Installation.create({
        dataDir: disk.folder,
        env: { COUNTERSIGN_LOG_LEVEL: 'info' },
      })
      onTestFinished(() => installation.dispose())
      const logFile = join(disk.folder, 'service.log')
      const log = openSync(logFile, 'a')
      onTestFinished(() => closeSync(log))
      const server = await installation.serve({ log })
      const crowd = await Crowd.gather(installation, server, { seed: 3, excused: ['store_unavailable'] })
      const { id, key, secrets } = crowd.tenants[0]!
      const client = apiClient(`${server.production}/v1`, key)
      const image = base64(await face('ada'))
      const enrol = () =>
        client.enroll({ user_id: 'ada', image }, { headers: { 'X-Svc-Idempotency-Key': 'before' } })
      const enrolled = await enrol()
      expect(enrolled.status).toBe(201)
      const requestId = enrolled.headers.get('x-request-id')!
      crowd.findings.executed.push({ tenantId: id, event: 'enroll', requestId })

      const stop = new AbortController()
      const working = crowd.work(server.production, stop.signal)
      await until(() => crowd.findings.acknowledged > 20)
      // Erasures free space, so the disk has to be filled again.
      await until(() => {
        disk.fill(server.pid)
        return (crowd.findings.refused.store_unavailable ?? 0) > 20
      })
      stop.abort()
      await working

      // A checkpoint may leave room in the log that is there already, so a write shows whether the disk is full.
      const [refused, degraded] = await poll(
        async () => {
          disk.fill(server.pid)
          return [
            await client.verify({ user_id: 'ada', image, action: 'login' }),
            await client.health(),
          ] as const
        },
        (answers) => answers.every(({ status }) => status === 503),
      )
      expect(degraded.body).toMatchObject({ status: 'degraded', checks: { store: { status: 'degraded' } } })
      expect(validSignatures(degraded, secrets)).not.toEqual([])
      // Requests without a write are answered: a kept response, and the liveness of the process.
      expect(await enrol()).toMatchObject({ status: 201, text: enrolled.text })
      expect((await fetch(`${server.admin}/livez`)).status).toBe(200)
      expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
      expect(refused.body.request_id).toBe(refused.headers.get('x-request-id'))

      disk.free(server.pid)
      await until(async () => (await client.health()).status === 200)
      expect(await client.verify({ user_id: 'ada', image, action: 'login' })).toMatchObject({
        status: 200,
        body: { verdict: 'approved' },
      })
      expect((await client.erase('ada')).status).toBe(200)
      await crowd.resolveUncertain(server.production)

      // The log continues with whole lines, up to the last request.
      const last = (await client.health()).headers.get('x-request-id')!
      const logged = await poll(
        async () => readFileSync(logFile, 'utf8'),
        (text) => text.includes(last),
      )
      for (const line of logged.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')

      // The service also stops properly on a full disk.
      disk.fill(server.pid)
      expect(await server.stop()).toBe(0)
      disk.free(server.pid)
      crowd.checkDatabase(installation.databaseFile)
      expect(crowd.problems).toEqual([])
      expect(crowd.findings.unanswered).toBe(0)
      await installation.run('audit', 'verify')
    })
})
