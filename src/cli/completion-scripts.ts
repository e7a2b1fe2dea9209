/**
 * Completion scripts for shells. Each contains every name, so that no command runs at a TAB and nothing that was typed is evaluated.
 * Arguments and values of options are completed as files.
 */

export interface CompletedCommand {
  /** Path of the command without the program's name: '' or 'tenant create'. */
  path: string
  /** Subcommands, or the words that the command's argument may be. */
  words: Array<{ name: string; description: string }>
  options: Array<{ name: string; description: string; takesValue: boolean }>
}

export type Shell = keyof typeof SCRIPTS

export const SCRIPTS = { bash, zsh, fish }

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Options that are followed by a value: `--config|--fmr`. */
function valued(commands: CompletedCommand[]): string {
  const names = commands.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue))
  return [...new Set(names.map(({ name }) => name))].join('|')
}

/** Every path but the empty one: `'tenant'|'tenant create'`. */
function paths(commands: CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path)
    .map(({ path }) => quote(path))
    .join('|')
}

function bash(commands: CompletedCommand[]): string {
  const cases = commands.map(({ path, words, options }) => {
    const names = [...words, ...options].map(({ name }) => name)
    return `    ${quote(path)}) names=${quote(names.join(' '))} ;;`
  })
  return `# bash completion for countersign
_countersign() {
  local at='' names='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${paths(commands)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${valued(commands)}) return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  # Names hold no spaces. (The bash of macOS has no mapfile.)
  COMPREPLY=($(compgen -W "$names" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# Where no name fits, files do.
complete -o default -F _countersign countersign`
}

function zsh(commands: CompletedCommand[]): string {
  const cases = commands.map(({ path, words, options }) => {
    const lines = [...words, ...options].map(
      ({ name, description }) => `      ${quote(`${name}:${description}`)}`,
    )
    return `    ${quote(path)}) names=(\n${lines.join('\n')}\n    ) ;;`
  })
  return `#compdef countersign
_countersign() {
  local at='' word
  local -a names
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${paths(commands)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
    ${valued(commands)}) _files; return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  _describe countersign names || _files
}
# Installed in fpath it is called; sourced it is made known.
if [[ "\${funcstack[1]}" = _countersign ]]; then
  _countersign "$@"
else
  compdef _countersign countersign
fi`
}

function fish(commands: CompletedCommand[]): string {
  const rules = commands.flatMap(({ path, words, options }) => {
    const rule = `complete -c countersign -n "__countersign_at ${quote(path)}"`
    return [
      ...words.map(({ name, description }) => `${rule} -f -a ${name} -d ${quote(description)}`),
      ...options.map(
        ({ name, description, takesValue }) =>
          `${rule} -l ${name.replace(/^--/, '')} ${takesValue ? '-r ' : ''}-d ${quote(description)}`,
      ),
    ]
  })
  return `# fish completion for countersign
function __countersign_at
  set -l at
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${commands
        .filter(({ path }) => path)
        .map(({ path }) => quote(path.includes(' ') ? path : ` ${path}`))
        .join(' ')}
        set at (string trim "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
${rules.join('\n')}`
}
