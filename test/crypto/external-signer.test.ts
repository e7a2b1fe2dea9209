/** Public verdicts whose keys are in a PKCS#11 token (SoftHSM), by docs/examples/pkcs11/signer.py, and in a program that fails. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { openVerdictKey } from '../../src/keys/verdict-key-ring.js'
import { ANNOUNCED_MS } from '../../src/keys/verdict-key-rotation.js'
import { HOUR_MS } from '../../src/lib/clock.js'
import { packageFile } from '../../src/lib/package-root.js'
import { answerTo } from '../support/challenges.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const MODULE = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so'].find(
  (file) => existsSync(file),
)
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import PyKCS11']).status === 0,
)
const isHere = MODULE !== undefined && PYTHON !== undefined

const verify = async (tenant: TestTenant) =>
  tenant.sandbox.verify({ user_id: 'ada+match', image: base64(await plain()), action: 'x' })

describe.skipIf(!isHere)('a key in a PKCS#11 token', () => {
  let folder: string
  let running: TestService
  let tenant: TestTenant
  let settings: Record<string, string>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-softhsm-'))
    mkdirSync(join(folder, 'tokens'))
    writeFileSync(join(folder, 'softhsm.conf'), `directories.tokendir = ${folder}/tokens\n`)
    writeFileSync(join(folder, 'pin'), '1234\n', { mode: 0o600 })
    settings = {
      SOFTHSM2_CONF: join(folder, 'softhsm.conf'),
      PKCS11_MODULE: MODULE!,
      PKCS11_TOKEN: 'verdicts',
      PKCS11_PIN_FILE: join(folder, 'pin'),
    }
    const made = ['--init-token', '--free', '--label', 'verdicts', '--pin', '1234', '--so-pin', '5678']
    execFileSync('softhsm2-util', made, { env: { ...process.env, ...settings } })
    const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    const program = packageFile('docs', 'examples', 'pkcs11', 'signer.py')
    running = await startService({
      COUNTERSIGN_VERDICT_SIGNER: `${given.join(' ')} exec ${PYTHON} ${program}`,
    })
    tenant = await running.tenant()
  })
  afterAll(async () => {
    await running?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const check = async (token: string) => {
    const url = new URL(`${running.service.url('sandbox')}/.well-known/jwks.json`)
    const currentDate = new Date(running.clock.now())
    return jwtVerify(token, createRemoteJWKSet(url), { algorithms: ['ES256'], currentDate })
  }
  const labels = () =>
    execFileSync(
      'pkcs11-tool',
      ['--module', MODULE!, '--token-label', 'verdicts', '--list-objects', '--pin', '1234'],
      {
        env: { ...process.env, ...settings },
        encoding: 'utf8',
      },
    ).match(/vky_[0-9a-f]{32}/g)

  it('signs verdicts that the published keys check, and never leaves the token', async () => {
    const { body } = await verify(tenant)
    await expect(check(body.jwt_public)).resolves.toBeDefined()
    const { store, keys } = running.service.core
    for (const record of await store.read.verdictKeys())
      expect(openVerdictKey(keys.secrets, record).jwk.d).toBeUndefined()
  })

  it('signs many verdicts at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(tenant)))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      await expect(check(body.jwt_public)).resolves.toBeDefined()
    }
  })

  it('is replaced by a rotation, and destroyed in the token an hour after its last signature', async () => {
    const { core } = running.service
    const [before] = (await core.store.read.verdictKeys()).filter(
      ({ environment }) => environment === 'sandbox',
    )
    const [next] = await core.verdictKeyRotation.rotate(['sandbox'], COMMAND_LINE)
    core.verdictKeys.replace(await core.store.read.verdictKeys())
    running.clock.advance(ANNOUNCED_MS)
    const { body } = await verify(tenant)
    expect((await check(body.jwt_public)).protectedHeader.kid).toBe(next!.id)
    running.clock.advance(HOUR_MS)
    expect(await core.verdictKeyRotation.erasePrivateHalves()).toEqual([before!.id])
    expect(labels()).not.toContain(before!.id)
    expect(labels()).toContain(next!.id)
  })
})

describe('a program that holds the keys', () => {
  /** Answers with the same point and signature always, and ends at the third signature. */
  const PROGRAM = `let signed = 0
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, do: what } = JSON.parse(line)
      if (what === 'sign' && ++signed === 3) process.exit(1)
      const x = 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY', y = 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU'
      console.log(JSON.stringify(what === 'sign' ? { id, signature: Buffer.alloc(64, 1).toString('base64url') } : { id, x, y }))
    })`

  it('refuses a verify with 503 while it cannot sign, stores nothing of it, and is started again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-signer-'))
    writeFileSync(join(folder, 'signer.cjs'), PROGRAM)
    const running = await startService({
      COUNTERSIGN_VERDICT_SIGNER: `exec ${process.execPath} ${join(folder, 'signer.cjs')}`,
    })
    try {
      const tenant = await running.tenant()
      const answers = []
      for (let i = 0; i < 4; i++) answers.push(await verify(tenant))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200])
      expect(answers[2]!.body.code).toBe('store_unavailable')
      expect(answers[2]!.headers.get('retry-after')).toBe('1')
    } finally {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('refuses a verify with 503 after 2 s when it hangs, and nothing of the verify is kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-signer-'))
    // The first request for a signature is never answered.
    writeFileSync(
      join(folder, 'signer.cjs'),
      PROGRAM.replace('++signed === 3) process.exit(1)', '++signed === 1) return'),
    )
    const running = await startService({
      COUNTERSIGN_VERDICT_SIGNER: `exec ${process.execPath} ${join(folder, 'signer.cjs')}`,
    })
    try {
      const { sandbox } = await running.tenant()
      const image = base64(await plain())
      const asked = { user_id: 'ada+match', action: 'x' }
      const { body: challenge } = await sandbox.call('POST', '/v1/challenges', asked)
      const request = { ...asked, challenge: answerTo(challenge, image) }
      const keyed = (key: string) => ({ headers: { 'X-Svc-Idempotency-Key': key } })
      const started = performance.now()
      // A call that writes too waits for the hanging one, and no longer.
      const [hung, beside] = await Promise.all([
        sandbox.verify(request, keyed('first')),
        sandbox.enroll({ user_id: 'grace', image }),
      ])
      const elapsedMs = performance.now() - started
      expect([hung.status, hung.body.code, hung.headers.get('retry-after')]).toEqual([
        503,
        'store_unavailable',
        '1',
      ])
      expect(elapsedMs).toBeGreaterThan(1_900)
      expect(beside.status).toBe(201)
      // The challenge is unused, and the idempotency key has no answer.
      const again = await sandbox.verify(request, keyed('first'))
      expect([again.status, again.body.verdict]).toEqual([200, 'approved'])
      const { body } = await sandbox.verify(request, keyed('second'))
      expect(body.code).toBe('challenge_used')
    } finally {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
