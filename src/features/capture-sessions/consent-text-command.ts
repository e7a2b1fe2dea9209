/** `countersign tenant consent-text`: shows the texts to which people have agreed on the hosted capture page. */
import type { Command } from 'commander'
import { consentTextView } from '../../admin/user-views.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { action, type OutputOptions, print, UsageError } from '../../cli/lib/output.js'
import { listing } from '../../cli/lib/style.js'
import { capturePageReader } from './capture-tables.js'
import { consentTextsOf } from './consent-texts.js'

/** Most texts that are listed. A single text of a longer list is found by its hash. */
const MAX_LISTED = 1000

export function registerTenantConsentText(texts: Command, { withCore }: CommandHost): void {
  texts.option('--json', 'print JSON').action(
    action(async (name: string, sha256: string | undefined, options: OutputOptions) => {
      if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
        throw new UsageError(
          'wrong_usage',
          `${JSON.stringify(sha256)} is not a hash: expected the 64 hex digits of consent_sha256.`,
        )
      const texts = await withCore(async ({ tenancy, store, vault }) => {
        const { id } = await tenancy.find(name)
        return sha256 === undefined
          ? store.read.statements(capturePageReader).texts(id, MAX_LISTED)
          : consentTextsOf({ store, vault }, id, Buffer.from(sha256, 'hex'))
      })
      print(options, texts.map(consentTextView), () =>
        sha256 === undefined
          ? listing(
              ['SHA-256', 'VERSION', 'LANGUAGE', 'FIRST AGREED TO'],
              texts.map((text) => {
                const view = consentTextView(text)
                return [view.sha256, view.version, view.language, view.first_agreed_at]
              }),
            )
          : texts[0]!.text,
      )
    }),
  )
}
