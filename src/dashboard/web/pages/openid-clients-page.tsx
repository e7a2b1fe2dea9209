/** The page of a tenant's applications at the OpenID provider: their addresses, and the secret of a new one, which is shown only once. */
import { useState } from 'preact/hooks'
import type { Environment, OpenIdClientView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, Choice, sending } from '../base/form.js'
import { Card, Confirm, Empty, Problem, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'

const COLUMNS = [
  { name: 'Name', isText: true },
  { name: 'Client id', isText: true },
  { name: 'Environment' },
  { name: 'Profile' },
  { name: 'Added' },
  { name: 'Actions', isSilent: true },
]
const PROFILES = [
  ['generic', 'any OpenID Connect'],
  ['okta', 'Okta'],
] as const
const DEFAULT_ACR = 'urn:countersign:acr:face-active'

export function OpenIdClientsPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const list = useData(tenantAddress(tenantId, 'GET /openid-clients'))
  const [removing, setRemoving] = useState<OpenIdClientView | null>(null)
  const [secret, setSecret] = useState<Revealed | null>(null)
  const { problem, run } = useAction()
  if (!list.value) return <Waiting data={list} />
  const { clients, has_production } = list.value
  const remove = ({ client_id }: OpenIdClientView) =>
    run(async () => {
      await callTenant(tenantId, 'POST /openid-clients/remove', { client: client_id })
      list.reload()
    })
  return (
    <>
      <Problem message={problem ?? list.error} />
      {secret && <Reveal {...secret} onDone={() => setSecret(null)} />}
      <Card title="Applications" hint="They ask the OpenID provider for a verdict, instead of the API.">
        {clients.length === 0 ? (
          <Empty title="No applications yet">
            The <a href="/docs/guides/openid">guide to the OpenID provider</a> says how an application asks.
          </Empty>
        ) : (
          <Table
            label="Applications"
            columns={COLUMNS}
            rows={clients.map((client) => ({
              key: client.client_id,
              cells: [
                client.name,
                <code>{client.client_id}</code>,
                client.environment,
                client.profile,
                <Time at={client.created_at} day />,
                <span class="buttons">
                  {may('POST /openid-clients/remove') && (
                    <Button
                      text="Remove"
                      about={client.name}
                      class="danger"
                      onClick={() => setRemoving(client)}
                    />
                  )}
                </span>,
              ],
              below: <Settings client={client} />,
            }))}
          />
        )}
      </Card>
      {may('POST /openid-clients') && (
        <NewClientCard
          tenantId={tenantId}
          hasProduction={has_production}
          onCreated={(made) => {
            setSecret(made)
            list.reload()
          }}
        />
      )}
      {removing && (
        <Confirm
          title="Remove this application?"
          confirm="Remove"
          isDanger
          onClose={() => setRemoving(null)}
          onConfirm={() => remove(removing)}
        >
          <p>
            Requests of <strong>{removing.name}</strong> are refused from now on, and its API key is revoked.
          </p>
        </Confirm>
      )}
    </>
  )
}

function Settings({ client }: { client: OpenIdClientView }) {
  const { redirect_uris, acr, help_url, has_secret } = client
  return (
    <span class="small">
      {redirect_uris.length > 0 && (
        <>
          Leads back to{' '}
          {redirect_uris.map((uri) => (
            <>
              <code key={uri}>{uri}</code>{' '}
            </>
          ))}
          ·{' '}
        </>
      )}
      least acr <code>{acr}</code> · {has_secret ? 'has a secret' : 'signs with a key'}
      {help_url && (
        <>
          {' '}
          · help at <code>{help_url}</code>
        </>
      )}
    </span>
  )
}

function NewClientCard(props: {
  tenantId: string
  hasProduction: boolean
  onCreated: (secret: Revealed) => void
}) {
  const { problem, isBusy, run } = useAction()
  const create = (form: HTMLFormElement) =>
    run(async () => {
      const given = new FormData(form)
      const text = (name: string) => String(given.get(name) ?? '').trim()
      const { client, client_secret } = await callTenant(props.tenantId, 'POST /openid-clients', {
        environment: text('environment') as Environment,
        name: text('name'),
        profile: text('profile') as 'generic' | 'okta',
        redirect_uris: text('redirects').split(/\s+/).filter(Boolean),
        acr: text('acr'),
        help_url: text('help') || null,
      })
      form.reset()
      props.onCreated({
        label: `Client secret of ${client.name}`,
        value: client_secret,
        hint: 'Put it into the secret store of the application.',
        details: [['Client id', client.client_id]],
      })
    })
  return (
    <Card
      title="New application"
      hint="Redirect addresses are compared character by character. They must begin with https; http is allowed only for localhost."
    >
      <form onSubmit={sending(create)}>
        <div class="fields">
          <div>
            <label for="name">Name</label>
            <input
              id="name"
              name="name"
              required
              autocomplete="off"
              maxLength={48}
              pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
              placeholder="portal"
            />
          </div>
          <div>
            <Choice
              id="environment"
              name="environment"
              label="Environment"
              options={props.hasProduction ? ['production', 'sandbox'] : ['sandbox']}
            />
          </div>
          <div>
            <Choice id="profile" name="profile" label="Profile" options={PROFILES} />
          </div>
          <div class="twice">
            <label for="redirects">Redirect addresses, one a line</label>
            <textarea
              id="redirects"
              name="redirects"
              required
              rows={2}
              placeholder="https://app.example.com/callback"
            />
          </div>
          <div class="twice">
            <label for="acr">Least acr of an approval</label>
            <input id="acr" name="acr" required maxLength={128} defaultValue={DEFAULT_ACR} />
          </div>
          <div class="twice">
            <label for="help">Help page for people who are not confirmed</label>
            <input id="help" name="help" type="url" maxLength={2048} placeholder="none" />
          </div>
        </div>
        <Problem message={problem} />
        <Button text="Add" type="submit" class="primary" disabled={isBusy} />
      </form>
    </Card>
  )
}
