/** The routes of operators for the keys that sign public verdicts. */
import Type from 'typebox'
import { environment } from '../../dashboard/lib/bodies.js'
import { operatorConsoleRoute } from '../../dashboard/lib/route.js'
import type { FeatureHost } from '../feature.js'
import { VERDICT_KEYS } from './signing-key-table.js'
import { signingKeyViews } from './signing-keys.js'
import type { VerdictKeyRotation } from './verdict-key-rotation.js'

export function verdictKeyRoutes({ store, clock, reloadKeys }: FeatureHost, rotation: VerdictKeyRotation) {
  const answer = async () => ({
    verdict_keys: signingKeyViews(await store.read.statements(VERDICT_KEYS.reader).all(), clock.now()),
  })
  return {
    'GET /verdict-keys': operatorConsoleRoute({ right: 'read', answer }),

    'POST /verdict-keys/rotate': operatorConsoleRoute({
      right: 'admin',
      /** An emergency removes the present keys at once. */
      body: { environment, emergency: Type.Boolean() },
      async answer({ actor, input }) {
        await rotation.rotate([input.environment], actor, { isEmergency: input.emergency })
        await reloadKeys()
        return answer()
      },
    }),
  }
}
