/** How the engine's measurements look in a response. */
import type { Quality } from '../biometrics/types.js'
import type { LivenessStatement } from '../verification/liveness.js'

/** Four decimals are more than the measurements carry. */
function round(value: number, decimals = 4): number {
  return Number(value.toFixed(decimals))
}

export function qualityView(quality: Quality) {
  return {
    score: round(quality.score),
    face_width_px: Math.round(quality.faceWidthPx),
    detection: round(quality.detection),
    sharpness: round(quality.sharpness, 1),
    brightness: round(quality.brightness, 1),
    contrast: round(quality.contrast, 1),
  }
}

export function livenessView(statement: LivenessStatement): LivenessStatement {
  const { score } = statement
  return { ...statement, score: score === null ? null : round(score) }
}

export function scoreView(score: number): number {
  return round(score, 6)
}
