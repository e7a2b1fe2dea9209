/** Reading and writing the versions of policies, which one is in force, and approvals that wait for a second person. */
import type { Environment } from '../../config/config.js'
import type { ApprovalRecord, PolicyVersionRecord } from '../records.js'

export interface PolicyReader {
  /** Hash of the policy in force; null for none, and for a tenant that does not exist. */
  policyHash(tenantId: string, environment: Environment): Promise<string | null>
  policyVersion(tenantId: string, hash: string): Promise<PolicyVersionRecord | undefined>
  /** Every version that was ever in force, the latest first. */
  policyVersions(tenantId: string): Promise<PolicyVersionRecord[]>
  approval(id: string): Promise<ApprovalRecord | undefined>
}

export interface PolicyWriter {
  /** Puts a policy in force. @param hash null for none */
  setPolicyHash(tenantId: string, environment: Environment, hash: string | null): Promise<void>
  /** Inserts the version unless it exists. */
  keepPolicyVersion(version: PolicyVersionRecord): Promise<void>
  insertApproval(approval: ApprovalRecord): Promise<void>
  /** Marks the approval as used. @returns whether it was unused before */
  useApproval(id: string, at: number): Promise<boolean>
}
