/** Every `countersign` command that a page, an error or another message names is one that the command line takes. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../src/contract/error-codes.js'
import { OPERATOR_ERRORS } from '../src/lib/operator-errors.js'
import { packageFile } from '../src/lib/package-root.js'
import {
  commandsInPage,
  commandsInShell,
  commandsInSource,
  type NamedCommand,
  pagesWithCommands,
  refusalOf,
} from './support/command-lines.js'

async function refused(commands: readonly NamedCommand[]): Promise<string[]> {
  const found: string[] = []
  for (const command of commands) {
    const refusal = await refusalOf(command)
    if (refusal !== null) found.push(`${command.place}: countersign ${command.words.join(' ')}: ${refusal}`)
  }
  return found
}

describe('the command line takes', () => {
  it('every command of a page', async () => {
    const commands = pagesWithCommands().flatMap((page) =>
      commandsInPage(page, readFileSync(packageFile(page), 'utf8')),
    )
    expect(commands.length).toBeGreaterThan(300)
    expect(await refused(commands)).toEqual([])
  })

  it('every command of a next step in an error', async () => {
    const entries = [...Object.entries(ERRORS), ...Object.entries(OPERATOR_ERRORS)]
    const commands = entries.flatMap(([code, { remedy }]) => commandsInPage(code, remedy))
    expect(commands.length).toBeGreaterThan(40)
    expect(await refused(commands)).toEqual([])
  })

  it('every command of a message in the sources', async () => {
    const sources = ['src', 'models', 'clients'].flatMap((folder) =>
      readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
        .map((name) => `${folder}/${name}`),
    )
    const commands = sources.flatMap((name) =>
      commandsInSource(name, readFileSync(packageFile(name), 'utf8')),
    )
    expect(commands.length).toBeGreaterThan(60)
    expect(await refused(commands)).toEqual([])
  })
})

describe('a command that is named', () => {
  const words = (text: string) => ({ words: text.split(' '), mayBeBare: true })

  it.each([
    ['an unknown command', 'tenants list'],
    ['an unknown subcommand', 'tenant lists'],
    ['an unknown option', 'tenant list --all'],
    ['a missing option', 'tenant reissue-key <tenant>'],
    ['an argument in place of an option', 'tenant reissue-key <tenant> production'],
    ['a missing argument', 'tenant person add <tenant> --role admin'],
    ['a value that no choice has', 'completion tcsh'],
  ])('is refused for %s', async (_fault, text) => {
    expect(await refusalOf(words(text))).toMatch(/^(?:error: |.*(?:unknown|help))/)
  })

  it.each([
    'tenant reissue-key',
    'tenant reissue-key <tenant> --type production',
    'completion <shell>',
    'models',
  ])('may be `%s` in a sentence', async (text) => {
    expect(await refusalOf(words(text))).toBeNull()
  })

  it('needs its options on a line of a shell', async () => {
    expect(await refusalOf({ words: ['policy', 'set'], mayBeBare: false })).toContain('--file')
  })

  it.each([
    ['CS=1 npx countersign nodes | grep up', [['nodes']]],
    ['export KEY=$(npx countersign tenant production-key demo)', [['tenant', 'production-key', 'demo']]],
    ['countersign backup /b/$(date +%F).db > log 2>&1 & # daily', [['backup', '/b/<value>.db']]],
    ['docker compose exec node-a countersign nodes', [['nodes']]],
    ['kubectl --namespace countersign exec deployment/countersign -- countersign doctor', [['doctor']]],
    ['kubectl delete namespace countersign database', []],
    ['npm install ../countersign express', []],
  ])('is found in the line %s', (line, found) => {
    expect(commandsInShell(line)).toEqual(found)
  })
})
