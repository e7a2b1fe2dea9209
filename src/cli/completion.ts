/** `countersign completion <shell>`: prints a completion script, made from the definitions of the commands. */
import { Argument, type Command } from 'commander'
import { type CompletedCommand, SCRIPTS, type Shell } from './completion-scripts.js'
import { declare } from './lib/command.js'

const WHERE = `
Where shells look for the script:
  countersign completion bash > /etc/bash_completion.d/countersign
  countersign completion zsh > "\${fpath[1]}/_countersign"
  countersign completion fish > ~/.config/fish/completions/countersign.fish

Print it again after an update: it holds all names of this version.`

export function registerCompletionCommand(command: Command): void {
  const argument = new Argument('<shell>', 'which shell').choices(Object.keys(SCRIPTS))
  declare(command.addArgument(argument), '<shell>', {
    help: WHERE,
    answer: async ({ shell }) => ({ shell, script: SCRIPTS[shell as Shell](commandsOf(command.parent!)) }),
    text: ({ script }) => script,
  })
}

/** The program and all commands below it, parents first. */
function commandsOf(command: Command, path: string[] = []): CompletedCommand[] {
  const help = { name: '--help', description: 'display help for command', takesValue: false }
  return [
    {
      path: path.join(' '),
      words: [
        ...command.commands.map((child) => ({ name: child.name(), description: child.description() })),
        ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
          argChoices.map((name) => ({ name, description })),
        ),
      ],
      options: [
        ...command.options.map(({ long, description, required, optional }) => ({
          name: long!,
          description,
          takesValue: required || optional,
        })),
        help,
      ],
    },
    ...command.commands.flatMap((child) => commandsOf(child, [...path, child.name()])),
  ]
}
