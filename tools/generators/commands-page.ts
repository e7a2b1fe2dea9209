/** Makes the tables of docs/commands.md from the commands themselves. */
import { Command } from 'commander'
import { COMMANDS } from '../../src/cli/commands.js'
import { markdownTable } from '../../src/lib/markdown-table.js'

/** Options that every command, or nearly every one, has. The page explains them once. */
const COMMON = ['--json', '--config', '--help']

/** @returns the page with the tables of the commands that there are now */
export async function withCommands(page: string): Promise<string> {
  const tables = await commandTables()
  return page.replace(
    /(<!-- commands -->\n)[\s\S]*(\n<!-- end of commands -->)/,
    (_match, begin: string, end: string) => `${begin}\n${tables}\n${end}`,
  )
}

/** A table of the commands without subcommands, and a section for each that has commands of its own. */
async function commandTables(): Promise<string> {
  const program = new Command('countersign')
  for (const { usage, description, load } of COMMANDS) {
    const command = program.command(usage).description(description)
    ;(await load())(command)
  }
  const groups = program.commands.filter(({ commands }) => commands.length > 0)
  const single = program.commands.filter(({ commands }) => commands.length === 0)
  const sections = groups.map(
    (group) => `## ${group.name()}\n\n${sentence(group.description())}\n\n${table(leaves(group))}`,
  )
  return [`## Single commands\n\n${table(single)}`, ...sections].join('\n\n')
}

function table(commands: readonly Command[]): string {
  return markdownTable(
    ['Command', 'What it does', 'Options'],
    commands.map((command) => [
      `\`${nameOf(command)}\``,
      command.description(),
      command.options
        .filter(({ long }) => !COMMON.includes(long ?? ''))
        .map(({ flags }) => `\`${flags}\``)
        .join(', ') || '–',
    ]),
  )
}

/** Name with the names before it and its arguments, as it is typed. */
function nameOf(command: Command): string {
  const words = [command.registeredArguments.map(argument).join(' ')]
  for (let at: Command | null = command; at; at = at.parent) words.unshift(at.name())
  return words.filter(Boolean).join(' ')
}

function argument(one: Command['registeredArguments'][number]): string {
  const text = `${one.name()}${one.variadic ? '...' : ''}`
  return one.required ? `<${text}>` : `[${text}]`
}

function leaves(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
