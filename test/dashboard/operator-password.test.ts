import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { generatePassword, hashPassword } from '../../src/admin/accounts/password-hash.js'
import { ConfigError } from '../../src/config/config.js'
import { loadOperatorPassword, resetOperatorPassword } from '../../src/dashboard/sign-in/operator-password.js'
import { startService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const PASSWORD = 'correct horse battery'

let dir: string
let file: string
beforeEach(() => {
  dir = temporaryFolder()
  file = join(dir, 'made', 'operator.password')
})

const load = (operatorPassword?: string) =>
  loadOperatorPassword({ operatorPassword, operatorPasswordFile: file })

function write(text: string): void {
  file = join(dir, 'secret')
  writeFileSync(file, text)
}

describe('the password of the operator', () => {
  it('is generated at the first start, shown once, and stored as a hash that only its owner can read', async () => {
    const failed = await load()
    expect(existsSync(file)).toBe(false)
    const first = await load()
    expect(first.generated).not.toBe(failed.generated)
    await first.keep()
    expect(await first.matches(first.generated!)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain(first.generated)
    const second = await load()
    expect(second.generated).toBeNull()
    expect(await second.matches(first.generated!)).toBe(true)
    expect(await second.matches(`${first.generated}x`)).toBe(false)
    await expect(failed.keep()).rejects.toThrow('was made by another process meanwhile')
  })

  it('is refused at the start when it has fewer than 15 characters, or too few different ones', async () => {
    await expect(startService({ COUNTERSIGN_OPERATOR_PASSWORD: 'a' })).rejects.toThrow(
      'The password in COUNTERSIGN_OPERATOR_PASSWORD has 1 character, and needs at least 15',
    )
    await expect(load('fourteen chars')).rejects.toThrow('has 14 characters')
    await expect(load('aaaabbbbccccdddd')).rejects.toThrow('repeats so few characters')
    expect(await (await load('fifteen chars!!')).matches('fifteen chars!!')).toBe(true)
    // A hash does not reveal the length, so that an older short password stays valid.
    expect(await (await load(await hashPassword('short'))).matches('short')).toBe(true)
  })

  it('takes effect in a running service as soon as it is reset, with another fingerprint', async () => {
    const made = await load()
    await made.keep()
    const running = await load()
    const before = await running.fingerprint()
    expect(await running.fingerprint()).toBe(before)
    const password = await resetOperatorPassword({ operatorPassword: undefined, operatorPasswordFile: file })
    for (const service of [running, made])
      expect([await service.matches(password), await service.matches(made.generated!)]).toEqual([true, false])
    expect(await running.fingerprint()).not.toBe(before)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('cannot be reset when the variable sets it', async () => {
    const config = { operatorPassword: PASSWORD, operatorPasswordFile: file }
    await expect(resetOperatorPassword(config)).rejects.toThrow('COUNTERSIGN_OPERATOR_PASSWORD')
    expect(existsSync(file)).toBe(false)
  })

  it('stays valid in a running service when its file becomes unusable', async () => {
    write(PASSWORD)
    const running = await load()
    for (const text of ['', 'scrypt$']) {
      write(text)
      expect(await running.matches(PASSWORD)).toBe(true)
    }
    rmSync(file)
    expect(await running.matches(PASSWORD)).toBe(true)
  })

  for (const [what, stored] of [
    ['plain text', async () => PASSWORD],
    ['a hash', () => hashPassword(PASSWORD)],
  ] as const) {
    it(`may be set as ${what} in the variable`, async () => {
      const text = await stored()
      const { matches, generated } = await load(text)
      expect(generated).toBeNull()
      expect([await matches(PASSWORD), await matches(`${PASSWORD} `)]).toEqual([true, false])
      if (text !== PASSWORD) expect(await matches(text)).toBe(false)
    })

    it(`may be set as ${what} in the file, with any end of line`, async () => {
      for (const end of ['', '\n', '\r\n']) {
        write(`${await stored()}${end}`)
        expect(await (await load()).matches(PASSWORD)).toBe(true)
      }
    })
  }

  it('is never a truncated hash or an empty text', async () => {
    const hash = await hashPassword(PASSWORD)
    for (const text of [hash.slice(0, -1), 'scrypt$', `${hash}x`]) {
      await expect(load(text)).rejects.toThrow(ConfigError)
      write(text)
      await expect(load()).rejects.toThrow(`${file} holds a password hash that is not whole`)
    }
    write('\n')
    await expect(load()).rejects.toThrow(`${file} is empty`)
  })

  it('is refused with the name of the file when the file cannot be read', async () => {
    file = dir
    await expect(load()).rejects.toThrow(ConfigError)
    await expect(load()).rejects.toThrow(dir)
  })

  it('is generated with 120 random bits, different each time', () => {
    const [first, second] = [generatePassword(), generatePassword()]
    expect(first).toMatch(/^[\w-]{20}$/)
    expect(first).not.toBe(second)
  })
})
