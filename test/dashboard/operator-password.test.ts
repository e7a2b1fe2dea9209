import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config.js'
import {
  generatePassword,
  hashPassword,
  loadOperatorPassword,
} from '../../src/dashboard/operator-password.js'

const PASSWORD = 'correct horse battery'

let dir: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-operator-'))
  file = join(dir, 'made', 'operator.password')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const load = (operatorPassword?: string) =>
  loadOperatorPassword({ operatorPassword, operatorPasswordFile: file })

function write(text: string): void {
  file = join(dir, 'secret')
  writeFileSync(file, text)
}

describe('the password of the operator', () => {
  it('is made at the first start, shown once, and kept as a hash for its owner alone', async () => {
    const first = await load()
    expect(await first.matches(first.generated!)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain(first.generated)
    const second = await load()
    expect(second.generated).toBeNull()
    expect(await second.matches(first.generated!)).toBe(true)
    expect(await second.matches(`${first.generated}x`)).toBe(false)
  })

  for (const [what, stored] of [
    ['itself', async () => PASSWORD],
    ['its hash', () => hashPassword(PASSWORD)],
  ] as const) {
    it(`may be given as ${what} in the variable`, async () => {
      const text = await stored()
      const { matches, generated } = await load(text)
      expect(generated).toBeNull()
      expect([await matches(PASSWORD), await matches(`${PASSWORD} `)]).toEqual([true, false])
      if (text !== PASSWORD) expect(await matches(text)).toBe(false)
    })

    it(`may be given as ${what} in the file, whatever ends its line`, async () => {
      for (const end of ['', '\n', '\r\n']) {
        write(`${await stored()}${end}`)
        expect(await (await load()).matches(PASSWORD)).toBe(true)
      }
    })
  }

  it('is never a hash that was cut off, nor nothing at all', async () => {
    const hash = await hashPassword(PASSWORD)
    for (const text of [hash.slice(0, -1), 'scrypt$', `${hash}x`]) {
      await expect(load(text)).rejects.toThrow(ConfigError)
      write(text)
      await expect(load()).rejects.toThrow(`${file} holds a password hash that is not whole`)
    }
    write('\n')
    await expect(load()).rejects.toThrow(`${file} is empty`)
  })

  it('in a file that cannot be read is a refusal that names the file', async () => {
    file = dir
    await expect(load()).rejects.toThrow(ConfigError)
    await expect(load()).rejects.toThrow(dir)
  })

  it('is generated with 120 random bits, another one each time', () => {
    const [first, second] = [generatePassword(), generatePassword()]
    expect(first).toMatch(/^[\w-]{20}$/)
    expect(first).not.toBe(second)
  })
})
