/** Makes the terms of a verdict out of the contract with the tenant and of the conditions that parts of the verify put on an approval. */
import type { Config } from '../config/config.js'
import type { TenantRecord } from '../storage/records.js'
import type { BiometricProvider } from './biometric-provider.js'
import { decidingProvider } from './references/deciding-model.js'
import type { VerdictTerms } from './verdict.js'

export function termsOf(
  { provider: anyProvider, config }: { provider: BiometricProvider; config: Pick<Config, 'fmr'> },
  tenant: TenantRecord,
  conditions: VerdictTerms['conditions'],
): VerdictTerms {
  const provider = decidingProvider(anyProvider, tenant)
  const point = provider.operatingPoint(strictestRate(tenant.fmr ?? config.fmr, conditions))
  return { model: provider.model, point, conditions }
}

/** The false match rate of the contract, or that of a condition where it is lower. */
export function strictestRate(contract: number, conditions: VerdictTerms['conditions']): number {
  return Math.min(contract, ...conditions.map((one) => one?.maxFmr ?? contract))
}
