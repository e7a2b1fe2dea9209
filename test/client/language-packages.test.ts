/** Checks what the packages for Python and Go, and the program for a shell, repeat by hand. The rest is generated (test/docs.test.ts). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UNVERIFIABLE_CODES } from '../../clients/node/unverifiable-codes.js'
import { packageFile } from '../../src/lib/package-root.js'

const python = (name: string) => readFileSync(packageFile('clients', 'python', ...name.split('/')), 'utf8')
const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))

const GO_METHOD = /^func \(c \*Client\) ((?!String|GoString|Environment)[A-Z]\w+)\(/gm
const goClient = () =>
  ['client.go', 'passkeys.go']
    .map((name) => readFileSync(packageFile('clients', 'go', name), 'utf8'))
    .join('\n')

/** The methods of a client by their names in Python. */
const methods = (text: string, form: RegExp) => {
  const names = [...text.matchAll(form)].map(([, name]) => name!)
  return [...new Set(names.map((name) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()))].sort()
}

describe('the packages for other languages', () => {
  it('have clients with the same methods', () => {
    const source = (room: string) => packageFile('clients', room)
    const inTypeScript = methods(
      readFileSync(join(source('node'), 'countersign.ts'), 'utf8'),
      /^ {2}(?:async )?\*?((?!constructor)[a-z]\w+)[<(]/gm,
    )
    const inGo = methods(goClient(), GO_METHOD)
    expect(inTypeScript.length).toBeGreaterThan(20)
    expect(methods(python('countersign/client.py'), /^ {4}def ([a-z]\w+)\(/gm)).toEqual(inTypeScript)
    expect(inGo).toEqual(inTypeScript)
    const inAsyncio = methods(python('countersign/async_client.py'), /^ {4}async def ([a-z]\w+)\(/gm)
    expect(inAsyncio).toEqual([...inTypeScript, 'aclose'].sort())
  })

  it.each([
    ['sdk-python.md', python('countersign/client.py'), /^ {4}def ([a-z]\w+)\(/gm],
    ['sdk-go.md', goClient(), GO_METHOD],
  ])('have every method on their page, %s, and no other', (name, source, form) => {
    const page = readFileSync(packageFile('docs', name), 'utf8')
    const [, section = ''] = page.split('## Every call\n')
    const cells = section
      .split(/^## /m)[0]!
      .match(/^\| `.*?` \|/gm)!
      .join('\n')
    expect(methods(cells, /`(\w+)`/g)).toEqual(methods(source, form))
  })

  it('have errors of the same names', () => {
    const named = (text: string, form: RegExp) => [...text.matchAll(form)].map(([, name]) => name!).sort()
    const read = (name: string) => readFileSync(packageFile('clients', name), 'utf8')
    const inTypeScript = named(read('node/errors.ts'), /^export class (?!CountersignError)(\w+Error)/gm)
    expect(inTypeScript.length).toBeGreaterThan(5)
    expect(named(read('python/countersign/errors.py'), /^class (?!Countersign|_)(\w+Error)\(/gm)).toEqual(
      inTypeScript,
    )
    const inGo = named(read('go/errors.go'), /^type (\w+Error) struct/gm)
    expect(inGo.map((name) => name.replace('API', 'Api'))).toEqual(inTypeScript)
  })

  it('have the version of the service', () => {
    expect(python('pyproject.toml')).toContain(`\nversion = "${manifest.version}"\n`)
    expect(python('countersign/__init__.py')).toContain(`__version__ = "${manifest.version}"`)
  })

  it('believe the same codes without a signature in a shell', () => {
    const program = readFileSync(packageFile('docs', 'examples', 'shell', 'step-up.sh'), 'utf8')
    const [, codes = ''] = /UNVERIFIABLE='([^']*)'/.exec(program)!
    expect(codes.trim().split(' ').sort()).toEqual([...UNVERIFIABLE_CODES].sort())
  })
})
