/**
 * Opens the networks of a worker's packs, each file once, and makes one detector and one landmark stage for all packs
 * that name the same: such packs can share what the stage finds in a picture.
 */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { fileForProvider } from '../../../models/pack/network-files.js'
import type { DetectorSpec, LandmarksSpec, NetworkFile } from '../../../models/pack/pack-schema.js'
import { FaceDetector, lowestScore } from './networks/detect.js'
import { LandmarkFinder } from './networks/landmarks.js'
import type { Network, NetworkOpener } from './networks/network.js'

export class StageShelf {
  private readonly networks = new Map<string, Network>()
  private readonly detectors = new Map<string, FaceDetector>()
  private readonly finders = new Map<string, LandmarkFinder>()

  constructor(
    private readonly packs: readonly ModelPack[],
    private readonly provider: string,
    private readonly opener: NetworkOpener,
  ) {}

  /**
   * Returns the detector that this pack shares with all packs whose detectors differ only in how doubtful a face they
   * accept as the last resort. It reports what the least strict of them accepts: see `facesBy`.
   */
  async detector(pack: ModelPack): Promise<FaceDetector> {
    const spec = pack.manifest.detector
    const key = this.keyOfDetector(spec)
    let detector = this.detectors.get(key)
    if (!detector) {
      const sharing = this.packs.map(({ manifest }) => manifest.detector)
      const lowest = sharing.filter((other) => this.keyOfDetector(other) === key).map(lowestScore)
      const shared = { ...spec, lastResortScoreThreshold: Math.min(...lowest) }
      detector = new FaceDetector(await this.open(pack, spec), shared)
      this.detectors.set(key, detector)
    }
    return detector
  }

  /** Returns the landmark stage of a pack, or null for a pack whose detector finds the points. */
  async landmarks(pack: ModelPack): Promise<LandmarkFinder | null> {
    const spec = pack.manifest.landmarks
    if (!spec) return null
    const key = this.keyOf(spec)
    let finder = this.finders.get(key)
    if (!finder) {
      finder = new LandmarkFinder(await this.open(pack, spec), spec)
      this.finders.set(key, finder)
    }
    return finder
  }

  /** @throws ModelPackError pack_file_missing, pack_file_mismatch; ONNX Runtime's error when the provider cannot serve */
  async open(pack: ModelPack, file: NetworkFile): Promise<Network> {
    const { sha256 } = fileForProvider(file, this.provider)
    let network = this.networks.get(sha256)
    if (!network) {
      network = await this.opener(pack, file)
      this.networks.set(sha256, network)
    }
    return network
  }

  async release(): Promise<void> {
    const networks = [...this.networks.values()]
    this.networks.clear()
    for (const network of networks) await network.release()
  }

  private keyOfDetector({
    lastResortScoreThreshold: _,
    ...spec
  }: Omit<DetectorSpec, 'file'> & NetworkFile): string {
    return this.keyOf(spec)
  }

  /** Two stages of the same key compute the same: neither the name of the file nor where it comes from matters. */
  private keyOf(spec: Omit<DetectorSpec, 'lastResortScoreThreshold'> | LandmarksSpec): string {
    const { file: _, licence: __, origin: ___, trainingData: ____, quantised: _____, ...numbers } = spec
    const { sha256 } = fileForProvider(spec, this.provider)
    return JSON.stringify(Object.entries({ ...numbers, sha256 }).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}
