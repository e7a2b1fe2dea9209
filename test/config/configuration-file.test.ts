import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/app/configuration.js'
import { FEATURES } from '../../src/features/index.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const dir = temporaryFolder()

function resolveFile(text: string, env: Record<string, string> = {}, features = FEATURES) {
  const file = join(dir, 'countersign.env')
  writeFileSync(file, text)
  return { file, ...resolveConfig({ COUNTERSIGN_CONFIG: file, ...env }, features) }
}

describe('a configuration file', () => {
  it('is read like a dotenv file: comments, quotes, export, any line end', () => {
    const { config, problems } = resolveFile(
      [
        '\uFEFF# of this host',
        'COUNTERSIGN_WORKERS=3 # of four',
        'export COUNTERSIGN_MODEL_PACK="zoo"\r',
        "  COUNTERSIGN_OPERATOR_PASSWORD='a#b $c'",
        '',
        'COUNTERSIGN_FMR=',
      ].join('\n'),
    )
    expect(problems).toEqual([])
    expect(config).toMatchObject({ workers: 3, modelPack: 'zoo', operatorPassword: 'a#b $c', fmr: 1e-4 })
  })

  it('gives way to the environment, unless a variable there is empty', () => {
    const text = 'COUNTERSIGN_WORKERS=3\nCOUNTERSIGN_QUEUE_LIMIT=7\n'
    const { config, given } = resolveFile(text, { COUNTERSIGN_WORKERS: '5', COUNTERSIGN_QUEUE_LIMIT: '' })
    expect(config).toMatchObject({ workers: 5, queueLimit: 7 })
    expect(given.get('COUNTERSIGN_WORKERS')?.source).toBe('environment')
    expect(given.get('COUNTERSIGN_QUEUE_LIMIT')?.source).toBe('file')
  })

  it('may contain a hash with its dollar signs', () => {
    const hash = 'scrypt$abc$def'
    expect(resolveFile(`COUNTERSIGN_OPERATOR_PASSWORD=${hash}`).config.operatorPassword).toBe(hash)
  })

  it("may contain OpenTelemetry's own variables, which its libraries read", () => {
    const { config, problems } = resolveFile(
      'OTEL_SERVICE_NAME=step-up\nOTEL_RESOURCE_ATTRIBUTES="a=b,c=d"\nOTEL_BSP_SCHEDULE_DELAY=20\n',
    )
    expect(problems).toEqual([])
    expect(config).toMatchObject({
      otelServiceName: 'step-up',
      libraryVariables: { OTEL_RESOURCE_ATTRIBUTES: 'a=b,c=d', OTEL_BSP_SCHEDULE_DELAY: '20' },
    })
  })

  it("has no place for OpenTelemetry's variables where no feature reads them", () => {
    const { problems } = resolveFile('OTEL_BSP_SCHEDULE_DELAY=20\n', {}, [])
    expect(problems).toEqual([expect.stringMatching(/^OTEL_BSP_SCHEDULE_DELAY in .+ is not a setting/)])
  })

  for (const [what, text, expected] of [
    ['a misspelt name', 'COUNTERSIGN_WRKERS=1', /WRKERS in .+ is not a setting.+mean COUNTERSIGN_WORKERS\?$/],
    ['a name without its prefix', 'WORKERS=1', /^WORKERS in .+did you mean COUNTERSIGN_WORKERS\?$/],
    ['a value that cannot be read', 'COUNTERSIGN_WORKERS=x', /^COUNTERSIGN_WORKERS in .+ is "x"; expected/],
    ['a stray line', '# x\nnonsense here\nCOUNTERSIGN_WORKERS=1', /: line 2 is not NAME=value\.$/],
    ['a stray last line', 'COUNTERSIGN_WORKERS=1\nnonsense', /: line 2 is not NAME=value\.$/],
    ['a colon for the sign', 'COUNTERSIGN_WORKERS: 1', /: line 1 is not NAME=value\.$/],
    [
      'a stray line in the file of an old Mac',
      'COUNTERSIGN_WORKERS=1\rnonsense\r',
      /: line 2 is not NAME=value\.$/,
    ],
    ['a name of two words', 'COUNTERSIGN WORKERS=1', /: line 1 is not NAME=value\.$/],
    ['a sign without a name', '=1\nCOUNTERSIGN_WORKERS=1', /: line 1 is not NAME=value\.$/],
    [
      'an open quote',
      'COUNTERSIGN_DATA_DIR="/var\nCOUNTERSIGN_WORKERS=1',
      /DATA_DIR does not end on its line/,
    ],
    [
      'an open quote before a closed one',
      'COUNTERSIGN_DATA_DIR="/var\nCOUNTERSIGN_MODEL_PACK="x"',
      /DATA_DIR does not end on its line/,
    ],
    ['another file', 'COUNTERSIGN_CONFIG=/etc/other', /which only the environment may set/],
  ] as const)
    it(`is refused with ${what}`, () => {
      const { problems } = resolveFile(text)
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(expected)
    })

  it('is never quoted in an error, since a line may be part of a secret', () => {
    const { problems } = resolveFile('COUNTERSIGN_MASTER_KEY=\nbase64ofthemasterkey\n')
    expect(problems).toHaveLength(1)
    expect(problems.join()).not.toContain('base64')
  })

  it('is refused where it does not exist or is a folder', () => {
    mkdirSync(join(dir, 'folder'))
    for (const name of ['none', 'folder'])
      expect(resolveConfig({ COUNTERSIGN_CONFIG: join(dir, name) }).problems).toEqual([
        expect.stringMatching(/^Cannot read the configuration file: E\w+/),
      ])
  })
})
