/** Data protection: articles 9, 17, 25, 30, 32 and 35 of the GDPR. */
import { line, type Standard } from '../evidence.js'
import { backups, durability, erasure, redundancy, sealing } from '../judgements/data.js'
import { adminTransport, callerTransport } from '../judgements/transport.js'
import { minimization, retention, rights, testing } from '../shared-answers.js'

export const GDPR: Standard = {
  id: 'gdpr',
  title: 'GDPR (EU 2016/679)',
  about:
    'It obliges you, the controller, and anyone who processes for you. Countersign runs on your machines; nothing leaves them, so its authors process nothing.',
  checked:
    'Each clause was compared with quotations of the regulation in public sources (November 2026), not with the Official Journal itself.',
  requirements: [
    line('gdpr-9', 'Art. 9', {
      asks: 'Biometric data that uniquely identify a person are processed only with explicit consent or on another listed ground.',
      partly:
        'The hosted page takes consent before the camera and keeps the text shown. The API keeps the consent that you send. It demands one only where the policy of a tenant names it.',
      tests:
        'features/capture-sessions/capture-page api/enroll features/policies/policy-in-force features/capture-sessions/consent-text-command features/capture-sessions/capture-tables',
      documents: 'guides/privacy.md#by-regulation guides/capture.md#consent guides/dpia.md',
    }),
    line('gdpr-17', 'Art. 17', {
      asks: "A person's data are erased without undue delay where a ground applies.",
      by: [erasure],
    }),
    line('gdpr-25-design', 'Art. 25(1)', {
      asks: 'The design itself protects data, by minimization and pseudonyms.',
      by: [minimization],
    }),
    line('gdpr-25-default', 'Art. 25(2)', {
      asks: 'By default only data needed for the purpose are processed, in amount, extent, storage time and access.',
      by: [retention],
    }),
    line('gdpr-30', 'Art. 30', {
      asks: 'There is a record of what is processed, why, of whom and for how long.',
      partly:
        'What is kept, where and how long is written down, and the audit log holds each operation. The record itself is yours.',
      tests: 'audit/audit-log api/list-audit',
      documents: 'guides/privacy.md#what-is-kept guides/dpia.md',
    }),
    line('gdpr-32-encryption', 'Art. 32(1)(a)', {
      asks: 'Data are encrypted and pseudonymous, as the risk demands.',
      by: [sealing, ...callerTransport, adminTransport],
    }),
    line('gdpr-32-access', 'Art. 32(1)(b)', {
      asks: 'The systems stay confidential: only authorized people reach the data.',
      by: [rights],
    }),
    line('gdpr-32-resilience', 'Art. 32(1)(b)', {
      asks: 'The systems keep integrity, availability and resilience.',
      by: [redundancy, durability],
    }),
    line('gdpr-32-restore', 'Art. 32(1)(c)', {
      asks: 'After an incident, availability of and access to the data return in a timely manner.',
      by: [backups],
    }),
    line('gdpr-32-testing', 'Art. 32(1)(d)', {
      asks: 'The measures are regularly tested, assessed and evaluated.',
      by: [testing],
    }),
    line('gdpr-35', 'Art. 35', {
      asks: 'An assessment of the impact precedes processing that is likely to be a high risk.',
      partly:
        'A template is filled in as far as the product can know. Necessity, risks to your users and the decision are yours.',
      tests: 'docs',
      documents: 'guides/dpia.md',
    }),
  ],
}
