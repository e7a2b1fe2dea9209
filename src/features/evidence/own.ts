/** The command of evidence, which is known without loading its standards. */
import type { OwnParts } from '../feature.js'

export const EVIDENCE: OwnParts = {
  commands: [
    {
      after: 'completion',
      usage: 'evidence',
      description:
        'judge this installation by PSD2, NIST, ISO, GDPR, SOC 2, DORA and the AI Act, line by line',
      load: async () => (await import('./evidence-command.js')).registerEvidenceCommand,
    },
  ],
}
