/** The fields for the name, scopes and networks of another API key. */
import { SCOPE_MEANINGS, SCOPES } from '../../../tenants/key-scopes.js'
import type { InputOf, TenantRoutes } from '../../contract.js'
import { Checks, Choice, Field, type Given, NAME } from '../base/form.js'

export function NewKeyFields({ hasProduction }: { hasProduction: boolean }) {
  return (
    <>
      <Choice
        id="key-environment"
        label="Environment"
        options={hasProduction ? ['production', 'sandbox'] : ['sandbox']}
      />
      <Field id="key-name" {...NAME} maxLength={64} placeholder="payments" />
      <Checks
        name="key-scopes"
        legend="The key may"
        options={SCOPES.map((scope) => [
          scope,
          <>
            <strong>{scope}</strong> <span class="muted small">{SCOPE_MEANINGS[scope]}</span>
          </>,
        ])}
        initial={['verify']}
      />
      <Field
        id="key-networks"
        label="Networks it may be used from"
        placeholder="any, or such as 10.0.0.0/8, 2001:db8::/32"
      />
      <Field
        id="key-certificate"
        label="Client certificate it needs"
        placeholder="none, or SHA-256 fingerprint, or CN=payments"
      />
    </>
  )
}

export function givenKey(given: Given): InputOf<TenantRoutes['POST /keys']> {
  const networks = given
    .text('key-networks')
    .split(/[\s,]+/)
    .filter(Boolean)
  return {
    type: given.text('key-environment'),
    name: given.text('key-name'),
    scopes: given.checked('key-scopes'),
    networks: networks.length > 0 ? networks : null,
    certificate: given.text('key-certificate') || null,
  }
}
