/** The baseline pack's operating points: which score stands for which false match rate (FMR). */

/** Euclidean distances between embeddings at which the given share of impostor pairs still matches. */
const OPERATING_POINTS = [
  { fmr: 1e-2, distance: 0.625, measured: false },
  { fmr: 1e-3, distance: 0.576, measured: true },
  { fmr: 1e-4, distance: 0.535, measured: false },
  { fmr: 1e-5, distance: 0.5, measured: false },
] as const

/**
 * As written into pack.json. A score is 1 - distance / 2, higher is more alike; a pair matches from the
 * threshold upwards.
 */
export const BASELINE_CALIBRATION = {
  source:
    'Measured on 100 LFW photographs of 10 people (450 genuine and 4,500 impostor pairs; two detector sizes, ' +
    'five-point alignment): distance 0.6 gave FMR 0.33 % and distance 0.576 gave 0.1 %, which ' +
    'rests on four or five impostor pairs. The points marked as not measured lie on the normal distribution ' +
    'through those two figures and are extrapolations. At FMR 0.1 % the false non-match rate was 3.1 % ' +
    '(bootstrap 95 % interval 0.3 to 10.7 %). Calibrate on your own captures before relying on any of it.',
  points: OPERATING_POINTS.map(({ fmr, distance, measured }) => ({
    fmr,
    // Rounded, lest 0.7325 become 0.7324999999999999 in the file.
    threshold: Number((1 - distance / 2).toFixed(4)),
    measured,
  })),
}
