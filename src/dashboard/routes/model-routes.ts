/** The routes of model packs: what is loaded, which pack decides for each tenant, and the change from one pack to another. */

import Type from 'typebox'
import { type ModelPack, thresholdForFmr } from '../../../models/pack/model-pack.js'
import { gradeOf } from '../../../models/pack/pack-grade.js'
import { ModelOperationError } from '../../admin/model-operations.js'
import { migrationView, progressView } from '../../admin/model-views.js'
import { nullable } from '../../api/schemas.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'
import { invalidField } from '../../lib/domain-error.js'
import { decidingModel } from '../../tenants/tenant-models.js'
import type { DashboardServices } from '../dashboard-services.js'
import { fmr, text } from '../lib/bodies.js'
import type { Taken } from '../lib/route.js'
import { type OperatorCall, operatorRoute } from './route.js'

/** When the decision moves automatically; null where only an operator moves it. */
const moveConditions = {
  /** Share of a tenant's users, over 0 and at most 1. */
  at_coverage: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  /** ISO 8601. */
  at_date: nullable(text(40)),
}
const modelDecision = {
  /** Id of the tenant; null for all. */
  tenant: nullable(text(64)),
  /** Moves it also where under 95 % of the users have a template. */
  force: Type.Boolean(),
}

export const MODEL_ROUTES = {
  'GET /models': operatorRoute({
    right: 'read',
    async answer({ services }) {
      const { engine, core, config } = services
      const change = await core.store.read.modelMigration()
      return {
        /** The service's own pack is the first. */
        packs: [...engine.packs.values()].map((pack) => packView(pack, config.fmr)),
        /** The change that is under way; null for none. */
        migration: change ? migrationView(change) : null,
        tenants: await (change ? progressOf(services) : decisionsOf(services)),
      }
    },
  }),

  'POST /models/begin': operatorRoute({
    right: 'admin',
    body: {
      /** Id of the model that is to decide in the end. */
      to: text(256),
      /** False match rate at which a capture must match; null for a tenth of the rate in force. */
      strict_fmr: nullable(fmr),
      ...moveConditions,
    },
    async answer({ services, actor, input }) {
      const { engine, core } = services
      const from = engine.pack.modelId
      if (input.to === from || !engine.packs.has(input.to))
        throw new ModelOperationError(
          'model_pack_not_served',
          `This service has not loaded ${input.to} as a pack that follows.`,
        )
      const problem =
        input.strict_fmr === null ? null : falseMatchRateProblem(input.strict_fmr, 'The strict rate')
      if (problem) throw invalidField('strict_fmr', problem)
      const given = { from, to: input.to, strictFmr: input.strict_fmr, ...conditionsOf(input) }
      return migrationView(await core.operations.models.begin(actor, given))
    },
  }),

  'POST /models/plan': operatorRoute({
    right: 'admin',
    body: moveConditions,
    answer: async ({ operations, actor, input }) =>
      migrationView(await operations.models.setConditions(actor, conditionsOf(input))),
  }),

  'POST /models/decide': operatorRoute({
    right: 'admin',
    body: modelDecision,
    answer: (call) => decide(call, 'to'),
  }),

  'POST /models/back': operatorRoute({
    right: 'admin',
    body: modelDecision,
    answer: (call) => decide(call, 'from'),
  }),

  /** Begins to delete the templates of one model. The service deletes them within two minutes. */
  'POST /models/finish': operatorRoute({
    right: 'admin',
    /** The id of the model whose templates are deleted. */
    body: { dropping: text(256) },
    answer: async ({ operations, actor, input }) =>
      migrationView(await operations.models.finish(actor, input.dropping)),
  }),
}

async function decide(
  { services, actor, input }: OperatorCall & Taken<typeof modelDecision, never>,
  by: 'from' | 'to',
) {
  const { operations, tenancy } = services.core
  const tenant = input.tenant === null ? null : await tenancy.findLive(input.tenant)
  const moved = await operations.models.decide(tenant, actor, by, { isForced: input.force })
  return { moved: moved.map(({ name }) => name) }
}

/** @throws DomainError invalid_request */
function conditionsOf(input: { at_coverage: number | null; at_date: string | null }) {
  const atTime = input.at_date === null ? null : Date.parse(input.at_date)
  if (Number.isNaN(atTime)) throw invalidField('at_date', 'must be a time by ISO 8601')
  return { atCoverage: input.at_coverage, atTime }
}

async function progressOf({ core, engine }: DashboardServices) {
  const { tenants } = await core.operations.models.status()
  return tenants.map((one) => {
    const { tenant_id, name, deciding, ...progress } = progressView(one)
    return { tenant_id, name, deciding: deciding ?? engine.pack.modelId, progress }
  })
}

async function decisionsOf({ core, engine }: DashboardServices) {
  const live = (await core.store.read.tenants()).filter(({ deletedAt }) => deletedAt === null)
  return live.map((tenant) => ({
    tenant_id: tenant.id,
    name: tenant.name,
    deciding: decidingModel(tenant, engine.pack.modelId, engine.packs),
    progress: null,
  }))
}

function packView(pack: ModelPack, configuredFmr: number) {
  const { fmr, threshold } = thresholdForFmr(pack, configuredFmr)
  return {
    model: pack.modelId,
    description: pack.manifest.description,
    grade: gradeOf(pack, configuredFmr).grade,
    /** False match rate and threshold that decide for a contract without a rate. */
    fmr_in_force: fmr,
    threshold,
    /** The rate between the installation's own users; null where nobody measured it. */
    own_rate: ownRate(pack),
  }
}

function ownRate({ calibration }: ModelPack) {
  if (calibration?.source !== 'users') return null
  const { date, data, points } = calibration
  return {
    /** Day of the measurement. */
    date,
    people: data.people,
    pairs: data.impostor_pairs,
    likely_duplicates: data.likely_duplicates ?? 0,
    points: points.map(({ fmr, threshold, fmr_ci95: interval, basis }) => ({
      fmr,
      threshold,
      /** Both ends of the 95 % interval of the rate at this threshold. */
      interval,
      basis: basis ?? 'measured',
    })),
  }
}
