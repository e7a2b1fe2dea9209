/** Most tests say of an answer that it is a refusal, or that it is signed. */
import { expect } from 'vitest'
import type { ApiResponse } from './client.js'
import type { TestTenant } from './service.js'
import { validSignatures } from './trust.js'

type Call = Promise<Pick<ApiResponse, 'status' | 'body'>>

/** The call ends with this status and this code. @param more of the body */
export async function expectRefusal(call: Call, status: number, code: string, more = {}): Promise<void> {
  const { status: given, body } = await call
  expect([given, body.code]).toEqual([status, code])
  expect(body).toMatchObject(more)
}

/** The request is invalid in this one field. */
export function expectInvalid(call: Call, path: string): Promise<void> {
  return expectRefusal(call, 400, 'invalid_request', { details: [{ path }] })
}

/** The answer is signed with the tenant's secret, and with no other. */
export function expectSigned(response: ApiResponse, { secret }: Pick<TestTenant, 'secret'>): void {
  expect(validSignatures(response, { [secret.id]: secret.secret })).toEqual([secret.id])
}

/** The call is refused with this code, by an error of the SDK or of the service. */
export async function expectCode(call: Promise<unknown>, code: string): Promise<void> {
  await expect(call).rejects.toMatchObject({ code })
}
