/** `countersign tenant consent-text`: shows the texts to which people have agreed on the hosted capture page. */
import type { Command } from 'commander'
import { consentTextView } from '../../admin/user-views.js'
import { declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { UsageError } from '../../cli/lib/output.js'
import { listing } from '../../cli/lib/style.js'
import { capturePageReader } from './capture-tables.js'
import { consentTextsOf } from './consent-texts.js'

/** Most texts that are listed. A single text of a longer list is found by its hash. */
const MAX_LISTED = 1000

export function registerTenantConsentText(texts: Command, { onTenant }: CommandHost): void {
  declare(texts, '<tenant> [sha256]', {
    async answer({ tenant, sha256 }) {
      if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
        throw new UsageError(
          'wrong_usage',
          `${JSON.stringify(sha256)} is not a hash: expected the 64 hex digits of consent_sha256.`,
        )
      return onTenant(tenant, async ({ store, vault }, { id }) => {
        const found =
          sha256 === undefined
            ? await store.read.statements(capturePageReader).texts(id, MAX_LISTED)
            : await consentTextsOf({ store, vault }, id, Buffer.from(sha256, 'hex'))
        return found.map(consentTextView)
      })
    },
    text: (views, { sha256 }) =>
      sha256 === undefined
        ? listing(
            ['SHA-256', 'VERSION', 'LANGUAGE', 'FIRST AGREED TO'],
            views.map((view) => [view.sha256, view.version, view.language, view.first_agreed_at]),
          )
        : views[0]!.text,
  })
}
