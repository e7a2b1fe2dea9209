/** Judges the comparison of faces: the rates of errors, on whom they were measured, and what is signed. */
import { type ModelPack, thresholdForFmr } from '../../../../models/pack/model-pack.js'
import { gradeOf, summarizeGrade } from '../../../../models/pack/pack-grade.js'
import { type Evidence, type Installation, type Judgement, met, notMet, partly } from '../evidence.js'

/** One in 10,000, which NIST SP 800-63B-4 asks for. */
const MOST_FMR = 1e-4
const MOST_FNMR = 0.05

const DOCUMENTS = 'accuracy.md guides/accuracy.md'

/** Rates as people write them, such as 1e-4. */
const rate = (fmr: number) => fmr.toExponential().replace(/e-0?/, 'e-')
const whole = (count: number) => count.toLocaleString('en-US')
const percent = (share: number) => `${(100 * share).toFixed(1)} %`

/** The weakest rate of any verdict, and what asks for it. */
function weakestRate({ config, tenants }: Installation, pack: ModelPack) {
  const asked = [
    { fmr: config.fmr, by: 'fmr' as const, of: 'Verdicts' },
    ...tenants.flatMap(({ fmr, name }) =>
      fmr === null ? [] : [{ fmr, by: 'tenants' as const, of: `Verdicts of the tenant ${name}` }],
    ),
  ]
  return asked
    .map((one) => ({ ...one, ...thresholdForFmr(pack, one.fmr) }))
    .reduce((worst, one) => (one.fmr > worst.fmr ? one : worst))
}

/** Answers from the pack, where one is installed. */
const ofPack =
  (judge: (pack: ModelPack, installation: Installation) => Judgement) =>
  (installation: Installation): Judgement =>
    installation.pack === null
      ? notMet('No model pack is installed, so nothing is known of its networks.', 'pack')
      : judge(installation.pack, installation)

/** The rate that verdicts are signed with, for everybody together. */
export const falseMatchRate: Evidence = {
  judge: ofPack((pack, installation) => {
    const { fmr, by, of, basis } = weakestRate(installation, pack)
    if (fmr > MOST_FMR)
      return notMet(`${of} are signed at a false match rate of ${rate(fmr)}, weaker than 1e-4.`, by)
    if (basis === 'extrapolated')
      return notMet(`Nobody has measured the rate of ${rate(fmr)} with ${pack.modelId}.`, 'pack')
    return met(`Verdicts are signed at a measured false match rate of ${rate(fmr)}.`)
  }),
  settings: ['fmr'],
  facts: ['pack', 'tenants'],
  tests: 'verification/decision models/pack/model-pack',
  documents: 'accuracy.md#what-is-signed',
}

/** Whether the rate was shown for each group of people. */
export const groupRates: Evidence = {
  judge: ofPack((pack, { config }) => {
    if (gradeOf(pack, config.fmr).grade === 'evaluation')
      return notMet(`${pack.modelId} is ${summarizeGrade(pack, config.fmr)}.`, 'pack')
    const measured = pack.calibration?.groups.filter((group) => group.carried_from === undefined)
    const labels = [...new Set(measured?.map(({ label }) => label.toLowerCase()))]
    const isNamed = (word: string) => labels.some((label) => label.includes(word))
    if (!isNamed('sex') || !isNamed('skin'))
      return partly(
        `The calibration shows the rate for groups by ${labels.join(', ') || 'no label'}, and not by both sex and skin tone.`,
        'pack',
      )
    return met('The calibration shows the rate in each group by sex and skin tone.')
  }),
  facts: ['pack'],
  tests: 'models/pack/pack-grade cli/pack-acceptance',
  documents: 'accuracy.md#grades',
}

export const falseNonMatchRate: Evidence = {
  judge: ofPack((pack, { config }) => {
    const reached = pack.calibration?.points.filter(({ fmr }) => fmr <= config.fmr) ?? []
    const point = reached.toSorted((a, b) => b.fmr - a.fmr)[0]
    if (point === undefined || point.fnmr === null || point.fnmr_ci95 === null)
      return notMet(`Nobody has measured how often ${pack.modelId} misses a person at this rate.`, 'pack')
    const [low, high] = point.fnmr_ci95
    const figure = `At a false match rate of ${rate(point.fmr)}, ${percent(point.fnmr)} are missed (${percent(low)} to ${percent(high)}), one photo compared with one.`
    if (high < MOST_FNMR) return met(figure)
    return point.fnmr < MOST_FNMR
      ? partly(`${figure} The interval reaches over 5 %.`, 'pack', 'fmr')
      : notMet(figure, 'pack', 'fmr')
  }),
  settings: ['fmr'],
  facts: ['pack'],
  tests: 'bench/figures',
  documents: DOCUMENTS,
}

export const measurement: Evidence = {
  judge: ofPack(({ modelId, calibration }) => {
    if (!calibration) return notMet(`${modelId} has no calibration.json.`, 'pack')
    const { photos, people, genuine_pairs, impostor_pairs } = calibration.data
    return partly(
      `Measured ${calibration.origin === 'shipped' ? 'by the makers' : 'here'}, not by a laboratory: ${whole(photos)} photos of ${whole(people)} people, ${whole(genuine_pairs)} genuine and ${whole(impostor_pairs)} impostor pairs, failures to acquire counted, intervals of 95 %.`,
    )
  }),
  facts: ['pack'],
  tests: 'evaluation/intervals evaluation/person-bootstrap biometrics/evaluation cli/evaluate',
  documents: DOCUMENTS,
}

/** Whether the people of the measurement are those who will use the service. */
export const targetPopulation: Evidence = {
  judge: ofPack(({ modelId, calibration }) => {
    if (!calibration) return notMet(`${modelId} has no calibration.json.`, 'pack')
    const { origin, data, date } = calibration
    return origin === 'shipped'
      ? notMet(
          `The rates are of ${data.people} well-known people on press photos, not of your users.`,
          'pack',
        )
      : partly(
          `The calibration of ${date} was measured here, on ${data.people} people. Whether they stand for your users is yours to show.`,
        )
  }),
  facts: ['pack'],
  tests: 'evaluation/calibrate',
  documents: 'guides/accuracy.md#thresholds-of-your-own',
}

/** On what the networks were trained, and whether that was allowed. */
export const trainingData: Evidence = {
  judge: ofPack(({ modelId, manifest: { embedder } }) =>
    embedder.trainingData === undefined
      ? notMet(`${modelId} does not say on what its embedder was trained.`)
      : notMet(`The embedder of ${modelId} was trained by others. ${embedder.trainingData}`),
  ),
  facts: ['pack'],
  tests: 'models/pack/model-pack',
  documents: 'model-packs.md#where-the-networks-come-from',
}
