import { execFile } from 'node:child_process'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConfigError } from '../../src/config/config.js'
import { loadMasterKey } from '../../src/crypto/master-key.js'
import { openWithAny, reseal, seal } from '../../src/crypto/sealed-box.js'
import {
  activateKeys,
  deriveKeys,
  newKeys,
  openKeys,
  prepareKeys,
  type ServiceKeys,
  sealKeys,
  settleKeys,
} from '../../src/crypto/service-keys.js'
import { packageFile } from '../../src/lib/package-root.js'
import { temporaryFolder } from '../support/temporary-folder.js'

let dir: string
let file: string
beforeEach(() => {
  dir = temporaryFolder()
  file = join(dir, 'made', 'master.key')
})
afterEach(() => vi.unstubAllEnvs())

const load = (masterKey?: string) =>
  loadMasterKey({ masterKey, masterKeyCommand: undefined, masterKeyFile: file })

function write(text: string, mode = 0o600): void {
  file = join(dir, 'master.key')
  writeFileSync(file, text)
  chmodSync(file, mode)
}

describe('the master key file', () => {
  it('the first start creates the key file, readable by its owner only, and leaves no other file', () => {
    const key = load()
    expect(key).toHaveLength(32)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'made')).mode & 0o777).toBe(0o700)
    expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    expect(readdirSync(join(dir, 'made'))).toEqual(['master.key'])
  })

  it('a later start reads the same key', () => {
    expect(load()).toEqual(load())
  })

  it('another data directory gets another key', () => {
    const first = load()
    file = join(dir, 'other.key')
    expect(load()).not.toEqual(first)
  })

  it('no key file is created where the variable has the key', () => {
    const key = randomBytes(32)
    expect(load(key.toString('base64'))).toEqual(key)
    expect(readdirSync(dir)).toEqual([])
  })

  for (const length of [0, 16, 31, 33, 64])
    it(`refuses a master key of ${length} bytes`, () => {
      write(`${randomBytes(length).toString('base64')}\n`)
      expect(() => load()).toThrow(ConfigError)
      expect(() => load()).toThrow(/not 32 bytes of base64.*openssl rand -base64 32/)
      if (length > 0) expect(() => load(randomBytes(length).toString('base64'))).toThrow(ConfigError)
    })

  it('refuses a master key that is not base64', () => {
    write(`${'!'.repeat(12)}${randomBytes(24).toString('base64')}\n`)
    expect(() => load()).toThrow(ConfigError)
  })

  it.skipIf(process.platform === 'win32')(
    'refuses a key file that others can read, and names the remedy',
    () => {
      for (const mode of [0o644, 0o640, 0o604, 0o620, 0o601, 0o666]) {
        write(`${randomBytes(32).toString('base64')}\n`, mode)
        expect(() => load()).toThrow(`chmod 600 ${file}`)
      }
      chmodSync(file, 0o400)
      expect(load()).toHaveLength(32)
    },
  )

  it.skipIf(process.platform === 'win32')(
    'accepts the mask of an ACL on a key file among systemd credentials',
    () => {
      write(`${randomBytes(32).toString('base64')}\n`, 0o440)
      vi.stubEnv('CREDENTIALS_DIRECTORY', join(dir, 'elsewhere'))
      expect(() => load()).toThrow(`chmod 600 ${file}`)
      vi.stubEnv('CREDENTIALS_DIRECTORY', dir)
      expect(load()).toHaveLength(32)
      for (const mode of [0o444, 0o460, 0o660]) {
        chmodSync(file, mode)
        expect(() => load()).toThrow(`chmod 600 ${file}`)
      }
    },
  )

  it.runIf(process.getuid?.() === 0)(
    'accepts a group-readable key file of another user, as a mounted secret is',
    () => {
      write(`${randomBytes(32).toString('base64')}\n`, 0o440)
      chownSync(file, 65_534, 65_534)
      expect(load()).toHaveLength(32)
    },
  )

  it('refuses a directory as key file, with its path', () => {
    file = dir
    expect(() => load()).toThrow(ConfigError)
    expect(() => load()).toThrow(dir)
  })

  it('no refusal contains the key', () => {
    const text = randomBytes(31).toString('base64')
    write(text)
    try {
      load()
      expect.unreachable()
    } catch (error) {
      expect((error as Error).message).not.toContain(text.slice(0, 10))
    }
  })

  it('processes that start concurrently for the first time share one key', async () => {
    const script = `
      const { loadMasterKey } = await import(process.argv[1])
      process.stdout.write(loadMasterKey({ masterKeyFile: process.argv[2] }).toString('hex'))
    `
    const built = pathToFileURL(packageFile('dist', 'src', 'crypto', 'master-key.js')).href
    const results = await Promise.all(
      Array.from({ length: 6 }, () =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, built, file]),
      ),
    )
    const keys = new Set(results.map(({ stdout }) => stdout))
    expect([...keys]).toEqual([load().toString('hex')])
    expect(readdirSync(join(dir, 'made'))).toEqual(['master.key'])
  })

  it('the key file is created even where a crash left a partial one', () => {
    load()
    rmSync(file)
    writeFileSync(`${file}.${process.pid}.tmp`, 'half')
    expect(load()).toHaveLength(32)
  })
})

describe('derived keys', () => {
  /** HKDF-SHA256 written out from RFC 5869, one block. */
  function hkdf(secret: Buffer, info: string): Buffer {
    const extracted = createHmac('sha256', Buffer.alloc(32)).update(secret).digest()
    return createHmac('sha256', extracted).update(info).update(Buffer.of(1)).digest()
  }

  it('keys of a database without a keyring are HKDF-SHA256 of the master key, one for each purpose', () => {
    const master = randomBytes(32)
    const of = (purpose: string) => hkdf(master, `countersign/v1/${purpose}`)
    expect(deriveKeys(master)).toEqual({
      wrapping: { current: of('wrapping'), others: [] },
      epochs: { current: null, others: [] },
      secrets: { current: of('secrets'), others: [] },
      idempotency: { current: of('idempotency'), others: [] },
      audit: [of('audit')],
      lookup: of('lookup'),
      instance: of('instance'),
      phase: 'settled',
      generation: 0,
    })
  })
})

/** Every key in a set of them. */
function keysIn({ wrapping, secrets, idempotency, audit, lookup, instance }: ServiceKeys): Buffer[] {
  const sealing = [wrapping, secrets, idempotency].flatMap(({ current, others }) => [current, ...others])
  return [...sealing, ...audit, lookup, instance]
}

describe('working keys', () => {
  it('working keys are random, one for each purpose', () => {
    const all = [...keysIn(newKeys()), ...keysIn(newKeys())].map((key) => key.toString('hex'))
    expect(all).toHaveLength(12)
    expect(new Set(all).size).toBe(12)
  })

  it('new working keys first open, then seal, and then the old ones are dropped', () => {
    const before = newKeys()
    const boxes = (keys: ServiceKeys) => seal(keys.wrapping.current, Buffer.from('data key'), 'sub')
    const opens = (keys: ServiceKeys, box: Buffer) => {
      try {
        return openWithAny(keys.wrapping, box, 'sub').toString() === 'data key'
      } catch {
        return false
      }
    }
    const prepared = prepareKeys(before)
    const active = activateKeys(prepared)
    const settled = settleKeys(active)
    const [old, next] = [boxes(before), boxes(active)]
    expect(boxes(prepared).length).toBe(old.length)
    expect([before, prepared, active, settled].map((keys) => opens(keys, old))).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect([before, prepared, active, settled].map((keys) => opens(keys, next))).toEqual([
      false,
      true,
      true,
      true,
    ])
    expect(opens(before, boxes(prepared))).toBe(true)
    expect(reseal(active.wrapping, next, 'sub')).toBeNull()
    expect(opens(settled, reseal(active.wrapping, old, 'sub')!)).toBe(true)
    expect(settled.audit).toEqual([...before.audit, expect.any(Buffer)])
  })
})

describe('the keyring', () => {
  it('a keyring opens only with the master key that sealed it', () => {
    const [master, other] = [randomBytes(32), randomBytes(32)]
    const keys = activateKeys(prepareKeys(newKeys()))
    const sealed = sealKeys(keys, other, 'id')
    expect(openKeys(sealed, other, 'id', keys.generation)).toEqual(keys)
    expect(() => openKeys(sealed, master, 'id')).toThrow()
    expect(() => openKeys(sealed, other, 'another id')).toThrow()
    for (const key of keysIn(keys)) expect(sealed.includes(key)).toBe(false)
  })

  it('a keyring of an earlier version still opens', () => {
    const master = randomBytes(32)
    const derived = deriveKeys(master)
    const texts = {
      wrapping: derived.wrapping.current,
      secrets: derived.secrets.current,
      lookup: derived.lookup,
      idempotency: derived.idempotency.current,
      audit: derived.audit[0]!,
      instance: derived.instance,
    }
    const plaintext = JSON.stringify(
      Object.fromEntries(Object.entries(texts).map(([name, key]) => [name, key.toString('base64')])),
    )
    const wrapping = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), 'countersign/v1/keyring', 32))
    expect(openKeys(seal(wrapping, Buffer.from(plaintext), 'id'), master, 'id')).toEqual(derived)
  })
})
