/** ISO/IEC norms on testing and protecting biometrics. */
import { line, type Standard } from '../evidence.js'
import { falseMatchRate, groupRates, measurement, targetPopulation } from '../judgements/accuracy.js'
import { attackDetection } from '../judgements/attacks.js'
import { erasure, sealing } from '../judgements/data.js'
import { callerTransport } from '../judgements/transport.js'
import { attackFigures, minimization } from '../shared-answers.js'

export const ISO_30107: Standard = {
  id: 'iso-30107-3',
  title: 'ISO/IEC 30107-3: testing of presentation attack detection',
  about:
    'It says how detection is tested and reported. Laboratories test by it; there is no level to comply with.',
  requirements: [
    line('iso-30107-3-test', 'Test', {
      asks: 'The item under test is attacked with many instruments of each species.',
      by: [attackFigures],
    }),
    line('iso-30107-3-report', 'Report', {
      asks: 'Error rates are reported by species: attacks, genuine presentations, and those without a response.',
      partly:
        '`countersign evaluate-pad` reports APCER by species, BPCER, non-response and IAPAR with exact bounds. It reports no RIAPAR.',
      tests: 'evaluation/pad-rates evaluation/pad-data cli/evaluate-pad',
      documents: 'model-packs.md#liveness-of-the-recommended-pack',
    }),
    line('iso-30107-3-item', 'Item under test', {
      asks: 'It is stated which detection, in which version, a result is of.',
      met: 'Each verdict names the checks that were made, the pack with its version, and an `acr` for the combination.',
      tests: 'verification/acr verification/verify-claims',
      documents: 'guides/liveness.md#what-an-approval-is-called',
    }),
    line('iso-30107-3-use', 'Operation', {
      asks: 'The detection that was tested is the one in use.',
      by: [attackDetection],
    }),
  ],
}

export const ISO_19795: Standard = {
  id: 'iso-19795-1',
  title: 'ISO/IEC 19795-1: testing of biometric performance',
  about: 'It says how error rates are measured and reported. Part 10 does so for groups of people.',
  requirements: [
    line('iso-19795-1-rates', 'Rates', {
      asks: 'Errors of comparison and failures to acquire are counted and reported.',
      by: [measurement],
    }),
    line('iso-19795-1-uncertainty', 'Uncertainty', {
      asks: 'Rates have intervals, and the test is large enough for the rate.',
      met: 'Intervals come from a bootstrap over people; a rate that too few people could show is not given a threshold.',
      tests: 'evaluation/intervals evaluation/person-bootstrap evaluation/accuracy-guide',
      documents: 'guides/accuracy.md#how-many-people',
    }),
    line('iso-19795-1-population', 'Test subjects', {
      asks: 'The people of the test stand for those who will use the system.',
      by: [targetPopulation],
    }),
    line('iso-19795-1-threshold', 'Threshold', {
      asks: 'The rate in operation is the one that was tested.',
      by: [falseMatchRate],
      met: 'The threshold is one at which the upper end of the interval is not over the rate.',
      tests: 'evaluation/calibrate models/calibration',
      documents: 'accuracy.md#data-and-method',
    }),
    line('iso-19795-10', 'Part 10', {
      asks: 'Differences between groups are measured and reported.',
      by: [groupRates],
    }),
  ],
}

export const ISO_24745: Standard = {
  id: 'iso-24745',
  title: 'ISO/IEC 24745: protection of biometric information',
  about: 'It asks how references are kept secret, whole, renewable and apart.',
  requirements: [
    line('iso-24745-confidentiality', 'Confidentiality', {
      asks: 'References are secret where they are stored.',
      by: [sealing],
    }),
    line('iso-24745-integrity', 'Integrity', {
      asks: 'A changed or exchanged reference is noticed.',
      met: 'Each record is authenticated together with its user and kind: a reference that was moved or changed does not open.',
      tests: 'crypto/sealed-box users/template-vault',
      documents: 'threat-model.md#attackers',
    }),
    line('iso-24745-transfer', 'Transfer', {
      asks: 'Biometric data are protected on their way.',
      by: callerTransport,
    }),
    line('iso-24745-irreversibility', 'Irreversibility', {
      asks: 'A stored reference does not give the face back.',
      partly:
        'Templates are sealed and rotated by keys. Anyone who has the keys as well can undo both and roughly reconstruct a face.',
      tests: 'users/template-transform users/template-vault',
      documents: 'threat-model.md#assets',
    }),
    line('iso-24745-unlinkability', 'Unlinkability', {
      asks: 'References of one person in two systems cannot be matched.',
      met: 'A key of tenant and enrollment rotates each template: without the keys, two templates of a person cannot be compared.',
      tests: 'users/template-transform',
      documents: 'threat-model.md#attackers',
    }),
    line('iso-24745-renewability', 'Renewability', {
      asks: 'A reference can be revoked and replaced.',
      met: 'A reference is replaced or erased at any time, and the next enrollment is rotated by another key. The face itself stays the same.',
      tests: 'users/template-transform api/replace-verdict api/delete',
      documents: 'guides/production.md#a-verdict-before-a-face-is-replaced',
    }),
    line('iso-24745-erasure', 'Disposal', {
      asks: 'References are destroyed when they are no longer needed.',
      by: [erasure],
    }),
    line('iso-24745-minimization', 'Data minimization', {
      asks: 'No more is kept than the comparison needs.',
      by: [minimization],
    }),
    line('iso-24745-conformance', 'Conformance', {
      asks: 'Somebody independent has assessed the protection.',
      not_met: 'Nobody has assessed it; the judgements here are our own.',
      documents: 'threat-model.md',
    }),
  ],
}
