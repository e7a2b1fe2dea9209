/** A decoded picture while it has the networks, and what the stages have found in it: packs that share a stage share its result. */
import type { DecodedImage } from '../decode/decode-pixels.js'
import { ImagePyramid } from '../decode/image-pyramid.js'
import type { FaceDetector } from '../networks/detect.js'
import type { Detection } from '../networks/detection.js'
import type { LandmarkFinder } from '../networks/landmarks.js'
import type { StageClock } from '../stage-clock.js'
import { QUARTER_TURNS, smallLevel, turned, withBorder, withoutBorder } from './second-look.js'

export class Scene {
  readonly pyramid: ImagePyramid
  private readonly faces = new Map<FaceDetector, Detection[]>()
  private readonly points = new Map<LandmarkFinder, Map<Detection, Float64Array>>()

  constructor(readonly image: DecodedImage) {
    this.pyramid = new ImagePyramid(image.pixels)
  }

  /** Returns the faces that this detector finds. They are looked for once. */
  async detect(detector: FaceDetector, clock: StageClock): Promise<Detection[]> {
    const known = this.faces.get(detector)
    if (known) return known
    const found = await clock.measure('detect', () => detector.detect(this.pyramid))
    this.faces.set(detector, found)
    return found
  }

  /**
   * Looks once more where no face was found: with a border around the picture, then at the picture turned.
   * @returns null where only a turned picture shows a face
   */
  async detectAgain(detector: FaceDetector, clock: StageClock): Promise<Detection[] | null> {
    const { pixels, exponent } = smallLevel(this.pyramid)
    return clock.measure('detect', async () => {
      const { picture, margin } = withBorder(pixels)
      const found = await detector.detectAgain(picture)
      if (found.length > 0) return found.map((face) => withoutBorder(face, margin, 2 ** exponent))
      for (const quarters of QUARTER_TURNS)
        if ((await detector.detectAgain(turned(pixels, quarters))).length > 0) return null
      return []
    })
  }

  /** Returns the 68 points of a face. They are looked for once. */
  async locate(finder: LandmarkFinder, face: Detection, clock: StageClock): Promise<Float64Array> {
    const known = this.points.get(finder)?.get(face)
    if (known) return known
    const found = await clock.measure('align', () => finder.find(this.pyramid, face.box))
    const ofFinder = this.points.get(finder) ?? new Map<Detection, Float64Array>()
    this.points.set(finder, ofFinder.set(face, found))
    return found
  }

  release(): void {
    this.pyramid.release()
  }
}
