/**
 * The features of the service, in the order in which documents show their endpoints. Nothing else imports their `feature.ts`. The list itself
 * loads none of them: a command that needs no feature starts without.
 */
import { ACCOUNT_TABLES } from '../admin/accounts/account-tables.js'
import type { KeyParts } from '../admin/core.js'
import { ConfigError } from '../config/config-error.js'
import { Events } from '../events/events.js'
import type { Table } from '../storage/table.js'
import { CAPTURE_SESSIONS } from './capture-sessions/own.js'
import { CHALLENGES } from './challenges/own.js'
import { EPOCH_KEYS } from './epoch-keys/own.js'
import { EVIDENCE } from './evidence/own.js'
import type { EventParts, Feature, ListedFeature } from './feature.js'
import { INSIGHT } from './insight/own.js'
import { LEARNING_REFERENCES } from './learning-references/own.js'
import { OPENID } from './openid/own.js'
import { PASSKEYS } from './passkeys/own.js'
import { POLICIES } from './policies/own.js'
import { POSTGRES } from './postgres/own.js'
import { PUBLIC_VERDICTS } from './public-verdicts/own.js'
import { TRACING } from './tracing/own.js'
import { WEBHOOKS } from './webhooks/own.js'

export const FEATURES: readonly ListedFeature[] = [
  { name: 'postgres', ...POSTGRES, load: async () => ({}) },
  { name: 'tracing', ...TRACING, load: async () => (await import('./tracing/feature.js')).tracing },
  {
    name: 'challenges',
    ...CHALLENGES,
    load: async () => (await import('./challenges/feature.js')).challenges,
  },
  {
    name: 'capture-sessions',
    needs: ['challenges'],
    ...CAPTURE_SESSIONS,
    load: async () => (await import('./capture-sessions/feature.js')).captureSessions,
  },
  { name: 'policies', ...POLICIES, load: async () => (await import('./policies/feature.js')).policies },
  {
    name: 'displayed-actions',
    load: async () => (await import('./displayed-actions/feature.js')).displayedActions,
  },
  { name: 'passkeys', ...PASSKEYS, load: async () => (await import('./passkeys/feature.js')).passkeys },
  {
    name: 'learning-references',
    ...LEARNING_REFERENCES,
    load: async () => (await import('./learning-references/feature.js')).learningReferences,
  },
  { name: 'consent', load: async () => (await import('./consent/feature.js')).consent },
  {
    name: 'public-verdicts',
    ...PUBLIC_VERDICTS,
    load: async () => (await import('./public-verdicts/feature.js')).publicVerdicts,
  },
  {
    name: 'epoch-keys',
    ...EPOCH_KEYS,
    load: async () => (await import('./epoch-keys/feature.js')).epochKeys,
  },
  {
    name: 'openid',
    needs: ['public-verdicts'],
    ...OPENID,
    load: async () => (await import('./openid/feature.js')).openid,
  },
  { name: 'webhooks', ...WEBHOOKS, load: async () => (await import('./webhooks/feature.js')).webhooks },
  { name: 'evidence', ...EVIDENCE, load: async () => (await import('./evidence/feature.js')).evidence },
  { name: 'insight', ...INSIGHT, load: async () => (await import('./insight/feature.js')).insight },
  {
    name: 'api-documents',
    load: async () => (await import('./api-documents/feature.js')).apiDocuments,
  },
  {
    name: 'dashboard',
    needs: ['api-documents'],
    load: async () => (await import('../dashboard/feature.js')).dashboard,
  },
]

/**
 * The tables that the core does not know: the accounts of the console, which commands need without the dashboard too, and those of features,
 * in the order of the list. Two features may have one in common.
 */
export function tablesOf(listed: readonly ListedFeature[] = FEATURES): Table[] {
  return [...new Set([...ACCOUNT_TABLES, ...listed.flatMap(({ tables = [] }) => tables)])]
}

/** Events as the features hear of them, in the order of the list. */
export async function eventsOf(listed: readonly ListedFeature[], parts: EventParts): Promise<Events> {
  return new Events(await Promise.all(listed.flatMap(({ subscribe }) => subscribe?.(parts) ?? [])))
}

/**
 * Reads the keys outside of the database under which users' data keys are wrapped too.
 * @throws ConfigError where one is missing, or where there are such keys and no feature reads them
 */
export async function openDataKeys(listed: readonly ListedFeature[], parts: KeyParts): Promise<void> {
  for (const { openKeys } of listed) await openKeys?.(parts)
  if (!listed.some(({ openKeys }) => openKeys)) await parts.store.shared?.requireOwnKeys()
}

/** The features themselves, in the order of the list. @throws ConfigError where one needs another that is not listed */
export async function loadFeatures(listed: readonly ListedFeature[] = FEATURES): Promise<Feature[]> {
  for (const { name, needs = [] } of listed)
    for (const needed of needs)
      if (!listed.some((one) => one.name === needed))
        throw new ConfigError(`The feature ${name} needs the feature ${needed}, which is not listed.`)
  return Promise.all(listed.map(({ load }) => load()))
}
