/** The recommended pack's operating points: which score stands for which false match rate (FMR). Measured: models/calibration/recommended.json. */

/** Cosines at which the given share of impostor pairs still matches. */
const OPERATING_POINTS = [
  { fmr: 0.01, threshold: 0.2527 },
  { fmr: 0.005, threshold: 0.2798 },
  { fmr: 0.002, threshold: 0.3122 },
  { fmr: 0.001, threshold: 0.3352 },
  { fmr: 0.0005, threshold: 0.3564 },
  { fmr: 0.0002, threshold: 0.3849 },
  { fmr: 0.0001, threshold: 0.4043 },
  { fmr: 0.00005, threshold: 0.4179 },
  { fmr: 0.00002, threshold: 0.4363 },
  { fmr: 0.00001, threshold: 0.4539 },
] as const

export const RECOMMENDED_CALIBRATION = {
  source:
    'Measured on 2,117 LFW photographs of 573 people (2,913 genuine and 2,236,873 impostor pairs; none was unusable): at FMR ' +
    '0.01 % (95 % interval over people 0.007 to 0.013 %) the false non-match rate was 2.2 % (1.5 to 3.0 %). Press photographs of ' +
    'well-known people, some of whom the network may have been trained on, in random pairs: calibrate on your own captures.',
  points: OPERATING_POINTS.map((point) => ({ ...point, measured: true })),
}
