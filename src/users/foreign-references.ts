/** Finds production users whom the serving model pack cannot verify, because another pack made their references. */
import type { StoreReader } from '../storage/store.js'

/** The pack that serves or is about to: `standard@1.0.0`, or `standard` before it is built. */
export type ServedModel = string

/**
 * Counts the production references that other model packs made, and next to which there is no template of the pack that serves.
 * @returns sentences with their number, their packs and the setting to change; null where the serving pack made every reference
 */
export async function foreignReferences(
  read: Pick<StoreReader, 'referenceModels'>,
  served: ServedModel,
): Promise<string | null> {
  const pattern = served.includes('@') ? served : `${served}@%`
  const others = (await read.referenceModels('production', pattern)).filter(({ model }) =>
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
