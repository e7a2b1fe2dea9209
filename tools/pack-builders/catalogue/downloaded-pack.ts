/** pack.json of a pack whose networks are downloaded, made from the catalogue's facts. */
import type { CatalogueFile, DownloadedPack } from '../build/catalogue-entry.js'

/** No operator of the catalogue scales its pixels. */
const RAW = { mean: [0, 0, 0], scale: [1, 1, 1] } as const

/** Fresh on every call; key order and numbers never vary. */
export function downloadedPackDocument({ id, version, title, files, detector, embedder }: DownloadedPack) {
  return {
    format: 1,
    id,
    version,
    description: title,
    detector: {
      ...networkOf(files, 'detector'),
      decoder: detector.decoder,
      input: { color: detector.color, ...RAW },
      sizes: [Math.max(detector.inputWidthPx, detector.inputHeightPx)],
      scoreThreshold: detector.scoreThreshold,
      nmsIou: detector.nmsIou,
    },
    embedder: {
      ...networkOf(files, 'embedder'),
      input: {
        width: embedder.inputWidthPx,
        height: embedder.inputHeightPx,
        color: embedder.color,
        ...RAW,
      },
      alignment: {
        source: embedder.alignmentTarget.map((_, point) => point),
        target: embedder.alignmentTarget,
      },
      dimensions: embedder.dimensions,
      normalize: embedder.normalize,
      flipAverage: embedder.flipAverage,
      metric: embedder.metric,
    },
    calibration: {
      source: embedder.published.source,
      points: [{ fmr: embedder.published.fmr, threshold: embedder.published.threshold, measured: false }],
    },
  }
}

function networkOf(files: readonly CatalogueFile[], role: CatalogueFile['role']) {
  const { file, sha256, licence, download } = files.find((one) => one.role === role)!
  const { repository, commit, path } = download!
  return { file, sha256, licence, origin: `github.com/${repository} at ${commit}, ${path}` }
}
