/** The compiled service loads typebox from a bundle: 50 ms at each start instead of 450. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

const manifest = (folder: string) =>
  JSON.parse(readFileSync(packageFile(...folder.split('/'), 'package.json'), 'utf8'))

it('the compiled service finds the bundle of the installed version, with every part', () => {
  const [bundled, installed] = ['dist/node_modules/typebox', 'node_modules/typebox'].map(manifest)
  expect(bundled.version).toBe(installed.version)
  expect(Object.keys(bundled.exports)).toEqual(Object.keys(installed.exports))
  const parts = Object.keys(bundled.exports).map((part) => `typebox${part.slice(1)}`)
  const program = `for (const part of ${JSON.stringify(parts)}) { await import(part); console.log(import.meta.resolve(part)) }`
  const resolved = execFileSync(
    process.execPath,
    ['--experimental-import-meta-resolve', '--input-type=module', '--eval', program],
    { cwd: packageFile('dist', 'src'), encoding: 'utf8' },
  )
  const places = resolved.trim().split('\n')
  expect(places).toHaveLength(parts.length)
  for (const place of places) expect(place).toContain('/dist/node_modules/typebox/')
})
