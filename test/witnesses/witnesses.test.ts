/**
 * Holds everything that the service answers, claims, writes, audits and reports: a change of the code's form changes none of it unseen.
 * Each scenario drives a real service, and `recorded/` has what came of it, less what is drawn at random. A change that is intended is
 * written by `npm run docs`, and the commit shows the difference. An endpoint, an error or a
 * reason that is new fails here until a scenario has it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REASONS } from '../../src/contract/verdict.js'
import type { Observation } from '../../src/http/observation/observation.js'
import { DESCRIPTIONS } from '../support/descriptions.js'
import { differences, jsonText, recordedText, writeRecorded } from './recorded-file.js'
import { GROUPS, type Group, type Scenario } from './scenarios/groups.js'
import { type RecordedScenario, Stage } from './stage.js'
import type { Theatre } from './theatre.js'

/**
 * Errors that no scenario brings about. Those of signatures stand in a list that registrations share; the others need a service or a
 * model pack of their own, or two calls at the same moment.
 */
const OF_SIGNATURES = ['passkey_not_found', 'passkey_counter_reversed', 'passkey_became_synced']
const WITHOUT_WITNESS: Record<string, string[]> = {
  enroll: ['passkey_proof_required', ...OF_SIGNATURES],
  rotate_signing: ['insecure_channel'],
  create_challenge: ['liveness_unavailable'],
  guide: ['liveness_unavailable'],
  create_capture_session: ['passkey_limit_reached'],
  register_passkey: ['reference_not_found', 'passkey_recovery_pending', ...OF_SIGNATURES],
}

const theatres = new Map<Group['theatre'], Promise<Theatre>>()
afterAll(async () => {
  for (const theatre of theatres.values()) await (await theatre).close()
})

async function play(group: Group): Promise<RecordedScenario[]> {
  const opened = theatres.get(group.theatre) ?? group.theatre()
  theatres.set(group.theatre, opened)
  const theatre = await opened
  const recorded: RecordedScenario[] = []
  for (const [scenario, run] of Object.entries<Scenario>(group.scenarios)) {
    const stage = await Stage.set(theatre)
    await run(stage)
    recorded.push({ scenario, calls: stage.calls })
  }
  return recorded
}

describe('the service', () => {
  it.each(Object.entries(GROUPS))(
    'answers, writes and reports what recorded/%s.json says (UPDATE_DOCS=1 writes it)',
    async (name, group) => {
      const text = jsonText(await play(group))
      if (process.env.UPDATE_DOCS === '1') writeRecorded(name, text)
      const recorded = recordedText(name)
      expect(differences(JSON.parse(recorded || '[]'), JSON.parse(text))).toEqual([])
      expect(text).toBe(recorded)
    },
    300_000,
  )
})

describe('the witnesses', () => {
  let seen: Observation[]
  beforeAll(() => {
    seen = Object.keys(GROUPS)
      .flatMap((name): RecordedScenario[] => JSON.parse(recordedText(name) || '[]'))
      .flatMap(({ calls }) => calls)
      .flatMap(({ observed = [] }) => observed as Observation[])
  })
  const environments = ['production', 'sandbox'] as const

  it.each(DESCRIPTIONS.map((one) => [one.id, one] as const))(
    'hold a success of %s and each of its errors',
    (id, { success, errors }) => {
      const ofEndpoint = seen.filter(({ endpoint }) => endpoint === id)
      for (const environment of environments) {
        const answers = ofEndpoint.filter((one) => one.environment === environment)
        expect(answers.map(({ status }) => status)).toContain(success.status)
        if (errors.length > 0) expect(answers.some(({ code }) => code !== undefined)).toBe(true)
      }
      const unseen = errors.filter((code) => !ofEndpoint.some((one) => one.code === code))
      expect(unseen.join(', ')).toBe(WITHOUT_WITNESS[id]?.join(', ') ?? '')
    },
  )

  it.each(REASONS)('hold a verdict with the reason %s', (reason) => {
    expect(seen.some((one) => one.reason === reason && one.environment === 'production')).toBe(true)
  })
})
