/**
 * Positions of the 68 landmarks' eyes, nose and mouth in a chip of 112 × 112 pixels, as ArcFace's networks expect it.
 */

/**
 * Mean positions of the landmarks on 2,117 photographs of 573 people, each brought to ArcFace's five points. Fitted to what this
 * landmark network finds: it puts mouth corners and nose lower or higher than the detectors that the template was made with.
 */
const TEMPLATE = [
  { landmark: 36, at: [31.68, 52.12] },
  { landmark: 37, at: [35.3, 50.32] },
  { landmark: 38, at: [40.63, 50.14] },
  { landmark: 39, at: [45.22, 52.69] },
  { landmark: 40, at: [41.04, 54.16] },
  { landmark: 41, at: [35.63, 54.12] },
  { landmark: 42, at: [66.54, 52.58] },
  { landmark: 43, at: [71.14, 50.01] },
  { landmark: 44, at: [76.47, 50.14] },
  { landmark: 45, at: [80.05, 51.87] },
  { landmark: 46, at: [76.18, 53.92] },
  { landmark: 47, at: [70.77, 53.95] },
  { landmark: 30, at: [56.1, 73.31] },
  { landmark: 48, at: [40.72, 90.99] },
  { landmark: 54, at: [71.53, 90.87] },
] as const

/** The positions in the form of a pack's `embedder.alignment`. */
export const ARCFACE_ALIGNMENT = {
  source: TEMPLATE.map(({ landmark }) => landmark),
  target: TEMPLATE.map(({ at }) => at),
}
