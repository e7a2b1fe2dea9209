/** Tells of production users whom the model pack that serves cannot verify, since another pack made their references. */
import type { StoreReader } from '../storage/store.js'

/** The pack that serves, or will: `standard@1.0.0`, or only `standard` while it is not built. */
export type ServedModel = string

/**
 * Counts the production references of other model packs.
 * @returns sentences with their number, their packs and what to set; null where every reference is of the pack that serves
 */
export async function foreignReferences(
  read: Pick<StoreReader, 'referenceModels'>,
  served: ServedModel,
): Promise<string | null> {
  const others = (await read.referenceModels('production')).filter(({ model }) =>
    served.includes('@') ? model !== served : idOf(model) !== served,
  )
  if (others.length === 0) return null
  const made = others.map(({ model, amount }) => `${amount} with ${model}`).join(' and ')
  const ids = [...new Set(others.map(({ model }) => idOf(model)))].filter((id) => id !== idOf(served))
  const remedy =
    ids.length > 0
      ? `To serve them again, set COUNTERSIGN_MODEL_PACK=${ids.join(' or ')}`
      : 'To serve them again, put that version of the pack back'
  return `The model pack ${served} serves, and production references were made with another pack: ${made}. Their users are answered with reference_model_mismatch until they are enrolled again. ${remedy}.`
}

function idOf(model: string): string {
  return model.split('@')[0]!
}
