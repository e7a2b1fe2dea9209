/** The routes of model packs: what is loaded, which pack decides for each tenant, and the change from one pack to another. */
import { type ModelPack, thresholdForFmr } from '../../../models/pack/model-pack.js'
import { gradeOf } from '../../../models/pack/pack-grade.js'
import { ModelOperationError } from '../../admin/model-operations.js'
import { migrationView, progressView } from '../../admin/model-views.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'
import { decidingModel } from '../../tenants/tenant-models.js'
import * as bodies from '../bodies.js'
import type { LoadedPackView, ModelsView, MovedDecisions, OwnRateView, TenantModelView } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import { invalidInput } from '../lib/invalid-input.js'
import type { OperatorCall, OperatorTable } from './route.js'

export const MODEL_ROUTES = {
  'GET /models': {
    async answer({ services }): Promise<ModelsView> {
      const { engine, core, config } = services
      const change = await core.store.read.modelMigration()
      return {
        packs: [...engine.packs.values()].map((pack) => packView(pack, config.fmr)),
        migration: change ? migrationView(change) : null,
        tenants: await (change ? progressOf(services) : decisionsOf(services)),
      }
    },
  },

  'POST /models/begin': {
    body: bodies.modelChange,
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
      if (problem) throw invalidInput('strict_fmr', problem)
      const given = { from, to: input.to, strictFmr: input.strict_fmr, ...conditionsOf(input) }
      return migrationView(await core.operations.models.begin(actor, given))
    },
  },

  'POST /models/plan': {
    body: bodies.modelPlan,
    answer: async ({ services, actor, input }) =>
      migrationView(await services.core.operations.models.setConditions(actor, conditionsOf(input))),
  },

  'POST /models/decide': {
    body: bodies.modelDecision,
    answer: (call) => decide(call, 'to'),
  },

  'POST /models/back': {
    body: bodies.modelDecision,
    answer: (call) => decide(call, 'from'),
  },

  'POST /models/finish': {
    body: bodies.modelFinish,
    answer: async ({ services, actor, input }) =>
      migrationView(await services.core.operations.models.finish(actor, input.dropping)),
  },
} satisfies Partial<OperatorTable>

async function decide(
  { services, actor, input }: OperatorCall<{ body: typeof bodies.modelDecision }>,
  by: 'from' | 'to',
): Promise<MovedDecisions> {
  const { operations, tenancy } = services.core
  const tenant = input.tenant === null ? null : await tenancy.findLive(input.tenant)
  const moved = await operations.models.decide(tenant, actor, by, { isForced: input.force })
  return { moved: moved.map(({ name }) => name) }
}

/** @throws DomainError invalid_request */
function conditionsOf(input: { at_coverage: number | null; at_date: string | null }) {
  const atTime = input.at_date === null ? null : Date.parse(input.at_date)
  if (Number.isNaN(atTime)) throw invalidInput('at_date', 'must be a time by ISO 8601')
  return { atCoverage: input.at_coverage, atTime }
}

async function progressOf({ core, engine }: DashboardServices): Promise<TenantModelView[]> {
  const { tenants } = await core.operations.models.status()
  return tenants.map((one) => {
    const { tenant_id, name, deciding, ...progress } = progressView(one)
    return { tenant_id, name, deciding: deciding ?? engine.pack.modelId, progress }
  })
}

async function decisionsOf({ core, engine }: DashboardServices): Promise<TenantModelView[]> {
  const live = (await core.store.read.tenants()).filter(({ deletedAt }) => deletedAt === null)
  return live.map((tenant) => ({
    tenant_id: tenant.id,
    name: tenant.name,
    deciding: decidingModel(tenant, engine.pack.modelId, engine.packs),
    progress: null,
  }))
}

function packView(pack: ModelPack, configuredFmr: number): LoadedPackView {
  const { fmr, threshold } = thresholdForFmr(pack, configuredFmr)
  return {
    model: pack.modelId,
    description: pack.manifest.description,
    grade: gradeOf(pack, configuredFmr).grade,
    fmr_in_force: fmr,
    threshold,
    own_rate: ownRate(pack),
  }
}

function ownRate({ calibration }: ModelPack): OwnRateView | null {
  if (calibration?.source !== 'users') return null
  const { date, data, points } = calibration
  return {
    date,
    people: data.people,
    pairs: data.impostor_pairs,
    likely_duplicates: data.likely_duplicates ?? 0,
    points: points.map(({ fmr, threshold, fmr_ci95: interval, basis }) => ({
      fmr,
      threshold,
      interval,
      basis: basis ?? 'measured',
    })),
  }
}
