/** The names of the packs of the catalogue; suggests one for a mistyped name. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { closestMatch } from 'leven'

/** The packs that Countersign can build or download by name; the catalogue describes them. */
export const NAMED_PACKS = ['standard', 'baseline', 'opencv-zoo', 'recommended'] as const
/** The packs that are built on this machine. An operator's own pack needs another name, because a build would replace it. */
export const BUILT_PACKS: readonly string[] = ['standard', 'baseline']
/** Maximum number of wrong letters: a name with more is not taken for a mistyped one. */
const MAX_TYPING_ERRORS = 3

/**
 * @param setting the variable that names the pack @param modelsDir the folder in which packs lie
 * @returns sentences that say what the name may be meant for; null where there is such a pack
 */
export function unknownPack(setting: string, id: string, modelsDir: string): string | null {
  const known = [...new Set([...NAMED_PACKS, ...installedPacks(modelsDir)])]
  if (known.includes(id)) return null
  const meant = closestMatch(id, known, { maxDistance: MAX_TYPING_ERRORS })
  return `${setting} is ${id}, and there is no such pack${meant ? `; did you mean ${meant}?` : `: there are ${known.join(', ')}.`}`
}

function installedPacks(modelsDir: string): string[] {
  try {
    return readdirSync(modelsDir).filter((name) => existsSync(join(modelsDir, name, 'pack.json')))
  } catch {
    return []
  }
}
