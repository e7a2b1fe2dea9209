/** `countersign display`: writes a typed action again as the hosted page showed it, for a dispute. */
import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { type ActionDisplay, canonicalDisplay, displayAction } from '../contract/actions/display-action.js'
import { payeesFaults, typedActionFaults } from '../contract/actions/typed-action-check.js'
import { typedActionType } from '../contract/actions/typed-actions.js'
import { canonicalJson } from '../contract/canonical-json.js'
import { DISPLAY_LOCALES, type DisplayLocale } from '../contract/locales.js'
import { actionHash } from '../crypto/verification-jwt.js'
import { declare } from './lib/command.js'
import { CommandError } from './lib/output.js'
import { readInput } from './lib/read-input.js'

export function registerDisplayCommand(command: Command): void {
  declare(command, '<file>', {
    options: {
      '--locale <language>': {
        does: 'the `display_locale` of the verdict',
        choices: DISPLAY_LOCALES,
        default: 'en',
      },
      '--payees <file>': 'the list of a `payment_batch`, as it was sent',
    },
    async answer({ file, locale, payees: list }) {
      const given = parse(await readInput(file), file)
      const payees = list === undefined ? undefined : (await readInput(list)).toString()
      const display = displayOf(given, locale, payees)
      const display_hash = createHash('sha256').update(canonicalDisplay(display)).digest('hex')
      return { display_hash, action_hash: actionHash(canonicalJson(given)), ...display }
    },
    text: ({ display_hash, action_hash, ...display }) =>
      [
        textOf(display),
        '',
        `display_hash     ${display_hash}`,
        `display_locale   ${display.locale}`,
        `display_version  ${display.version}`,
        `action_hash      ${action_hash}`,
      ].join('\n'),
  })
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
