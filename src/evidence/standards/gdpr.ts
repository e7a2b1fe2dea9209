/** Data protection: articles 9, 17, 25, 30, 32 and 35 of the GDPR. */
import { always, line, partly, type Standard, together } from '../evidence.js'
import { backups, durability, redundancy } from '../subjects/continuity.js'
import { consent, erasure, minimization, retention, sealing } from '../subjects/data.js'
import { testing } from '../subjects/engineering.js'
import { rights } from '../subjects/operators.js'
import { adminTransport, callerTransport } from '../subjects/transport.js'

export const GDPR: Standard = {
  id: 'gdpr',
  title: 'GDPR (EU 2016/679)',
  about:
    'It obliges you, the controller, and anyone who processes for you. Countersign runs on your machines; nothing leaves them, so its authors process nothing.',
  requirements: [
    line(
      'gdpr-9',
      'Art. 9',
      'Biometric data that identify a person need explicit consent or another ground.',
      consent,
    ),
    line('gdpr-17', 'Art. 17', "A person's data are erased on request.", erasure),
    line(
      'gdpr-25-design',
      'Art. 25(1)',
      'The design itself protects data, by minimization and pseudonyms.',
      minimization,
    ),
    line(
      'gdpr-25-default',
      'Art. 25(2)',
      'By default no more is processed, and kept no longer, than needed.',
      retention,
    ),
    line(
      'gdpr-30',
      'Art. 30',
      'There is a record of what is processed, why, of whom and for how long.',
      always(
        partly(
          'What is kept, where and how long is written down, and the audit log holds each operation. The record itself is yours.',
        ),
        {
          tests: ['test/audit/audit-log.test.ts', 'test/api/list-audit.test.ts'],
          documents: ['guides/privacy.md#what-is-kept', 'guides/dpia.md'],
        },
      ),
    ),
    line(
      'gdpr-32-encryption',
      'Art. 32(1)(a)',
      'Data are encrypted and pseudonymous, as the risk demands.',
      together(sealing, callerTransport, adminTransport),
    ),
    line('gdpr-32-access', 'Art. 32(1)(b)', 'Only those who may can reach the data.', rights),
    line(
      'gdpr-32-resilience',
      'Art. 32(1)(b)',
      'The systems stay available and whole.',
      together(redundancy, durability),
    ),
    line(
      'gdpr-32-restore',
      'Art. 32(1)(c)',
      'After an incident the data are available again in time.',
      backups,
    ),
    line('gdpr-32-testing', 'Art. 32(1)(d)', 'The protection is tested regularly.', testing),
    line(
      'gdpr-35',
      'Art. 35',
      'An assessment of the impact precedes processing at high risk.',
      always(
        partly(
          'A template is filled in as far as the product can know. Necessity, risks to your users and the decision are yours.',
        ),
        {
          tests: ['test/docs.test.ts'],
          documents: ['guides/dpia.md'],
        },
      ),
    ),
  ],
}
