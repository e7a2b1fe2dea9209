/** Two acts of the European Union: digital resilience of finance, and artificial intelligence. */
import { byTitle, line, type Standard } from '../evidence.js'
import { falseMatchRate, falseNonMatchRate, groupRates, trainingData } from '../judgements/accuracy.js'
import { attackDetection } from '../judgements/attacks.js'
import { backups, durability, redundancy, sealing } from '../judgements/data.js'
import { dependencies, logging, secondFactor } from '../judgements/operation.js'
import { adminTransport, callerTransport } from '../judgements/transport.js'
import { auditLog, capacity, changes, monitoring, recovery, rights, testing } from '../shared-answers.js'

export const DORA: Standard = {
  id: 'dora',
  title: 'DORA: digital operational resilience (EU 2022/2554)',
  about:
    'It obliges financial entities. Countersign is software that you run, not a service that somebody provides to you.',
  checked:
    'Articles 7, 9, 10, 12 and 17 were compared with quotations of the regulation in public sources (November 2026), and articles 26, 28 and 30 with summaries. The Official Journal itself was not at hand.',
  requirements: [
    line('dora-7', 'Art. 7', {
      asks: 'Systems are reliable, resilient, and have capacity for peaks.',
      by: [capacity, durability],
    }),
    byTitle('dora-8', 'Art. 8', {
      asks: 'Assets and their dependencies are identified.',
      by: [dependencies],
    }),
    line('dora-9-protection', 'Art. 9(2), (3)', {
      asks: 'Data stay available, authentic, whole and confidential, at rest, in use and in transit.',
      by: [sealing, ...callerTransport, adminTransport],
    }),
    line('dora-9-access', 'Art. 9(4)(c), (d)', {
      asks: 'Access is limited to what is required, with strong authentication.',
      by: [rights, secondFactor],
    }),
    line('dora-9-change', 'Art. 9(4)(e)', {
      asks: 'Changes are recorded, tested, assessed and approved.',
      by: [changes],
    }),
    line('dora-10', 'Art. 10', {
      asks: 'Anomalous activities are promptly detected.',
      by: [logging, monitoring],
    }),
    byTitle('dora-11', 'Art. 11', { asks: 'Critical functions continue after a failure.', by: [redundancy] }),
    line('dora-12', 'Art. 12', {
      asks: 'Backups are made, and restoring is tested periodically.',
      by: [backups, recovery],
    }),
    line('dora-17', 'Art. 17', { asks: 'Incidents are recorded and followed.', by: [auditLog] }),
    byTitle('dora-25', 'Art. 24, 25', { asks: 'Tools and systems are tested.', by: [testing] }),
    line('dora-26', 'Art. 26', {
      asks: 'Entities that their authority names have critical functions attacked by testers, on live systems.',
      not_met: 'No such test of this product is known.',
      documents: 'threat-model.md',
    }),
    line('dora-28', 'Art. 28, 30', {
      asks: 'Third parties that provide services are bound by contract.',
      not_met:
        'There is no provider and no contract: open-source software comes without service levels, audit rights or an exit plan.',
      documents: 'supply-chain.md guides/air-gapped.md',
    }),
  ],
}

export const AI_ACT: Standard = {
  id: 'ai-act',
  title: 'AI Act (EU 2024/1689)',
  about:
    'Annex III excludes verification, whose sole purpose is to confirm that a person is who they claim to be. Whether your use stays within that is for your lawyers; lines on high-risk systems are for the case that it does not.',
  checked:
    'Annex III and Article 5(1)(e) and (f) were compared with quotations of the regulation in public sources (November 2026), and Article 5(1)(g) with summaries. The Official Journal itself was not at hand. The same sources report an amendment of 2026: high-risk duties of Annex III from 2 December 2027, and Article 4 as a duty to take measures. Check its published text.',
  requirements: [
    line('ai-act-annex-iii', 'Annex III, 1(a)', {
      asks: 'Verification of one claimed identity is not a high-risk use of biometrics.',
      met: 'Every comparison is with the reference of one named user. No call searches for a person among all.',
      tests: 'api/verify openapi',
      documents: 'guides/concepts.md',
    }),
    line('ai-act-5-scraping', 'Art. 5(1)(e)', {
      asks: 'No database of faces is built by untargeted scraping.',
      partly:
        'The service gathers no pictures. Its networks were trained by others, partly on faces gathered from the web.',
      documents: 'model-packs.md#where-the-networks-come-from',
    }),
    line('ai-act-5-categories', 'Art. 5(1)(f), (g)', {
      asks: 'No emotions at work or in education, and no sensitive categories from biometric data, are inferred.',
      met: 'A pack has networks for finding, aligning, comparing and liveness; its schema knows no other.',
      tests: 'models/pack/model-pack',
      documents: 'model-packs.md#packjson',
    }),
    byTitle('ai-act-4', 'Art. 4', {
      asks: 'Providers and deployers take measures for the AI literacy of those who operate the system.',
      partly: 'Limits and figures are written down for them. That they read them is yours.',
      documents: 'guides/concepts.md accuracy.md guides/liveness.md',
    }),
    byTitle('ai-act-10', 'Art. 10 (high risk)', {
      asks: 'Training data are governed, relevant and examined for bias.',
      by: [trainingData],
    }),
    byTitle('ai-act-12', 'Art. 12 (high risk)', {
      asks: "Events are recorded over the system's lifetime.",
      by: [auditLog, logging],
    }),
    byTitle('ai-act-14', 'Art. 14 (high risk)', {
      asks: 'People can oversee the system and override it.',
      partly:
        "An operator can unlock, erase and suspend. A decision that overrides a verdict is your application's.",
      tests: 'cli/user dashboard/users',
      documents: 'guides/step-up.md#when-the-face-does-not-do',
    }),
    byTitle('ai-act-15-accuracy', 'Art. 15 (high risk)', {
      asks: 'Accuracy is adequate and declared.',
      by: [falseMatchRate, groupRates, falseNonMatchRate],
    }),
    byTitle('ai-act-15-security', 'Art. 15 (high risk)', {
      asks: 'The system resists attempts to deceive it.',
      by: [attackDetection],
    }),
  ],
}
