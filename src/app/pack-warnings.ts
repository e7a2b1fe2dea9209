/** Sentences for the operator about what the model pack that serves does not reach. */
import {
  CONSEQUENCE,
  describeGrade,
  describeUnreached,
  isProductionGrade,
} from '../../models/pack/pack-grade.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config } from '../config/config.js'
import type { StoreReader } from '../storage/store.js'

/** Null for a pack of production grade at the configured false match rate. */
export function gradeWarning({ pack }: Pick<Engine, 'pack'>, { fmr }: Pick<Config, 'fmr'>): string | null {
  if (isProductionGrade(pack, fmr)) return null
  return `${describeGrade(pack, fmr)} For callers: ${CONSEQUENCE}. \`countersign doctor\` lists every group; \`countersign models calibrate ${pack.manifest.id} --from-users\` measures the rate on your own users.`
}

/** One sentence for each tenant whose contract names a rate that the pack does not reach, as after a change of the pack. */
export async function rateWarnings(
  { pack }: Pick<Engine, 'pack'>,
  store: Pick<StoreReader, 'tenants'>,
): Promise<string[]> {
  const tenants = await store.tenants()
  return tenants.flatMap(({ id, name, fmr }) => {
    const unreached = fmr === null ? null : describeUnreached(pack, fmr)
    return unreached === null
      ? []
      : [`The tenant ${name} (${id}) asks for a false match rate of ${fmr}; ${unreached}.`]
  })
}
