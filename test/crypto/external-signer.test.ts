/** Public verdicts whose keys are in a PKCS#11 token (SoftHSM), by docs/examples/pkcs11/signer.py, and in a program that fails. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { openVerdictKey } from '../../src/features/public-verdicts/verdict-key-ring.js'
import { ANNOUNCED_MS } from '../../src/features/public-verdicts/verdict-key-rotation.js'
import { HOUR_MS } from '../../src/lib/clock.js'
import { packageFile } from '../../src/lib/package-root.js'
import { answerTo } from '../support/challenges.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { verdictKeysOfService } from '../support/verdict-keys.js'

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
    folder = temporaryFolder()
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
  afterAll(() => running?.stop())

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
    const { secrets } = running.service.core.keys
    for (const record of await verdictKeysOfService(running.service).stored())
      expect(openVerdictKey(secrets, record).jwk.d).toBeUndefined()
  })

  it('signs many verdicts at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(tenant)))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      await expect(check(body.jwt_public)).resolves.toBeDefined()
    }
  })

  it('is replaced by a rotation, and destroyed in the token an hour after its last signature', async () => {
    const { rotation, stored, reload } = verdictKeysOfService(running.service)
    const [before] = (await stored()).filter(({ environment }) => environment === 'sandbox')
    const [next] = await rotation.rotate(['sandbox'], COMMAND_LINE)
    await reload()
    running.clock.advance(ANNOUNCED_MS)
    const { body } = await verify(tenant)
    expect((await check(body.jwt_public)).protectedHeader.kid).toBe(next!.id)
    running.clock.advance(HOUR_MS)
    expect(await rotation.erasePrivateHalves()).toEqual([before!.id])
    expect(labels()).not.toContain(before!.id)
    expect(labels()).toContain(next!.id)
  })
})

describe('a program that holds the keys', () => {
  /** ECDSA on P-256 over a digest (FIPS 186-5, section 6.4.1), which Node.js has only together with the hash. Nobody relies on its keys. */
  const PROGRAM = `const { createECDH, randomBytes } = require('node:crypto')
    const { existsSync, writeFileSync } = require('node:fs')
    const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const number = (bytes) => BigInt('0x' + bytes.toString('hex'))
    const bytesOf = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
    const power = (base, e) => { let out = 1n; for (; e; e >>= 1n, base = (base * base) % N) if (e & 1n) out = (out * base) % N; return out }
    const pair = () => { const ecdh = createECDH('prime256v1'); ecdh.generateKeys(); return { d: number(ecdh.getPrivateKey()), point: ecdh.getPublicKey() } }
    const keys = new Map()
    let signed = 0
    const say = (answer) => console.log(JSON.stringify(answer))
    const sign = (label, digest) => {
      const { d: k, point } = pair()
      const r = number(point.subarray(1, 33)) % N
      const s = (power(k, N - 2n) * (number(Buffer.from(digest, 'base64url')) + r * keys.get(label))) % N
      return Buffer.concat([bytesOf(r), bytesOf(s)]).toString('base64url')
    }
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, do: what, label, digest } = JSON.parse(line)
      if (what === 'sign') {
        signed++
        FAULT
        return say({ id, signature: sign(label, digest) })
      }
      const { d, point } = pair()
      keys.set(label, d)
      say({ id, x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') })
    })`
  let folder: string
  let running: TestService | undefined

  /** A service whose program does this before it signs. */
  async function serviceWith(fault: string): Promise<TestService> {
    folder = temporaryFolder()
    writeFileSync(join(folder, 'signer.cjs'), PROGRAM.replace('FAULT', fault))
    running = await startService({
      COUNTERSIGN_VERDICT_SIGNER: `exec ${process.execPath} ${join(folder, 'signer.cjs')} ${folder}`,
    })
    return running
  }
  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  /** The program has been asked, and signs only once `let()` was called. */
  const HELD = `writeFileSync(process.argv[2] + '/asked', '')
    const wait = setInterval(() => {
      if (!existsSync(process.argv[2] + '/go')) return
      clearInterval(wait)
      say({ id, signature: sign(label, digest) })
    }, 5)
    return`
  const isAsked = () => expect.poll(() => existsSync(join(folder, 'asked')), { timeout: 10_000 }).toBe(true)
  const letSign = () => writeFileSync(join(folder, 'go'), '')

  it('refuses a verify with 503 while it cannot sign, stores nothing of it, and is started again', async () => {
    // The keys are gone with the program, so it is asked for new ones here.
    const service = await serviceWith("if (signed === 3) return say({ id, error: 'busy' })")
    const tenant = await service.tenant()
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await verify(tenant))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503, 200])
    expect(answers[2]!.body.code).toBe('store_unavailable')
    expect(answers[2]!.headers.get('retry-after')).toBe('1')
  })

  it('gives out no signature that its public key does not verify, and the log says so', async () => {
    const service = await serviceWith(
      "if (signed === 1) return say({ id, signature: sign(label, Buffer.alloc(32).toString('base64url')) })",
    )
    const tenant = await service.tenant()
    const refused = await verify(tenant)
    expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable'])
    expect(refused.text).not.toContain('jwt_public')
    expect(service.logText()).toContain('gave a signature that the published key')
    const { status, body } = await verify(tenant)
    expect(status).toBe(200)
    const url = new URL(`${service.service.url('sandbox')}/.well-known/jwks.json`)
    const currentDate = new Date(service.clock.now())
    await expect(jwtVerify(body.jwt_public, createRemoteJWKSet(url), { currentDate })).resolves.toBeDefined()
  })

  it('holds the commit of nobody else while it signs', async () => {
    const service = await serviceWith(HELD)
    const [tenant, other] = [await service.tenant(), await service.tenant()]
    const order: string[] = []
    const slow = verify(tenant).then(({ status }) => order.push(`signed ${status}`))
    await isAsked()
    const image = base64(await plain())
    const enrolled = await other.sandbox.enroll({ user_id: 'grace', image })
    order.push(`enrolled ${enrolled.status}`)
    letSign()
    await slow
    expect(order).toEqual(['enrolled 201', 'signed 200'])
  })

  it('gives a verdict by the state at its commit: a user who was erased meanwhile is not approved', async () => {
    const service = await serviceWith(HELD)
    const { sandbox } = await service.tenant()
    const image = base64(await plain())
    await sandbox.enroll({ user_id: 'grace', image })
    const slow = sandbox.verify({ user_id: 'grace', image, action: 'x' })
    await isAsked()
    expect((await sandbox.erase('grace')).status).toBe(200)
    letSign()
    expect((await slow).body.code).toBe('reference_not_found')
  })

  it('refuses a verify with 503 when it hangs, and nothing of the verify is kept', async () => {
    const service = await serviceWith('if (signed === 1) return')
    const { sandbox } = await service.tenant()
    const image = base64(await plain())
    const asked = { user_id: 'ada+match', action: 'x' }
    const { body: challenge } = await sandbox.call('POST', '/v1/challenges', asked)
    const request = { ...asked, challenge: answerTo(challenge, image) }
    const keyed = (key: string) => ({ headers: { 'X-Svc-Idempotency-Key': key } })
    const hung = await sandbox.verify(request, keyed('first'))
    expect([hung.status, hung.body.code, hung.headers.get('retry-after')]).toEqual([
      503,
      'store_unavailable',
      '1',
    ])
    // The challenge is unused, and the idempotency key has no answer.
    const again = await sandbox.verify(request, keyed('first'))
    expect([again.status, again.body.verdict]).toEqual([200, 'approved'])
    const replayed = await sandbox.verify(request, keyed('first'))
    expect(replayed.body).toEqual(again.body)
    const { body } = await sandbox.verify(request, keyed('second'))
    expect(body.code).toBe('challenge_used')
  })
})
