/** Finds the `countersign …` commands that pages and messages name, and parses them as the command line does. */
import { readdirSync } from 'node:fs'
import type { Command, CommanderError } from 'commander'
import { createProgram } from '../../src/cli/program.js'
import { CONFIG_VARIABLE } from '../../src/config/variables.js'
import { packageFile } from '../../src/lib/package-root.js'

export interface NamedCommand {
  /** File, and the line for a page. */
  place: string
  /** The words behind `countersign`. */
  words: string[]
  /** A sentence may name a command without its arguments; a line of a shell may not. */
  mayBeBare: boolean
}

/** A word that stands for another: `<tenant>`, `TENANT`, `$KEY`, `svc-sec-…`. Only its place on the line can be checked. */
const isPlaceholder = (word: string) => /[<>$…]/.test(word) || /^[A-Z_]+$/.test(word)

const SILENT = { writeErr: () => {}, writeOut: () => {} }

/** Reports why the command line would refuse these words; null where it would run them. */
export async function refusalOf({ words, mayBeBare }: Omit<NamedCommand, 'place'>): Promise<string | null> {
  if (words[0] === undefined || isPlaceholder(words[0])) return null
  const program = await createProgram(words, true)
  const named = commandNamed(program, words)
  if (mayBeBare && named.rest.length === 0) return null
  if (mayBeBare && named.rest.every((word) => word === '…')) return null
  for (const command of [program, ...leaves(program)]) command.configureOutput(SILENT)
  for (const leaf of leaves(program)) withoutWork(leaf)
  const config = process.env[CONFIG_VARIABLE]
  try {
    await program.parseAsync(words, { from: 'user' })
    return null
  } catch (error) {
    // Commander throws for --help and --version too, with exit code 0.
    const { exitCode, code, message } = error as CommanderError
    if (exitCode === 0) return null
    // A sentence may name a command by an option that matters there.
    if (mayBeBare && code === 'commander.missingArgument' && named.rest[0]!.startsWith('--')) return null
    return message
  } finally {
    if (config === undefined) delete process.env[CONFIG_VARIABLE]
    else process.env[CONFIG_VARIABLE] = config
  }
}

/** Every command, by its name and those of the commands that it stands under, as they are typed. */
export async function commandLines(): Promise<Map<string, Command>> {
  const under = (command: Command, above: string[]): Array<[string, Command]> =>
    command.commands.flatMap((one) => {
      const words = [...above, one.name()]
      return [[words.join(' '), one], ...under(one, words)]
    })
  // A completion script needs the options of all.
  return new Map(under(await createProgram(['completion'], false), []))
}

/** The command that the first words name, and the words behind it. */
function commandNamed(program: Command, words: readonly string[]) {
  let [command, at] = [program, 0]
  for (; at < words.length; at++) {
    const next = command.commands.find((one) => one.name() === words[at])
    if (!next) break
    command = next
  }
  return { command, rest: words.slice(at) }
}

function leaves(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
}

/** Takes a command's work away, and the checks of values that a placeholder stands for. */
function withoutWork(command: Command): void {
  command.action(() => {})
  for (const one of [...command.options, ...command.registeredArguments]) {
    const parse = one.parseArg
    if (!parse) continue
    const parseUnlessPlaceholder = (value: string, previous: never) =>
      isPlaceholder(value) ? value : parse.call(one, value, previous)
    one.parseArg = parseUnlessPlaceholder as typeof parse
  }
}

/** Splits a line as a shell does, with its quotes; a comment and redirections are left out. */
function shellWords(text: string): string[] {
  const words = [...text.matchAll(/(?:'[^']*'|"[^"]*"|<[a-z][^<>]*>|[^\s'"])+/g)].map(([word]) => word)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const kept = comment === -1 ? words : words.slice(0, comment)
  return kept
    .filter(
      (word, at) => !/^(?:\d?>>?|&|\d?>&\d|\d?>>?[^<>]+)$/.test(word) && !/^\d?>>?$/.test(kept[at - 1] ?? ''),
    )
    .map((word) => word.replaceAll(/['"]/g, ''))
}

/** Writes the notation of a usage, `build [a | b]`, as a line that can be parsed. */
const withoutBrackets = (text: string) =>
  text.replaceAll(/(?<=\s)\[((?:--)?[a-z][^[\]|]*?)(?: \| [^[\]]*)*\]/g, '$1')

/** The words of each `countersign` that a line of a shell runs. */
export function commandsInShell(line: string): string[][] {
  // A substitution that runs something else is a value.
  const text = withoutBrackets(line.replaceAll(/\$\((?![^)]*countersign )[^)]*\)/g, '<value>'))
  return text
    .split(/\$\(|&&|\|\||[|;()]/)
    .map((part) => shellWords(part.trim()))
    .flatMap((words) => {
      const at = programAt(words)
      return at === -1 ? [] : [words.slice(at + 1)]
    })
    .filter(([first]) => first !== undefined)
}

/** Services of the compose files that run it. */
const SERVICES = /^(?:countersign|node-[ab])$/

/** Place of `countersign` or of a service that runs it, where it is the program of these words; -1 where they run something else. */
function programAt(words: readonly string[]): number {
  const first = words.findIndex((word) => !/^(?:\w+=.*|export|sudo|npx|if|then|do|!)$/.test(word))
  const isOurs = (word: string | undefined) => /^(?:.*\/)?countersign$/.test(word ?? '')
  if (isOurs(words[first])) return first
  // A container or a pod runs it.
  if (!/^(?:docker|kubectl)$/.test(words[first] ?? '')) return -1
  // The image's entry point is the program, and what follows the service are its words.
  if (words.includes('run') && !words.includes('--entrypoint'))
    return words.findIndex((word, at) => at > words.indexOf('run') && SERVICES.test(word))
  return words.findIndex((word, at) => isOurs(word) && (words[at - 1] === '--' || words[at - 2] === 'exec'))
}

/** Pages whose commands are checked. The tables of docs/commands.md are made from the commands, with options in a column of their own. */
export function pagesWithCommands(): string[] {
  const under = (folder: string) =>
    readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...under('docs'), ...under('clients')]
}

/** The commands of a page: in blocks of a shell, and in inline code. */
export function commandsInPage(file: string, page: string): NamedCommand[] {
  const found: NamedCommand[] = []
  const lines = page.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const [, indent, fence, language] = /^(\s*)(```+|~~~+)(\w*)/.exec(lines[at]!) ?? []
    if (fence === undefined) {
      if (file !== 'docs/commands.md') found.push(...inlineCommands(`${file}:${at + 1}`, lines[at]!))
      continue
    }
    const end = lines.findIndex((line, i) => i > at && line.trim() === fence && line.startsWith(indent!))
    if (/^(?:|sh|bash|console)$/.test(language!))
      found.push(...commandsInBlock(`${file}:${at + 1}`, lines.slice(at + 1, end)))
    at = end
  }
  return found
}

function commandsInBlock(place: string, block: readonly string[]): NamedCommand[] {
  const text = block.join('\n').replaceAll(/\\\n\s*/g, ' ')
  // Where a block shows output too, its commands begin with a prompt.
  const prompted = text.match(/^\s*\$ .*/gm)
  const run = prompted ? prompted.map((line) => line.replace(/^\s*\$ /, '')) : text.split('\n')
  return run.flatMap(commandsInShell).map((words) => ({ place, words, mayBeBare: false }))
}

function inlineCommands(place: string, line: string): NamedCommand[] {
  return [...line.matchAll(/`((?:npx )?countersign [^`]+)`/g)]
    .flatMap(([, code]) => commandsInShell(code!))
    .map((words) => ({ place, words, mayBeBare: true }))
}

/** The commands that the messages of a source file name: between backticks, or behind a colon up to the end of the sentence. */
export function commandsInSource(file: string, source: string): NamedCommand[] {
  const text = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
  const inTemplates = [...text.matchAll(/\\`countersign ([a-z-][^`]*?)\\`/g)]
  // A template that itself begins with the word holds values.
  const inStrings = [...text.matchAll(/(?<!\\)`countersign ([a-z-][^`$\\]*)`/g)]
  const behindColons = [...text.matchAll(/: countersign ((?:\$\{[^}]*\}|[^'`\\\n,;.])*)/g)]
  return [...inTemplates, ...inStrings, ...behindColons].map(([, words]) => ({
    place: file,
    words: shellWords(withoutBrackets(` ${words!.replaceAll(/\$\{[^}]*\}/g, '<value>')}`)),
    mayBeBare: true,
  }))
}
