import { statSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { workplaceForEach } from '../support/command.js'

const place = workplaceForEach()

describe('a database file without content', () => {
  for (const args of [['tenant', 'list'], ['tenant', 'create', 'acme'], ['audit', 'verify'], ['nodes']])
    it(`is refused by ${args.join(' ')} and stays empty`, async () => {
      await place.run(['tenant', 'create', 'acme'])
      const file = place.path('countersign.db')
      await writeFile(file, '')
      const { code, error } = await place.run([...args, '--json'])
      expect({ code, error: error.code }).toEqual({ code: 1, error: 'database_empty' })
      expect(statSync(file).size).toBe(0)
    })

  it('is reported by doctor, which writes nothing into it', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const file = place.path('countersign.db')
    await writeFile(file, '')
    const { findings } = (await place.ask('doctor')).json
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'database',
        status: 'problem',
        detail: expect.stringContaining('is empty'),
      }),
    )
    expect(statSync(file).size).toBe(0)
  })
  it('is waited for while another command makes a database of it', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const file = place.path('countersign.db')
    await rename(file, `${file}.made`)
    await writeFile(file, '')
    const listing = place.ask('tenant list')
    await sleep(200)
    await rename(`${file}.made`, file)
    expect((await listing).json).toMatchObject([{ name: 'acme' }])
  })
})
