/** The standard pack's operating points: which score stands for which false match rate (FMR). Measured: models/calibration/standard.json. */

/** Cosines at which the given share of impostor pairs still matches. */
const OPERATING_POINTS = [
  { fmr: 0.01, threshold: 0.3479 },
  { fmr: 0.005, threshold: 0.3824 },
  { fmr: 0.002, threshold: 0.4229 },
  { fmr: 0.001, threshold: 0.4505 },
  { fmr: 0.0005, threshold: 0.4761 },
  { fmr: 0.0002, threshold: 0.5057 },
  { fmr: 0.0001, threshold: 0.528 },
  { fmr: 0.00005, threshold: 0.5474 },
  { fmr: 0.00002, threshold: 0.5769 },
  { fmr: 0.00001, threshold: 0.5923 },
] as const

export const STANDARD_CALIBRATION = {
  source:
    'Measured on 2,117 LFW photographs of 573 people (2,913 genuine and 2,236,873 impostor pairs; none was unusable): at FMR ' +
    '0.01 % (95 % interval over people 0.007 to 0.014 %) the false non-match rate was 3.7 % (2.7 to 4.7 %). Press photographs of ' +
    'well-known people, some of whom the network may have been trained on, in random pairs: calibrate on your own captures.',
  points: OPERATING_POINTS.map((point) => ({ ...point, measured: true })),
}
