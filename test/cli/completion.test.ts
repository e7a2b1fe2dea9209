import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { workplaceForAll } from '../support/command.js'

const place = workplaceForAll()
const scripts: Record<string, string> = {}
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await place.run(['completion', shell])
    scripts[shell] = place.path(`completion.${shell}`)
    await writeFile(scripts[shell], stdout)
  }
})

const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

function run(shell: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: place.dataDir, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

/** Completes one line after the other. Before the words of each stands their number. */
const COMPLETE = `source "$1"; shift
while (($#)); do
  COMP_CWORD=$(($1 - 1)); COMP_WORDS=("\${@:2:$1}"); COMPREPLY=()
  _countersign
  echo "\${COMPREPLY[*]}"
  shift $(($1 + 1))
done`

/** Names that bash offers when TAB is pressed after each of these lines. The last word of a line may be a part of one. */
function inBash(...lines: string[][]): string[][] {
  const words = lines.flatMap((line) => [`${line.length + 1}`, 'countersign', ...line])
  const offers = run('bash', '-c', COMPLETE, 'bash', scripts.bash!, ...words).split('\n')
  return lines.map((_, i) => offers[i]!.split(' ').filter(Boolean))
}

/** The names that a help page lists. */
async function namesIn(command: string[]): Promise<string[]> {
  const { stdout } = await place.run([...command, '--help'])
  const sections = stdout.split(/^(?=[A-Z]\w*:)/m)
  const listed = sections.filter((section) => /^(?:Options|Commands):\n/.test(section)).join('')
  const names = [...listed.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+|[a-z][a-z-]+)(?= |$)/gm)].map(
    ([, name]) => name!,
  )
  return names.filter((name) => name !== 'help' && name !== 'countersign').sort()
}

describe('bash completion', () => {
  it('parses', () => {
    run('bash', '-n', scripts.bash!)
  })

  it('offers what the help pages list, for every command', async () => {
    const listed: Array<{ command: string[]; names: string[] }> = [{ command: [], names: await namesIn([]) }]
    const collect = async (command: string[]): Promise<void> => {
      const names = await namesIn(command)
      listed.push({ command, names })
      for (const name of names) if (!name.startsWith('-')) await collect([...command, name])
    }
    for (const group of ['tenant', 'models', 'audit', 'keys', 'config']) await collect([group])
    const offers = inBash(...listed.map(({ command }) => [...command, '']))
    expect(listed.map(({ command }, i) => ({ command, names: offers[i]!.sort() }))).toEqual(listed)
  })

  it('completes a part of a name, past options and arguments', () => {
    const offers = inBash(
      ['ten'],
      ['tenant', 'cr'],
      ['tenant', '--help', 'create', 'acme', '--rate'],
      ['completion', 'z'],
      ['nonsense', 'ten'],
    )
    expect(offers).toEqual([['tenant'], ['create'], ['--rate-limit'], ['zsh'], ['tenant']])
  })

  it('leaves the value of an option to files', () => {
    expect(inBash(['tenant', 'create', 'acme', '--config', ''])).toEqual([[]])
  })

  it('never evaluates what was typed', () => {
    inBash(['tenant', '$(touch evaluated)', '`touch evaluated`', '--$(touch evaluated)'])
    inBash(['$(touch evaluated)'])
    expect(existsSync(place.path('evaluated'))).toBe(false)
  })
})

describe.runIf(isThere('zsh'))('zsh completion', () => {
  it('parses', () => {
    run('zsh', '-n', scripts.zsh!)
  })
})

describe.runIf(isThere('fish'))('fish completion', () => {
  it('completes commands and options', () => {
    const inFish = (line: string) =>
      run('fish', '--no-config', '-c', `source ${scripts.fish}; complete -C '${line}'`)
        .split('\n')
        .map((offer) => offer.split('\t')[0])
        .filter(Boolean)
    expect(inFish('countersign ten')).toEqual(['tenant'])
    expect(inFish('countersign tenant cr')).toEqual(['create'])
    expect(inFish('countersign tenant create acme --rate')).toEqual(['--rate-limit'])
  })
})

it('refuses another shell', async () => {
  expect(await place.run(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
})
