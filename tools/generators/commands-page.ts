/** Makes the lists of docs/commands.md from the commands themselves. */
import { Command } from 'commander'
import { COMMANDS } from '../../src/cli/commands.js'
import { markdownList } from './markdown-list.js'

/** Options that every command, or nearly every one, has. The page explains them once. */
const COMMON = ['--json', '--config', '--help']

/** @returns the page with the lists of the commands that there are now */
export async function withCommands(page: string): Promise<string> {
  const lists = await commandLists()
  return page.replace(
    /(<!-- commands -->\n)[\s\S]*(\n<!-- end of commands -->)/,
    (_match, begin: string, end: string) => `${begin}\n${lists}\n${end}`,
  )
}

/** A list of the commands without subcommands, and a section for each that has commands of its own. */
async function commandLists(): Promise<string> {
  const program = new Command('countersign')
  for (const { usage, description, load } of COMMANDS) {
    const command = program.command(usage).description(description)
    ;(await load())(command)
  }
  const groups = program.commands.filter(({ commands }) => commands.length > 0)
  const single = program.commands.filter(({ commands }) => commands.length === 0)
  const sections = groups.map((group) => `## ${group.name()}\n\n${list(leaves(group))}`)
  return [`## Single commands\n\n${list(single)}`, ...sections].join('\n\n')
}

function list(commands: readonly Command[]): string {
  return markdownList(
    commands.map((command) => {
      const options = command.options
        .map(({ long }) => long!)
        .filter((long) => !COMMON.includes(long))
        .map((long) => `\`${long}\``)
      const withOptions = options.length > 0 ? `. ${options.join(', ')}` : ''
      return [`\`${nameOf(command)}\``, `${command.description()}${withOptions}`]
    }),
  )
}

/** Name with its arguments and the names before it, as it is typed behind `countersign`. */
function nameOf(command: Command): string {
  return command
    .createHelp()
    .commandUsage(command)
    .replace(/^countersign /, '')
    .replace(' [options]', '')
}

function leaves(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
}
