/** Controls of information security: ISO/IEC 27001 and SOC 2. */
import { byTitle, line, type Standard } from '../evidence.js'
import { backups, durability, erasure, redundancy, sealing } from '../judgements/data.js'
import { dependencies, logging, namedOperators, replacement, secondFactor } from '../judgements/operation.js'
import { adminTransport, apiTransport, callerTransport } from '../judgements/transport.js'
import {
  auditLog,
  capacity,
  changes,
  containment,
  minimization,
  monitoring,
  recovery,
  retention,
  rights,
  testing,
} from '../shared-answers.js'

const noCertificate = {
  not_met: 'Organizations are certified, not products. Nobody has audited how this one is made.',
}

export const ISO_27001: Standard = {
  id: 'iso-27001',
  title: 'ISO/IEC 27001:2022: controls of Annex A',
  about:
    'It obliges an organization. These are the controls for which this product gives you something to show.',
  checked:
    'Numbers and titles of all controls were compared with public lists (November 2026). The norm itself is sold, and its text was not at hand: the second column says in our words what a title means.',
  requirements: [
    line('iso-27001-certificate', 'Certificate', {
      asks: 'An accredited body has certified the management system.',
      by: [noCertificate],
    }),
    line('iso-27001-5-15', 'A.5.15, A.5.18', {
      asks: 'Access is granted by rule, and can be withdrawn.',
      by: [rights],
    }),
    line('iso-27001-5-16', 'A.5.16', { asks: 'Each identity belongs to one person.', by: [namedOperators] }),
    line('iso-27001-5-21', 'A.5.21', { asks: 'Risks of the supply chain are managed.', by: [dependencies] }),
    line('iso-27001-5-28', 'A.5.28, A.5.33', {
      asks: 'Records and evidence are protected against change.',
      by: [auditLog],
    }),
    line('iso-27001-5-30', 'A.5.30', { asks: 'Systems are ready for a disruption.', by: [recovery] }),
    line('iso-27001-5-34', 'A.5.34', { asks: 'Personal data are protected.', by: [minimization, retention] }),
    line('iso-27001-8-2', 'A.8.2', {
      asks: 'Privileged rights are limited and watched.',
      met: 'Changing something or revealing a secret needs a fresh sign-in; sessions end unused and in any case; the audit log names who did it.',
      tests: 'dashboard/sessions cli/sessions dashboard/sign-in',
      documents: 'operations/operators.md#sessions',
    }),
    line('iso-27001-8-3', 'A.8.3', {
      asks: 'Access to information is restricted: nobody replaces a reference unnoticed.',
      by: [replacement],
    }),
    line('iso-27001-8-5', 'A.8.5', { asks: 'Sign-in is as strong as what it opens.', by: [secondFactor] }),
    line('iso-27001-8-6', 'A.8.6', { asks: 'Capacity is planned and bounded.', by: [capacity] }),
    line('iso-27001-8-10', 'A.8.10', {
      asks: 'Information is deleted when it is no longer needed.',
      by: [erasure, retention],
    }),
    line('iso-27001-8-12', 'A.8.12', { asks: 'Leaks are prevented.', by: [containment] }),
    line('iso-27001-8-13', 'A.8.13', { asks: 'Backups are made and tried.', by: [backups] }),
    line('iso-27001-8-14', 'A.8.14', { asks: 'What must be available is redundant.', by: [redundancy] }),
    line('iso-27001-8-15', 'A.8.15', { asks: 'Events are logged, and logs protected.', by: [logging] }),
    line('iso-27001-8-16', 'A.8.16', { asks: 'Systems are watched for anomalies.', by: [monitoring] }),
    line('iso-27001-8-17', 'A.8.17', {
      asks: 'Clocks are synchronized.',
      partly:
        "A clock that jumps or differs from the other nodes is reported, and nothing ended comes back. Keeping it right is the machine's.",
      tests: 'jobs/clock-watch faults/clock',
      documents: 'operations/runbooks.md#wrong_clock operations/runbooks.md#clock_jumped',
    }),
    line('iso-27001-8-20', 'A.8.20, A.8.21', {
      asks: 'Networks and their services are secured.',
      by: [apiTransport, adminTransport],
    }),
    line('iso-27001-8-24', 'A.8.24', {
      asks: 'Cryptography is used by rule, and its keys are managed.',
      by: [sealing],
    }),
    line('iso-27001-8-29', 'A.8.25, A.8.29', {
      asks: 'Security is part of development and is tested.',
      by: [testing],
    }),
    line('iso-27001-8-31', 'A.8.31', {
      asks: 'Development, test and production are separate.',
      met: 'Sandbox and production have addresses, keys, references and signatures of their own, and neither passes for the other.',
      tests: 'http/access verification/sandbox client/countersign',
      documents: 'guides/concepts.md operations/tenants.md#what-the-sandbox-may-hold',
    }),
    line('iso-27001-8-32', 'A.8.32', { asks: 'Changes are controlled.', by: [changes] }),
  ],
}

export const SOC_2: Standard = {
  id: 'soc-2',
  title: 'SOC 2: trust services criteria',
  about:
    'An auditor reports on an organization. These are the criteria for which this product gives you something to show.',
  checked:
    'The criteria were compared with reproductions in public sources (November 2026), not with the document of the AICPA (2017, points of focus of 2022).',
  requirements: [
    line('soc-2-report', 'Report', { asks: 'An auditor has reported on the controls.', by: [noCertificate] }),
    byTitle('soc-2-cc6-1', 'CC6.1', {
      asks: 'Logical access protects the information, with encryption and managed keys.',
      by: [secondFactor, sealing],
    }),
    line('soc-2-cc6-2', 'CC6.2, CC6.3', {
      asks: 'People are registered, authorized by role, and removed.',
      by: [namedOperators, rights],
    }),
    line('soc-2-cc6-6', 'CC6.6', {
      asks: "Access measures protect against threats from outside the system's boundaries.",
      by: [apiTransport, adminTransport, containment],
    }),
    line('soc-2-cc6-7', 'CC6.7', {
      asks: 'Sending information is restricted, and information is protected while it is sent.',
      by: callerTransport,
    }),
    line('soc-2-cc7-1', 'CC7.1', {
      asks: 'New vulnerabilities, and changes of configuration that bring them, are found.',
      by: [dependencies],
    }),
    line('soc-2-cc7-2', 'CC7.2', {
      asks: 'Components are monitored for anomalies.',
      by: [logging, monitoring],
    }),
    line('soc-2-cc7-5', 'CC7.5', { asks: 'Activities to recover from incidents exist.', by: [recovery] }),
    line('soc-2-cc8-1', 'CC8.1', {
      asks: 'Changes are authorized, documented, tested and approved.',
      by: [changes],
    }),
    line('soc-2-a1-1', 'A1.1', { asks: 'Capacity is measured and managed.', by: [capacity] }),
    line('soc-2-a1-2', 'A1.2', {
      asks: 'Backups and infrastructure for recovery exist.',
      by: [backups, redundancy],
    }),
    line('soc-2-a1-3', 'A1.3', { asks: 'Procedures of recovery are tested.', by: [recovery] }),
    line('soc-2-c1-2', 'C1.2', {
      asks: 'Confidential information is disposed of.',
      by: [erasure, retention],
    }),
    byTitle('soc-2-pi1', 'PI1', {
      asks: 'Processing is complete and exact: what is answered has happened, once.',
      by: [durability],
    }),
  ],
}
