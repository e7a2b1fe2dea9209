/** Tests of the model whose templates count for a tenant, as the providers of production and sandbox find it. */
import { expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.js'
import { tenantModelsJson } from '../../src/tenants/tenant-models.js'
import { comparedModel, decidingProvider } from '../../src/verification/references/deciding-model.js'
import { SandboxProvider } from '../../src/verification/sandbox/sandbox-provider.js'

const OWN = 'own@1'
const OTHER = 'other@1'
/** The models of a service that has loaded two packs. */
const provider = {
  model: OWN,
  forModel: (model: string) => ([OWN, OTHER].includes(model) ? ({ ...provider, model } as never) : null),
}
const sandbox = new SandboxProvider({} as never, {} as never, systemClock)
const tenant = (deciding: string, following: string | null) => ({
  models: tenantModelsJson({ deciding, following, strictFmr: null }),
})

it('compares with templates of the model that decides for the tenant', () => {
  expect(comparedModel(provider, { models: null })).toBe(OWN)
  expect(comparedModel(provider, tenant(OTHER, OWN))).toBe(OTHER)
  expect(decidingProvider(provider, tenant(OTHER, OWN)).model).toBe(OTHER)
})

it('compares with templates of the service’s own model where the tenant’s is not loaded, but refuses during a change', () => {
  expect(comparedModel(provider, tenant('gone@1', null))).toBe(OWN)
  expect(comparedModel(provider, tenant('gone@1', OWN))).toBe('gone@1')
  expect(() => decidingProvider(provider, tenant('gone@1', OWN))).toThrow(/has not loaded/)
})

it('compares with the sandbox’s own templates in the sandbox, even where a model is not loaded', () => {
  expect(comparedModel(sandbox, tenant('gone@1', OWN))).toBe(sandbox.model)
  expect(decidingProvider(sandbox, tenant('gone@1', OWN))).toBe(sandbox)
})
