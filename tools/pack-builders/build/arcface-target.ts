/**
 * Where ArcFace's chip of 112 by 112 pixels has the right eye, left eye, tip of the nose, and right and left corner of the mouth, in
 * pixels. Networks that were trained on such chips are fed with faces aligned to these points.
 */
export const ARCFACE_TARGET: Array<[x: number, y: number]> = [
  [38.2946, 51.6963],
  [73.5318, 51.5014],
  [56.0252, 71.7366],
  [41.5493, 92.3655],
  [70.7299, 92.2041],
]
