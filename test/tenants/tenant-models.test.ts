/** Which model decides for a tenant, on a service that has loaded some models. */
import { expect, it } from 'vitest'
import { decidingModel, tenantModelsJson } from '../../src/tenants/tenant-models.js'

const loaded = new Set(['own@1', 'other@1'])
const decides = (deciding: string | null, following: string | null = null) => {
  const models = deciding && tenantModelsJson({ deciding, following, strictFmr: null })
  return decidingModel({ models }, 'own@1', loaded)
}

it('lets the service’s own model decide for a tenant that no change has moved', () => {
  expect(decides(null)).toBe('own@1')
})

it('lets the tenant’s model decide where it is loaded', () => {
  expect(decides('other@1')).toBe('other@1')
})

it('lets the service’s own model decide where the tenant’s is not loaded, but not during a change of the pack', () => {
  expect(decides('gone@1')).toBe('own@1')
  expect(decides('gone@1', 'own@1')).toBe('gone@1')
})
