/** The packages for Python and Go, read as text: they know what the SDK for TypeScript knows, and follow the API's document. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ACR_VALUES } from '../../src/client/acr.js'
import { UNVERIFIABLE_CODES } from '../../src/client/unverifiable-codes.js'
import { TYPED_ACTION_TYPES } from '../../src/contract/actions/typed-actions.js'
import { packageFile } from '../../src/lib/package-root.js'

const python = (name: string) => readFileSync(packageFile('src', 'client-python', ...name.split('/')), 'utf8')
const goSource = readdirSync(packageFile('src', 'client-go'))
  .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  .map((name) => readFileSync(packageFile('src', 'client-go', name), 'utf8'))
  .join('\n')
const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
const { components } = JSON.parse(readFileSync(packageFile('docs', 'openapi.json'), 'utf8'))
const quoted = (text: string) => [...text.matchAll(/"([^"]+)"/g)].map(([, word]) => word!)

describe('the packages for Python and Go', () => {
  it('have the version of the service', () => {
    expect(python('pyproject.toml')).toContain(`\nversion = "${manifest.version}"\n`)
    expect(python('countersign/__init__.py')).toContain(`__version__ = "${manifest.version}"`)
  })

  it('believe the same codes without a signature', () => {
    const [, inPython = ''] = /UNVERIFIABLE_CODES = frozenset\(\s*\{([^}]*)\}/.exec(
      python('countersign/errors.py'),
    )!
    const [, inGo = ''] = /unverifiableCodes = map\[string\]bool\{([^}]*)\}/.exec(goSource)!
    const [, inShell = ''] = /UNVERIFIABLE='([^']*)'/.exec(
      readFileSync(packageFile('docs', 'examples', 'shell', 'step-up.sh'), 'utf8'),
    )!
    const expected = [...UNVERIFIABLE_CODES].sort()
    expect(quoted(inPython).sort()).toEqual(expected)
    expect(quoted(inGo).sort()).toEqual(expected)
    expect(inShell.trim().split(' ').sort()).toEqual(expected)
  })

  it('name the same authentication contexts', () => {
    expect(python('countersign/acr.py').match(/urn:[\w:-]+/g)).toEqual(ACR_VALUES)
    expect(goSource.match(/urn:[\w:-]+/g)).toEqual(ACR_VALUES)
  })

  it('know the same types of actions', () => {
    const [, inPython = ''] = /_TYPED_ACTION_TYPES = \(([^)]*)\)/.exec(python('countersign/verdict.py'))!
    const [, inGo = ''] = /typedActionTypes = \[\]string\{([^}]*)\}/.exec(goSource)!
    expect(quoted(inPython)).toEqual(TYPED_ACTION_TYPES)
    expect(quoted(inGo)).toEqual(TYPED_ACTION_TYPES)
  })

  it('say the same about what to do with a verdict that is refused', () => {
    const pairs = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/^\s+"?(\w+)"?:\s*(?:"([^"]*)"|'([^']*)'),$/gm)].map(([, code, one, other]) => [
          code!,
          one ?? other,
        ]),
      )
    const [inTypeScript, inPython, inGo] = [
      ['client', 'verdict-remedies.ts'],
      ['client-python', 'countersign', 'verdict_remedies.py'],
      ['client-go', 'verdict_remedies.go'],
    ].map((path) => pairs(readFileSync(packageFile('src', ...path), 'utf8')))
    expect(Object.keys(inTypeScript!).length).toBeGreaterThan(20)
    expect(inPython).toEqual(inTypeScript)
    expect(inGo).toEqual(inTypeScript)
  })

  // The names of a class or struct, and the schema of the API that it stands for.
  it.each([
    ['EnrollResult', 'EnrollResult', 'EnrollResult'],
    ['AssessResult', 'AssessResult', 'AssessResult'],
    ['VerifyResult', 'VerifyResult', 'VerifyResult'],
    ['DeleteResult', 'DeleteResult', 'DeleteResult'],
    ['User', 'User', 'User'],
    ['Challenge', 'Challenge', 'Challenge'],
    ['Guidance', 'Guidance', 'Guidance'],
    ['CaptureSessionLink', 'CaptureSessionLink', 'CaptureSessionLink'],
    ['CaptureSession', 'CaptureSession', 'CaptureSession'],
    ['AuditPage', 'AuditPage', 'AuditPage'],
    ['AuditEntry', 'AuditEntry', 'AuditEntry'],
    ['Health', 'Health', 'HealthResult'],
    ['RotateSigningResult', 'RotateSigningResult', 'RotateSigningResult'],
  ])('have every field of an answer: %s', (inPython, inGo, schema) => {
    const expected = Object.keys(components.schemas[schema].properties).sort()
    const [, fields = ''] = new RegExp(`\\nclass ${inPython}\\b[^\\n]*:\\n((?:    .*\\n|\\n(?=    ))*)`).exec(
      python('countersign/answers.py'),
    )!
    const [own = ''] = fields.split('@property')
    const names = [...own.matchAll(/^ {4}(\w+): /gm)].map(([, name]) => name!)
    expect(names.sort()).toEqual(expected)
    const [, members = ''] = new RegExp(`\\ntype ${inGo} struct \\{\\n((?:\\t.*\\n|\\n)*?)\\}`).exec(
      goSource,
    )!
    // One tab: members of the struct itself.
    const tags = [...members.matchAll(/^\t(?:\w+ .*|\})\s*`json:"(\w+)/gm)].map(([, tag]) => tag!)
    expect(tags.sort()).toEqual(expected)
  })
})
