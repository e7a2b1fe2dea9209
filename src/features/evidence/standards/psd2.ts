/** Strong customer authentication: articles 4, 5, 8 and 9 of the technical standards under PSD2. */
import { line, type Standard } from '../evidence.js'
import { falseMatchRate, groupRates } from '../judgements/accuracy.js'
import { attackDetection, blockAndRelease, fiveAttempts } from '../judgements/attacks.js'
import { verdictLifetime } from '../judgements/operation.js'
import { callerTransport } from '../judgements/transport.js'

const BINDING_TESTS = 'client/action client/verdict client/vectors verification/verify-claims'
const BINDING_DOCUMENTS = 'guides/step-up.md guides/concepts.md'

export const PSD2: Standard = {
  id: 'psd2',
  title: 'PSD2: technical standards on strong customer authentication (EU 2018/389)',
  about:
    "They oblige payment service providers. A face is one element, inherence, and the verdict is the authentication code; the other element, the payer's session and the page are the provider's.",
  requirements: [
    line('psd2-4-1-elements', 'Art. 4(1)', {
      asks: 'Two elements of different kinds authenticate the payer.',
      partly:
        'The face is inherence. A passkey in the same step is possession, and the verdict names it. Your application must ask for it, or bring another element.',
      tests: 'api/passkeys client/step-up',
      documents: 'guides/passkeys.md#standards guides/step-up.md',
    }),
    line('psd2-4-1-once', 'Art. 4(1)', {
      asks: 'The authentication code is accepted once.',
      met: "The SDK accepts a verdict's `jti` once; several processes of yours must share a replay store.",
      tests: 'client/verdict client/replay-store',
      documents: 'guides/concepts.md',
    }),
    line('psd2-4-2-a', 'Art. 4(2)(a)', {
      asks: 'The code discloses nothing about the elements.',
      partly:
        'A verdict holds no picture and no template, and that of a rejection no score, which would help somebody who tries many pictures.',
      tests: 'verification/verify-claims app/logging',
      documents: 'sdk.md',
    }),
    line('psd2-4-2-bc', 'Art. 4(2)(b), (c)', {
      asks: 'No code can be made from earlier ones, and none can be forged.',
      met: "Each verdict is signed by HMAC-SHA-256 under a tenant's 256-bit secret, which your backend holds too. `jwt_public` is signed by ECDSA on P-256, under a key that only the service holds.",
      tests: 'crypto/trust client/verdict.properties api/public-verdict tenants/rotation.model',
      documents: 'threat-model.md#assets guides/rotation.md',
    }),
    line('psd2-4-3-a', 'Art. 4(3)(a)', {
      asks: 'A failure does not show which element was wrong.',
      partly: "`reason` says to your backend what failed. What the payer sees is your page's.",
      tests: 'features/capture-sessions/capture-outcome',
      documents: 'guides/step-up.md',
    }),
    line('psd2-4-3-b', 'Art. 4(3)(b)', {
      asks: 'At most five failures in a row before the action is blocked.',
      by: [fiveAttempts],
    }),
    line('psd2-4-3-c', 'Art. 4(3)(c)', {
      asks: 'Sessions are protected against capture and manipulation of authentication data.',
      by: callerTransport,
    }),
    line('psd2-4-3-d', 'Art. 4(3)(d)', {
      asks: 'After authentication, at most five minutes without activity of the payer.',
      by: [verdictLifetime],
    }),
    line('psd2-4-4', 'Art. 4(4)', {
      asks: 'Blocks fit the risk, the payer is alerted before a permanent one, and there is a secure way back.',
      by: [blockAndRelease],
    }),
    line('psd2-5-1-a', 'Art. 5(1)(a)', {
      asks: 'The payer is shown the amount and the payee.',
      partly:
        'The hosted page shows amount, currency, payee and account of a `payment` in its own words. On a page of yours, and for untyped actions, that is yours.',
      tests: 'client/display-action features/capture-sessions/typed-action lib/readable-text',
      documents: 'guides/typed-actions.md guides/hosted-page.md threat-model.md#text-that-people-read',
    }),
    line('psd2-5-1-b', 'Art. 5(1)(b)', {
      asks: 'The code belongs to one amount and one payee.',
      met: 'Every verification names its action. The verdict carries the action and its SHA-256 in canonical form (RFC 8785): put amount and payee into it, as the type `payment` requires.',
      tests: BINDING_TESTS,
      documents: BINDING_DOCUMENTS,
    }),
    line('psd2-5-1-cd', 'Art. 5(1)(c), (d)', {
      asks: 'The accepted code is that of the original amount and payee; a change of either makes it invalid.',
      met: 'The SDK hashes the action that is about to run and refuses a verdict of any other. A challenge is bound to the action as well.',
      tests: `${BINDING_TESTS} features/challenges/challenges`,
      documents: BINDING_DOCUMENTS,
    }),
    line('psd2-5-2', 'Art. 5(2)', {
      asks: 'Amount, payee and what the payer is shown stay confidential, authentic and whole throughout.',
      by: callerTransport,
      partly:
        'Responses are signed and actions hashed. A verdict has the hash of the text that the hosted page was sent; what a changed browser shows is not proven, and what your own page shows is yours.',
      tests: 'features/capture-sessions/typed-action client/response-signature.properties http/responses',
      documents: 'guides/typed-actions.md guides/step-up.md',
    }),
    line('psd2-5-3-b', 'Art. 5(3)(b)', {
      asks: 'The code of a batch belongs to its total and to its payees.',
      met: 'An action of type `payment_batch` holds total, number and hash of the list. The hosted page shows the whole list; the SDK makes the action again from the payments that are about to run.',
      tests: 'client/typed-actions features/displayed-actions/displayed-actions client/display-action',
      documents: 'guides/typed-actions.md#a-batch',
    }),
    line('psd2-8-1', 'Art. 8(1)', {
      asks: 'The probability that somebody else is taken for the payer is very low.',
      by: [falseMatchRate, groupRates, attackDetection],
      partly: 'No laboratory has tested it.',
      documents: 'accuracy.md guides/liveness.md',
    }),
    line('psd2-8-2', 'Art. 8(2)', {
      asks: "The payer's device and software resist use of the element by others.",
      not_met:
        'Captures come from any browser, and no device is attested. Signals of a replaced camera are reported, but a careful attacker causes none.',
      documents: 'guides/liveness.md#what-it-does-not-stop threat-model.md#attackers',
    }),
    line('psd2-9-1', 'Art. 9(1)', {
      asks: 'A breach of one element leaves the other reliable.',
      partly:
        'Countersign holds nothing of the other element. That the two share no device or channel is for you to ensure.',
      documents: 'threat-model.md#boundaries architecture.md',
    }),
    line('psd2-9-2', 'Art. 9(2), (3)', {
      asks: 'A phone or computer that serves for both elements has separated environments and detects alteration.',
      not_met:
        'The capture component is a page: it has no separate environment and detects no altered device.',
      documents: 'guides/liveness.md#what-it-does-not-stop',
    }),
  ],
}
