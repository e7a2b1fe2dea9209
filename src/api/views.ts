/** Fields of a response that show the engine's measurements. */

import type { Quality } from '../biometrics/types.js'
import type { CaptureIntegrity } from '../verification/capture/capture-integrity.js'
import type { LivenessStatement } from '../verification/liveness.js'

/** Rounds to four decimals by default: the measurements are less precise than that. */
function round(value: number, decimals = 4): number {
  return Number(value.toFixed(decimals))
}

/** Everything that is measured on one face, for the command line and the dashboard, which show a photo to somebody who examines it. */
export function measuredView(quality: Quality) {
  return {
    score: round(quality.score),
    face_width_px: Math.round(quality.faceWidthPx),
    detection: round(quality.detection),
    sharpness: round(quality.sharpness, 1),
    brightness: round(quality.brightness, 1),
    contrast: round(quality.contrast, 1),
  }
}

export function livenessView({ checked, score, passed, methods, guidance, findings }: LivenessStatement) {
  return {
    checked,
    score: score === null ? null : round(score),
    passed,
    methods,
    guidance: guidance ? [guidance] : [],
    findings: findings ?? [],
  }
}

export function scoreView(score: number): number {
  return round(score, 6)
}

/** The signals of the capture, for response and audit entry; empty where the request brought no report. They are no part of the JWT. */
export function integrityView(integrity: CaptureIntegrity | null) {
  return integrity ? { capture_integrity: integrity } : {}
}
