/** The page with the settings by which a tenant uses passkeys: domain, pages, which passkeys count for what, and what a registration needs. */
import { useEffect, useState } from 'preact/hooks'
import { certificatesOf } from '../../../tenants/pem.js'
import type { InputOf, PasskeySettingsView, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, Choice, sending } from '../base/form.js'
import { lines } from '../base/lines.js'
import { Badge, Card, Confirm, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'

type Settings = NonNullable<InputOf<TenantRoutes['POST /passkeys']>['settings']>

/** The person's input and choices. */
interface Fields extends Pick<Settings, 'synced' | 'registration'> {
  domain: string
  origins: string
  recoveryHours: string
  roots: string
  aaguids: string
}

const SYNCED: ReadonlyArray<readonly [Settings['synced'], string]> = [
  ['swk', 'count as a key in software (swk)'],
  ['refused', 'are refused'],
]
const REGISTRATION: ReadonlyArray<readonly [Settings['registration'], string]> = [
  ['verified', 'needs a fresh verify with a check of liveness'],
  ['backend', 'needs only the API key'],
]

export function PasskeysPage({ tenantId }: { tenantId: string }) {
  const page = useData(tenantAddress(tenantId, 'GET /passkeys'))
  const mayChange = useRights().tenant('POST /passkeys')
  const [stored, setStored] = useState<PasskeySettingsView | null>(null)
  const [fields, setFields] = useState<Fields | null>(null)
  const [asking, setAsking] = useState<'off' | 'domain' | null>(null)
  const [isSaved, setSaved] = useState(false)
  const { problem, isBusy, run } = useAction()
  const show = (view: PasskeySettingsView) => {
    setStored(view)
    setFields(fieldsOf(view))
  }
  useEffect(() => {
    if (page.value) show(page.value)
  }, [page.value])
  if (!fields || !stored) return <Waiting data={page} />
  const change = (changes: Partial<Fields>) => {
    setSaved(false)
    setFields({ ...fields, ...changes })
  }
  const save = (settings: Settings | null) => {
    setSaved(false)
    void run(async () => {
      show(await callTenant(tenantId, 'POST /passkeys', { settings }))
      setSaved(true)
    })
  }
  const isOn = stored.rp_id !== null
  return (
    <Card
      title="Settings"
      hint={
        <>
          A passkey proves the device next to the face. The{' '}
          <a href="/docs/guides/passkeys">guide to passkeys</a> says what each setting decides.
        </>
      }
      actions={isOn ? <Badge tone="good">in use</Badge> : <Badge tone="plain">not in use</Badge>}
    >
      <form
        class="narrow"
        onSubmit={sending(() => {
          if (isOn && stored.rp_id !== fields.domain.trim()) setAsking('domain')
          else save(settingsOf(fields))
        })}
      >
        <label for="passkey-domain">Domain (relying party id)</label>
        <input
          id="passkey-domain"
          required
          maxLength={253}
          placeholder="bank.example"
          autocapitalize="off"
          spellcheck={false}
          readOnly={!mayChange}
          value={fields.domain}
          onInput={({ currentTarget }) => change({ domain: currentTarget.value })}
        />
        <p class="muted small">
          Passkeys belong to it. After a change of the domain, no registered one works.
        </p>
        <label for="passkey-origins">Origins of the pages, one a line</label>
        <textarea
          id="passkey-origins"
          rows={3}
          required
          placeholder="https://app.bank.example"
          readOnly={!mayChange}
          value={fields.origins}
          onInput={({ currentTarget }) => change({ origins: currentTarget.value })}
        />
        <p class="muted small">Each is the domain or below it.</p>
        <Choice
          id="passkey-synced"
          label="Passkeys that their provider copies to other devices"
          options={SYNCED}
          disabled={!mayChange}
          value={fields.synced}
          onChoose={(synced) => change({ synced })}
        />
        <Choice
          id="passkey-registration"
          label="A registration"
          options={REGISTRATION}
          disabled={!mayChange}
          value={fields.registration}
          onChoose={(registration) => change({ registration })}
        />
        <label for="passkey-recovery">Hours that the recovery of a lost passkey waits</label>
        <input
          id="passkey-recovery"
          type="number"
          required
          min={1}
          max={720}
          readOnly={!mayChange}
          value={fields.recoveryHours}
          onInput={({ currentTarget }) => change({ recoveryHours: currentTarget.value })}
        />
        <label for="passkey-roots">Certificates (PEM) of the authorities whose attestation counts</label>
        <textarea
          id="passkey-roots"
          rows={3}
          spellcheck={false}
          readOnly={!mayChange}
          value={fields.roots}
          onInput={({ currentTarget }) => change({ roots: currentTarget.value })}
        />
        <p class="muted small">
          Only a passkey that one of them attests counts as a key in hardware (hwk). Without any, all count as
          swk.
        </p>
        <label for="passkey-aaguids">Authenticators by AAGUID, one a line</label>
        <textarea
          id="passkey-aaguids"
          rows={2}
          readOnly={!mayChange}
          value={fields.aaguids}
          onInput={({ currentTarget }) => change({ aaguids: currentTarget.value })}
        />
        <p class="muted small">Leave empty to accept all. A list needs certificates.</p>
        <Problem message={problem} />
        <p role="status">{isSaved && 'Saved.'}</p>
        {mayChange && (
          <div class="toolbar">
            <Button text={isOn ? 'Save' : 'Turn on'} type="submit" class="primary" disabled={isBusy} />
            {isOn && (
              <Button text="Turn off…" class="danger" disabled={isBusy} onClick={() => setAsking('off')} />
            )}
          </div>
        )}
      </form>
      {asking && (
        <Confirm
          title={asking === 'off' ? 'Turn passkeys off?' : 'Change the domain?'}
          confirm={asking === 'off' ? 'Turn off' : 'Change'}
          isDanger
          onClose={() => setAsking(null)}
          onConfirm={() => save(asking === 'off' ? null : settingsOf(fields))}
        >
          <p>
            {asking === 'off'
              ? 'Every call with a passkey is refused from now on. Registered passkeys are kept.'
              : 'Passkeys that are registered belong to the old domain, and do not work any more. Every user must register a new one.'}
          </p>
        </Confirm>
      )}
    </Card>
  )
}

function fieldsOf({
  rp_id,
  origins,
  synced,
  registration,
  recovery_hours,
  roots,
  aaguids,
}: PasskeySettingsView): Fields {
  return {
    domain: rp_id ?? '',
    origins: origins.join('\n'),
    synced: synced ?? 'swk',
    registration: registration ?? 'verified',
    recoveryHours: String(recovery_hours ?? 24),
    roots: roots.join('\n'),
    aaguids: aaguids.join('\n'),
  }
}

function settingsOf({ domain, origins, recoveryHours, roots, aaguids, ...chosen }: Fields): Settings {
  return {
    rp_id: domain.trim(),
    origins: lines(origins),
    recovery_hours: Number(recoveryHours),
    roots: certificatesOf(roots),
    aaguids: lines(aaguids),
    ...chosen,
  }
}
