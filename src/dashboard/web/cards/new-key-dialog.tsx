/** The dialog that asks for the name, scopes and networks of another API key. */
import { useState } from 'preact/hooks'
import { SCOPE_MEANINGS, SCOPES, type Scope } from '../../../tenants/key-scopes.js'
import type { Environment, InputOf, TenantRoutes } from '../../contract.js'
import { Choice } from '../base/form.js'
import { Confirm } from '../base/parts.js'

export function NewKeyDialog(props: {
  /** Whether production keys can be created. */
  hasProduction: boolean
  onCreate: (key: InputOf<TenantRoutes['POST /keys']>) => void
  onClose: () => void
}) {
  const [type, setType] = useState<Environment>(props.hasProduction ? 'production' : 'sandbox')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<Scope[]>(['verify'])
  const [networks, setNetworks] = useState('')
  const [certificate, setCertificate] = useState('')
  const toggle = (scope: Scope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  const given = networks.split(/[\s,]+/).filter(Boolean)
  return (
    <Confirm
      title="New key with scopes"
      confirm="Create"
      onClose={props.onClose}
      onConfirm={() =>
        props.onCreate({
          type,
          name,
          scopes,
          networks: given.length > 0 ? given : null,
          certificate: certificate.trim() || null,
        })
      }
    >
      <Choice
        id="key-environment"
        label="Environment"
        options={props.hasProduction ? ['production', 'sandbox'] : ['sandbox']}
        value={type}
        onChoose={setType}
      />
      <label for="key-name">Name</label>
      <input
        id="key-name"
        required
        maxLength={64}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        placeholder="payments"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <fieldset class="choices">
        <legend>The key may</legend>
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />{' '}
            <strong>{scope}</strong> <span class="muted small">{SCOPE_MEANINGS[scope]}</span>
          </label>
        ))}
      </fieldset>
      <label for="key-networks">Networks it may be used from</label>
      <input
        id="key-networks"
        placeholder="any, or such as 10.0.0.0/8, 2001:db8::/32"
        value={networks}
        onInput={(event) => setNetworks(event.currentTarget.value)}
      />
      <label for="key-certificate">Client certificate it needs</label>
      <input
        id="key-certificate"
        placeholder="none, or SHA-256 fingerprint, or CN=payments"
        value={certificate}
        onInput={(event) => setCertificate(event.currentTarget.value)}
      />
    </Confirm>
  )
}
