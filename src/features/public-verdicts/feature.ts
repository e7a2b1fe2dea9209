/** Public verdicts: each verdict is signed once more, under a key of the issuer whose public half anyone may have. */
import { ownValues } from '../../config/own-settings.js'
import { DAY_MS } from '../../lib/clock.js'
import type { Feature } from '../feature.js'
import { verdictKeyRoutes } from './console-routes.js'
import { DOCUMENT_OPERATIONS } from './document-operations.js'
import { configuredSigner } from './external-signer.js'
import { keyDocuments } from './key-documents.js'
import { publicTokenFields, publicTokenPart } from './public-token.js'
import { VERDICT_KEYS } from './signing-key-table.js'
import { VerdictKeyRing } from './verdict-key-ring.js'
import { VerdictKeyRotation } from './verdict-key-rotation.js'
import { VerdictKeySchedule } from './verdict-key-schedule.js'
import { VERDICT_KEY_SETTINGS } from './verdict-key-settings.js'

export const publicVerdicts: Feature = {
  parts: { verify: publicTokenFields },
  statuses: { verdict_key_waits: 409 },
  documentOperations: DOCUMENT_OPERATIONS,
  async open(core, config, clock) {
    const { store, keys } = core
    const { verdictKeyDays } = ownValues(VERDICT_KEY_SETTINGS, config)
    const external = configuredSigner(config)
    const ring = new VerdictKeyRing(keys, clock, external)
    const rotation = new VerdictKeyRotation({ ...core, clock, external })
    await rotation.ensure()
    return {
      parts: { verify: publicTokenPart(ring) },
      attach: (host) => ({
        documents: (services) => keyDocuments(services, ring),
        takeOverKeys: async () => ring.replace(await store.read.statements(VERDICT_KEYS.reader).all()),
        jobs: {
          drained: [new VerdictKeySchedule({ ...host, rotation, intervalMs: verdictKeyDays * DAY_MS })],
        },
        clusterSettings: {
          [VERDICT_KEY_SETTINGS.settings.verdictKeyDays.variable]: String(verdictKeyDays),
        },
        operatorConsole: verdictKeyRoutes(host, rotation),
      }),
    }
  },
}
