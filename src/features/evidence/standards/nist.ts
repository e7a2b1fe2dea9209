/** NIST's requirements for biometrics in authentication. */
import { line, type Standard } from '../evidence.js'
import { falseMatchRate, falseNonMatchRate, groupRates, measurement } from '../judgements/accuracy.js'
import { attackDetection, delaysAndEnd, fiveOrTenAttempts, replays } from '../judgements/attacks.js'
import { sealing } from '../judgements/data.js'
import { callerTransport } from '../judgements/transport.js'
import { attackFigures, minimization } from '../shared-answers.js'

const SECTION = 'Sec. 3.2.3'

export const NIST: Standard = {
  id: 'nist-800-63b',
  title: 'NIST SP 800-63B-4: use of biometrics',
  about:
    'It obliges verifiers and providers of credentials for US agencies. The word should marks a recommendation. Section 3.2.3 holds biometrics, 3.2.7 replay, 3.2.8 intent.',
  requirements: [
    line('nist-factor', SECTION, {
      asks: 'A biometric is used only together with a physical authenticator.',
      partly:
        'A passkey with user verification signs in the same step, and the verdict names it. Your application must ask for it.',
      tests: 'api/passkeys features/capture-sessions/passkey-session',
      documents: 'guides/passkeys.md guides/step-up.md',
    }),
    line('nist-each', SECTION, {
      asks: 'The biometric is presented and compared for each authentication.',
      met: 'Every verification needs new pictures and makes one comparison; no earlier approval counts.',
      tests: 'api/verify api/several-images',
      documents: 'internals/request-lifecycle.md',
    }),
    line('nist-alternative', SECTION, {
      asks: 'Another way than the biometric is always offered.',
      partly: 'The examples offer one from the start. Your application must too: the service cannot.',
      tests: 'client/guides',
      documents: 'guides/step-up.md#when-the-face-does-not-do',
    }),
    line('nist-sensitive', SECTION, {
      asks: 'Biometric data are secured as sensitive personal information.',
      by: [sealing],
    }),
    line('nist-fmr', SECTION, {
      asks: 'A false match rate of one in 10,000 or better, in every group by sex and skin tone.',
      by: [falseMatchRate, groupRates],
    }),
    line('nist-fnmr', SECTION, {
      asks: 'Should: fewer than 5 % of genuine comparisons are missed.',
      by: [falseNonMatchRate],
    }),
    line('nist-test', SECTION, { asks: 'Performance is tested by ISO/IEC 19795-1.', by: [measurement] }),
    line('nist-threshold', SECTION, {
      asks: 'One threshold holds for everybody.',
      met: 'A rate gives one threshold for all people of a contract; no group has another.',
      tests: 'verification/decision models/pack/model-pack',
      documents: 'accuracy.md#what-is-signed',
    }),
    line('nist-pad', SECTION, {
      asks: 'Presentation attacks on a face are detected.',
      by: [attackDetection],
    }),
    line('nist-iapar', SECTION, {
      asks: 'Should: fewer than 7 % of attacks by impostors are accepted, in a test by ISO/IEC 30107-3.',
      by: [attackFigures],
    }),
    line('nist-attempts', SECTION, {
      asks: 'At most five failures in a row, or ten with detection that meets the requirements.',
      by: [fiveOrTenAttempts],
    }),
    line('nist-delay', SECTION, {
      asks: 'Then at least 30 s before each attempt, and an end at 50 failures, or 100 with detection.',
      by: [delaysAndEnd],
    }),
    line('nist-endpoint', SECTION, {
      asks: 'Should: the verifier determines performance and integrity of sensor and device.',
      not_met:
        'No sensor is attested. The hosted page reports signs of a replaced camera, and a policy can ask for a person’s look at them; a browser that lies reports none.',
      tests: 'api/capture-integrity capture/capture-signals.browser',
      documents:
        'guides/capture-integrity.md#what-the-figures-do-not-say guides/liveness.md#what-it-does-not-stop',
    }),
    line('nist-local', SECTION, {
      asks: "Should: the comparison is made on the person's device.",
      not_met: 'The comparison is central by design; templates are sealed, and each is rotated by a key.',
      tests: 'users/template-transform',
      documents: 'architecture.md',
    }),
    line('nist-sensor', SECTION, {
      asks: 'Central comparison: sensor or device is authenticated before the capture.',
      not_met: 'Client certificates authenticate your backend; no camera is authenticated.',
      tests: 'http/listeners/client-certificates',
      documents: 'guides/production.md#client-certificates',
    }),
    line('nist-channel', SECTION, {
      asks: 'Central comparison: an authenticated, protected channel from sensor to verifier.',
      by: callerTransport,
      partly: 'From your backend and the hosted page on it is TLS. From a page of your own it is your TLS.',
      documents: 'guides/capture.md',
    }),
    line('nist-samples', SECTION, {
      asks: 'Samples are erased at once after use, and train nothing without consent.',
      by: [minimization],
    }),
    line('nist-replay', 'Sec. 3.2.7', { asks: 'An earlier message cannot be played again.', by: [replays] }),
    line('nist-intent', 'Sec. 3.2.8', {
      asks: 'An explicit act shows that the person means it: a camera that sees a face does not.',
      partly: 'On the hosted page the person agrees and starts the camera. On a page of yours it is yours.',
      tests: 'features/capture-sessions/capture-page.browser capture/capture.browser',
      documents: 'guides/capture.md',
    }),
  ],
}
