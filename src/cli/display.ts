/** `countersign display`: writes a typed action again as the hosted page showed it, for a dispute. */
import { createHash } from 'node:crypto'
import { type Command, Option } from 'commander'
import { type ActionDisplay, canonicalDisplay, displayAction } from '../contract/actions/display-action.js'
import { payeesFaults, typedActionFaults } from '../contract/actions/typed-action-check.js'
import { typedActionType } from '../contract/actions/typed-actions.js'
import { canonicalJson } from '../contract/canonical-json.js'
import { DISPLAY_LOCALES, type DisplayLocale } from '../contract/locales.js'
import { actionHash } from '../crypto/verification-jwt.js'
import { action, CommandError, type OutputOptions, print } from './lib/output.js'
import { readInput } from './lib/read-input.js'

interface Options extends OutputOptions {
  locale: DisplayLocale
  payees?: string
}

export function registerDisplayCommand(command: Command): void {
  command
    .addOption(
      new Option('--locale <language>', 'the `display_locale` of the verdict')
        .choices(DISPLAY_LOCALES)
        .default('en'),
    )
    .option('--payees <file>', 'the list of a `payment_batch`, as it was sent')
    .option('--json', 'print JSON')
    .action(
      action(async (file: string, options: Options) => {
        const given = parse(await readInput(file), file)
        const payees = options.payees === undefined ? undefined : (await readInput(options.payees)).toString()
        const display = displayOf(given, options.locale, payees)
        const hash = createHash('sha256').update(canonicalDisplay(display)).digest('hex')
        const action_hash = actionHash(canonicalJson(given))
        print(options, { display_hash: hash, action_hash, ...display }, () =>
          [
            textOf(display),
            '',
            `display_hash     ${hash}`,
            `display_locale   ${display.locale}`,
            `display_version  ${display.version}`,
            `action_hash      ${action_hash}`,
          ].join('\n'),
        )
      }),
    )
}

/** @throws CommandError invalid_action */
function displayOf(given: unknown, locale: DisplayLocale, payees: string | undefined): ActionDisplay {
  if (typedActionType(given) === null)
    throw new CommandError(
      'invalid_action',
      'The action has no published type, so the page shows none of it.',
    )
  const schemaFaults = typedActionFaults(given)
  const faults = schemaFaults.length > 0 ? schemaFaults : payeesFaults(given, payees?.trimEnd(), actionHash)
  if (faults.length > 0)
    throw new CommandError('invalid_action', faults.map(({ path, issue }) => `${path} ${issue}`).join('\n'))
  return displayAction(given, locale, payees?.trimEnd())!
}

function parse(bytes: Buffer, file: string): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new CommandError('invalid_action', `${file} is not JSON.`)
  }
}

function textOf({ heading, lines }: ActionDisplay): string {
  const width = Math.max(...lines.map(({ label }) => label.length))
  return [
    heading,
    ...lines.flatMap(({ label, value, note }) => [
      `  ${label.padEnd(width)}  ${value}`,
      ...(note === undefined ? [] : [`  ${''.padEnd(width)}  (${note})`]),
    ]),
  ].join('\n')
}
