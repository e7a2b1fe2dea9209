/** The page of a tenant's applications at the OpenID provider: their addresses, and the secret of a new one, which is shown only once. */
import { useState } from 'preact/hooks'
import type { Environment, OpenIdClientView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice, Field, type Given, NAME } from '../base/form.js'
import { AddCard, Card, Empty, useActions, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'

const PROFILES = [
  ['generic', 'any OpenID Connect'],
  ['okta', 'Okta'],
] as const
const DEFAULT_ACR = 'urn:countersign:acr:face-active'

export function OpenIdClientsPage({ tenantId }: { tenantId: string }) {
  const may = useRights().tenant
  const list = useData(tenantAddress(tenantId, 'GET /openid-clients'))
  const [secret, setSecret] = useState<Revealed | null>(null)
  const { ask, feedback } = useActions(list.reload, list)
  if (!list.value) return <Waiting data={list} />
  const { clients, has_production } = list.value
  const remove = ({ client_id, name }: OpenIdClientView) =>
    ask({
      title: 'Remove this application?',
      confirm: 'Remove',
      isDanger: true,
      children: (
        <p>
          Requests of <strong>{name}</strong> are refused from now on, and its API key is revoked.
        </p>
      ),
      act: () => callTenant(tenantId, 'POST /openid-clients/remove', { client: client_id }),
    })
  const add = async (given: Given) => {
    const { client, client_secret } = await callTenant(tenantId, 'POST /openid-clients', {
      environment: given.text<Environment>('environment'),
      name: given.text('name'),
      profile: given.text<'generic' | 'okta'>('profile'),
      redirect_uris: given.text('redirects').split(/\s+/).filter(Boolean),
      acr: given.text('acr'),
      help_url: given.text('help') || null,
    })
    setSecret({
      label: `Client secret of ${client.name}`,
      value: client_secret,
      hint: 'Put it into the secret store of the application.',
      details: [['Client id', client.client_id]],
    })
    list.reload()
  }
  return (
    <>
      {feedback}
      {secret && <Reveal {...secret} onDone={() => setSecret(null)} />}
      <Card title="Applications" hint="They ask the OpenID provider for a verdict, instead of the API.">
        <Table
          label="Applications"
          rows={clients}
          keyOf={({ client_id }) => client_id}
          columns={[
            { name: 'Name', isText: true, cell: ({ name }) => name },
            { name: 'Client id', isText: true, cell: ({ client_id }) => <code>{client_id}</code> },
            { name: 'Environment', cell: ({ environment }) => environment },
            { name: 'Profile', cell: ({ profile }) => profile },
            { name: 'Added', cell: ({ created_at }) => <Time at={created_at} day /> },
          ]}
          actions={(client) =>
            may('POST /openid-clients/remove') && (
              <Button text="Remove" about={client.name} class="danger" onClick={() => remove(client)} />
            )
          }
          below={(client) => <Settings client={client} />}
          empty={
            <Empty title="No applications yet">
              The <a href="/docs/guides/openid">guide to the OpenID provider</a> says how an application asks.
            </Empty>
          }
        />
      </Card>
      {may('POST /openid-clients') && (
        <AddCard
          title="New application"
          hint="Redirect addresses are compared character by character. They must begin with https; http is allowed only for localhost."
          add={add}
        >
          <div class="fields">
            <Field id="name" {...NAME} maxLength={48} placeholder="portal" />
            <Choice
              id="environment"
              label="Environment"
              options={has_production ? ['production', 'sandbox'] : ['sandbox']}
            />
            <Choice id="profile" label="Profile" options={PROFILES} />
            <Field
              id="redirects"
              class="twice"
              label="Redirect addresses, one a line"
              required
              rows={2}
              placeholder="https://app.example.com/callback"
            />
            <Field
              id="acr"
              class="twice"
              label="Least acr of an approval"
              required
              maxLength={128}
              defaultValue={DEFAULT_ACR}
            />
            <Field
              id="help"
              class="twice"
              label="Help page for people who are not confirmed"
              type="url"
              maxLength={2048}
              placeholder="none"
            />
          </div>
        </AddCard>
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
