/** The settings of the keys that sign public verdicts. */
import type { OwnSettings } from '../../config/own-settings.js'
import { integer, text } from '../../config/parsers.js'
import { optional, setting } from '../../config/setting.js'

const SETTINGS = {
  verdictKeyDays: setting(
    'VERDICT_KEY_DAYS',
    '90',
    'Days after which the key of public verdicts is replaced. 0: only by countersign verdict-keys rotate or the dashboard.',
    integer(0, 3650),
  ),
  verdictSigner: optional(
    'VERDICT_SIGNER',
    'Command of a program that holds the private keys of public verdicts, such as one for a PKCS#11 token; a shell runs it. Default: the database holds the keys, sealed.',
    text,
  ),
}

export const VERDICT_KEY_SETTINGS: OwnSettings<typeof SETTINGS> = {
  group: 'Storage and keys',
  settings: SETTINGS,
}
