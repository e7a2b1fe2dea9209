import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { ACR_VALUES } from '../clients/node/acr.js'
import { indexPage } from '../docs/.vitepress/index-page.js'
import { ROLES, SECTIONS } from '../docs/.vitepress/sections.js'
import { amrOf } from '../src/api/verdict-fields.js'
import { scoreView } from '../src/api/views.js'
import { ALL_SETTINGS } from '../src/app/configuration.js'
import { SETTINGS } from '../src/config/config.js'
import { ERRORS } from '../src/contract/error-codes.js'
import { REASONS } from '../src/contract/verdict.js'
import { CATEGORY_MEANINGS } from '../src/features/api-documents/exports.js'
import { OPERATOR_ERRORS } from '../src/lib/operator-errors.js'
import { packageFile } from '../src/lib/package-root.js'
import { VERSION } from '../src/lib/version.js'
import { withCommands } from '../tools/generators/commands-page.js'
import {
  briefOf,
  configurationPage,
  errorsPage,
  explanationOf,
  generatedSource,
  operatorErrorsPage,
  withEndpoints,
} from '../tools/generators/docs.js'
import { RECOVERIES } from '../tools/generators/error-recoveries.js'
import { goConstants, goWireTypes } from '../tools/generators/go-sdk.js'
import { pythonAsyncClient } from '../tools/generators/python-async-client.js'
import { pythonConstants, pythonWireTypes } from '../tools/generators/python-sdk.js'
import { serviceCalls } from '../tools/generators/sdk-constants.js'
import { supplyChainPage } from '../tools/generators/supply-chain-page.js'
import {
  claimsOf,
  exampleClaims,
  exampleToken,
  FIELDS,
  tableUnder,
  withExample,
} from '../tools/generators/verdict-page.js'
import { wireTypes } from '../tools/generators/wire-types.js'
import { standardPackDocument } from '../tools/pack-builders/standard/pack-document.js'
import { DESCRIPTIONS, OPENAPI } from './support/descriptions.js'

/** The items of lists that begin with code: what is before the first colon, and what is behind it. */
function itemsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => /^- `/.test(line))
    .map((line) => /^- ((?:`[^`]*`|[^`:])+): (.*)$/.exec(line.replaceAll('\\<', '<'))!.slice(1))
}

const textOf = (...path: string[]) => readFileSync(packageFile(...path), 'utf8')

const code = (text: string) => `\`${text}\``

/** Characters without comments. READMEs of services and libraries that people like to read have 6,000 to 11,000. */
const LONGEST_README = 10_500

describe('docs/errors.md', () => {
  const page = errorsPage()

  it('lists exactly the codes of the registry, with status, message and remedy, under their category', () => {
    const listed: Record<string, unknown> = {}
    for (const section of page.split(/^## /m).slice(1)) {
      const category = section.split('\n')[0]!
      if (!(category in CATEGORY_MEANINGS)) continue
      for (const [name, text] of itemsOf(section)) listed[name!] = { category, text }
    }
    const expected = Object.entries(ERRORS).map(([name, { status, category, message, remedy }]) => [
      `${code(name)} (${status})`,
      { category, text: explanationOf(message, remedy) },
    ])
    expect(listed).toEqual(Object.fromEntries(expected))
  })

  it('names one way to recover for every code', () => {
    const recovered = RECOVERIES.flatMap(({ codes }) => codes)
    expect(recovered.toSorted()).toEqual(Object.keys(ERRORS).sort())
  })
})

describe('docs/operator-errors.md', () => {
  const page = operatorErrorsPage()

  it('lists exactly the codes of the command line and the dashboard, with what to do', () => {
    const listed = itemsOf(page).flatMap(([names, remedy]) =>
      names!.split(', ').map((name) => [name, remedy] as const),
    )
    const expected = Object.entries(OPERATOR_ERRORS).map(([name, { remedy }]) => [code(name), remedy])
    expect(listed).toHaveLength(expected.length)
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(expected))
  })
})

describe('docs/README.md', () => {
  it('names seven pages for each role, all of them in a section', () => {
    const known = SECTIONS.flatMap(({ pages }) => Object.keys(pages))
    for (const [role, pages] of Object.entries(ROLES)) {
      expect(new Set(pages).size, role).toBe(7)
      expect(known).toEqual(expect.arrayContaining([...pages]))
    }
  })

  it('has every page of docs/ in exactly one section: docs/.vitepress/sections.ts lists them', () => {
    const pages = readdirSync(packageFile('docs'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    )
    expect(SECTIONS.flatMap((section) => Object.keys(section.pages)).sort()).toEqual(pages.sort())
  })

  it('says of every page in one sentence what it answers, and in another whom it is for', () => {
    for (const section of SECTIONS)
      for (const [page, line] of Object.entries(section.pages))
        expect([page, line]).toEqual([page, expect.stringMatching(/^\S.+\. For [^.]+\.$/)])
  })
})

describe('docs/configuration.md', () => {
  const page = configurationPage()

  it('lists every variable once, with its default and its meaning', () => {
    const expected = Object.values(ALL_SETTINGS).map(({ variable, fallback, description }) => [
      fallback ? `${code(variable)} (${code(fallback)})` : code(variable),
      briefOf(description),
    ])
    expect(itemsOf(page).sort()).toEqual(expected.sort())
  })

  it('puts every variable under a heading of its own kind', () => {
    expect(page).not.toContain('## Others')
  })
})

describe('docs/verdict.md', () => {
  const page = withExample(textOf('docs', 'verdict.md'))
  const namesUnder = (heading: string) => tableUnder(page, heading).map(([name]) => name!.slice(1, -1))

  it('lists exactly the fields of the header and the claims that the code writes', () => {
    expect(namesUnder('Header').sort()).toEqual(Object.keys(decodeProtectedHeader(exampleToken())).sort())
    expect([...claimsOf(page).keys()].sort()).toEqual(FIELDS.namesAt('jwt').sort())
  })

  it('names every amr that the code signs', () => {
    const named = [
      ...claimsOf(page)
        .get('amr')!
        .matchAll(/`(\["face".*?\])`/g),
    ].map(([, text]) => text)
    const signed = ([null, 'hwk', 'swk'] as const).map((possession) =>
      JSON.stringify(amrOf(null, possession)),
    )
    expect(named.sort()).toEqual(signed.sort())
    expect(amrOf('no_match', 'hwk')).toEqual(['face'])
  })

  it('names every acr of an approval, each without a passkey and with both kinds', () => {
    const names = tableUnder(page, 'Values of acr').flatMap(([cell]) => cell!.match(/(?<=`)[a-z-]+(?=`)/g)!)
    const values = names.flatMap((name) =>
      ['', '-hwk', '-swk'].map((ending) => `urn:countersign:acr:${name}${ending}`),
    )
    expect(values.sort()).toEqual([...ACR_VALUES].sort())
    expect(exampleClaims('rejected').acr).toBe('0')
  })

  it('says exactly of the claims that can be absent when they are', () => {
    const [approved, rejected] = [exampleClaims('approved'), exampleClaims('rejected')]
    const always = Object.keys(approved).filter((claim) => claim in rejected)
    const listed = [...claimsOf(page)].filter(([, text]) => !/\bAbsent /.test(text)).map(([name]) => name)
    expect(listed.sort()).toEqual(always.sort())
  })
})

describe('docs/operations/support-desk.md', () => {
  it('says of every reason of a rejection what support staff do', () => {
    const page = textOf('docs', 'operations', 'support-desk.md')
    const seen = tableUnder(page, '2. From the reason to what you do').map(([first]) => first!)
    expect(REASONS.filter((reason) => !seen.some((cell) => cell.includes(`\`${reason}\``)))).toEqual([])
  })
})

describe('what is generated', () => {
  it.each<[file: string, source: string, generate: () => string | Promise<string>]>([
    ['docs/errors.md', 'the registry', errorsPage],
    ['docs/operator-errors.md', 'the codes of the command line and the dashboard', operatorErrorsPage],
    ['docs/README.md', 'the sections of the site', indexPage],
    ['docs/configuration.md', 'the settings', configurationPage],
    ['docs/verdict.md', 'the code that signs', () => withExample(textOf('docs', 'verdict.md'))],
    ['docs/supply-chain.md', 'package.json and the records', supplyChainPage],
    ['docs/commands.md', 'the commands', () => withCommands(textOf('docs', 'commands.md'))],
    ['src/contract/wire-types.ts', 'the OpenAPI document', () => wireTypes(OPENAPI)],
    ['clients/node/testing/service-calls.ts', 'the service', () => serviceCalls(OPENAPI, DESCRIPTIONS)],
    ['clients/python/countersign/wire_types.py', 'the OpenAPI document', () => pythonWireTypes(OPENAPI)],
    ['clients/python/countersign/constants.py', 'the service', pythonConstants],
    [
      'clients/python/countersign/async_client.py',
      'the client that blocks',
      () => pythonAsyncClient(textOf('clients', 'python', 'countersign', 'client.py')),
    ],
    ['clients/go/wire_types.go', 'the OpenAPI document', () => goWireTypes(OPENAPI)],
    ['clients/go/constants.go', 'the service', goConstants],
  ])('stands in %s as it is made from %s (UPDATE_DOCS=1 writes it)', async (file, _source, generate) => {
    const made = await generate()
    expect(generatedSource(file, made)).toBe(made)
  })
})

describe('the pages that show real output', () => {
  const [readme, quickStart] = [textOf('README.md'), textOf('docs', 'guides', 'quick-start.md')]
  const [curl, commands] = [textOf('docs', 'guides', 'curl.md'), textOf('docs', 'commands.md')]
  const document = (name: string) => JSON.parse(textOf('docs', name))
  const standard = standardPackDocument()
  const model = `${standard.id}@${standard.version}`
  const block = (beginsWith: RegExp, text: string) => beginsWith.exec(text)![0]
  const enrolled = JSON.parse(block(/^\{"reference_id":[\s\S]*?\}$/m, curl))
  const claims = JSON.parse(block(/(?<=^Valid, signed with .*\n)\{[\s\S]*?^\}$/m, curl))
  const verified = block(/^\{"verification_id":.*"user_id":"ada",[\s\S]*?\}$/m, curl)
  const compared = block(/^Verdict +same person[\s\S]*?```/m, commands)

  it('show answers of the default pack, at its threshold for the default rate', () => {
    const rate = Number(SETTINGS.fmr.fallback)
    const { threshold } = standard.calibration.points.find(({ fmr }) => fmr === rate)!
    expect([enrolled.model, claims.model, claims.fmr]).toEqual([model, model, rate])
    expect(verified).toContain(`"model":"${model}"`)
    expect(verified).toContain(`"threshold":${scoreView(threshold)},"fmr":${rate},`)
    expect(compared).toContain(`Model                            ${model}\n`)
    expect(compared).toContain(
      `(threshold ${scoreView(threshold)} for a measured false match rate of ${rate})`,
    )
    expect(quickStart).toContain(`The model pack ${model} is of`)
  })

  it('show an enrolment of three photos, and a verdict with its JWT that is no replay', () => {
    const { paths, components } = document('openapi.json')
    const { schema } = paths['/v1/enroll'].post.responses[201].content['application/json']
    const { required } = components.schemas[schema.$ref.split('/').at(-1)]
    expect(Object.keys(enrolled).sort()).toEqual(required.toSorted())
    expect(enrolled.quality.views).toBe(3)
    expect(verified).toContain(`"verification_id":"${claims.jti}"`)
    expect(verified).toContain(`"score":${claims.score},`)
    expect(verified).toContain('"replay":{"suspected":false}')
    expect(claims.replay).toEqual({ suspected: false })
  })

  it('show in README the lines about the addresses that the quick start shows in whole', () => {
    const ready = block(/^Countersign \S+ is ready\.\n\n(?: {2}\S.*\n){3}/m, readme)
    expect(ready).toContain(VERSION)
    expect(quickStart).toContain(ready)
    for (const setting of ['productionListen', 'sandboxListen', 'adminListen'] as const)
      expect(ready).toContain(`http://${SETTINGS[setting].fallback}/`)
  })
})

describe('README.md', () => {
  const page = textOf('README.md')

  it('can be read in a few minutes', () => {
    expect(page.replace(/<!--.*?-->/g, '').length).toBeLessThan(LONGEST_README)
  })

  it('names the command that runs the tests, which .ci/run calls', () => {
    expect(page).toContain('`npm test`')
  })
})

describe('docs/api-overview.md', () => {
  const { paths } = OPENAPI as { paths: Record<string, object> }
  const written = textOf('docs', 'api-overview.md')
  const page = generatedSource('docs/api-overview.md', withEndpoints(written, DESCRIPTIONS, paths))

  it('lists exactly the endpoints of the OpenAPI document (UPDATE_DOCS=1 adds those that it lacks)', () => {
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => code(`${method.toUpperCase()} ${path}`)),
    )
    const listed = [...page.matchAll(/^- (`[A-Z]+ \/v1\/[^`]+`)/gm)].map(([, name]) => name!)
    expect(listed.sort()).toEqual(endpoints.sort())
  })
})

describe('docs/commands.md', () => {
  it('lists a command with its arguments', () => {
    expect(textOf('docs', 'commands.md')).toContain('- `tenant create <name>`: create a tenant')
  })
})

/** README.md and all of docs/. */
function documents(): string[] {
  return [
    packageFile('README.md'),
    ...readdirSync(packageFile('docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => packageFile('docs', name)),
  ]
}

describe('the documentation', () => {
  const texts = documents()
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

  it('names no variable that the service does not read', () => {
    const known = new Set<string>(Object.values(ALL_SETTINGS).map(({ variable }) => variable))
    const named = new Set(texts.match(/\bCOUNTERSIGN_[A-Z_]*[A-Z]\b/g))
    expect([...named].filter((name) => !known.has(name))).toEqual([])
  })
})

describe('the documentation of the packages', () => {
  it('installs none of ours by its name, which anybody may register', () => {
    const readmes = ['node', 'python', 'go'].map((language) => packageFile('clients', language, 'README.md'))
    const pages = [...documents(), packageFile('CONTRIBUTING.md'), ...readmes]
    const installs = pages.flatMap(
      (file) =>
        readFileSync(file, 'utf8').match(
          /\b(?:npm (?:i|install|add)|(?:yarn|pnpm|bun) add|pip install|go get) [^`\n]*/g,
        ) ?? [],
    )
    const fromRegistry = /\s(?:countersign(?:-client)?)(?:@\S*)?(?=\s|$)/
    expect(installs.filter((command) => command.includes('countersign')).length).toBeGreaterThan(3)
    expect(installs.filter((command) => fromRegistry.test(command))).toEqual([])
  })
})

describe('docs/threat-model.md', () => {
  const page = textOf('docs', 'threat-model.md')
  const named = [...page.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, file]) => file!)

  it('names tests, and every one of them is there', () => {
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((file) => !existsSync(packageFile(...file.split('/'))))).toEqual([])
  })
})
