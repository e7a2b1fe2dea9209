/** The page with the settings by which a tenant uses passkeys: domain, pages, which passkeys count for what, and what a registration needs. */
import { useEffect, useState } from 'preact/hooks'
import { certificatesOf } from '../../../tenants/pem.js'
import type { InputOf, PasskeySettingsView, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Choice, Field, sending } from '../base/form.js'
import { lines } from '../base/lines.js'
import { Badge, Card, Problem, useQuestion, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'

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
  const [ask, dialog] = useQuestion()
  const { problem, isBusy, isDone, forget, run } = useAction()
  const show = (view: PasskeySettingsView) => {
    setStored(view)
    setFields(fieldsOf(view))
  }
  useEffect(() => {
    if (page.value) show(page.value)
  }, [page.value])
  if (!fields || !stored) return <Waiting data={page} />
  const change = (changes: Partial<Fields>) => {
    forget()
    setFields({ ...fields, ...changes })
  }
  const field = (name: 'domain' | 'origins' | 'recoveryHours' | 'roots' | 'aaguids') => ({
    value: fields[name],
    readOnly: !mayChange,
    onText: (text: string) => change({ [name]: text }),
  })
  const save = (settings: Settings | null) =>
    run(async () => show(await callTenant(tenantId, 'POST /passkeys', { settings })))
  const isOn = stored.rp_id !== null
  const turnOff = () =>
    ask({
      title: 'Turn passkeys off?',
      confirm: 'Turn off',
      isDanger: true,
      children: 'Every call with a passkey is refused from now on. Registered passkeys are kept.',
      onConfirm: () => save(null),
    })
  const submit = () => {
    if (!isOn || stored.rp_id === fields.domain.trim()) return save(settingsOf(fields))
    ask({
      title: 'Change the domain?',
      confirm: 'Change',
      isDanger: true,
      children:
        'Passkeys that are registered belong to the old domain, and do not work any more. Every user must register a new one.',
      onConfirm: () => save(settingsOf(fields)),
    })
  }
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
      <form class="narrow" onSubmit={sending(submit)}>
        <Field
          id="passkey-domain"
          label="Domain (relying party id)"
          hint="Passkeys belong to it. After a change of the domain, no registered one works."
          required
          maxLength={253}
          placeholder="bank.example"
          autocapitalize="off"
          spellcheck={false}
          {...field('domain')}
        />
        <Field
          id="passkey-origins"
          label="Origins of the pages, one a line"
          hint="Each is the domain or below it."
          rows={3}
          required
          placeholder="https://app.bank.example"
          {...field('origins')}
        />
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
        <Field
          id="passkey-recovery"
          label="Hours that the recovery of a lost passkey waits"
          type="number"
          required
          min={1}
          max={720}
          {...field('recoveryHours')}
        />
        <Field
          id="passkey-roots"
          label="Certificates (PEM) of the authorities whose attestation counts"
          hint="Only a passkey that one of them attests counts as a key in hardware (hwk). Without any, all count as swk."
          rows={3}
          spellcheck={false}
          {...field('roots')}
        />
        <Field
          id="passkey-aaguids"
          label="Authenticators by AAGUID, one a line"
          hint="Leave empty to accept all. A list needs certificates."
          rows={2}
          {...field('aaguids')}
        />
        <Problem message={problem} />
        <p role="status">{isDone && 'Saved.'}</p>
        {mayChange && (
          <div class="toolbar">
            <Button text={isOn ? 'Save' : 'Turn on'} type="submit" class="primary" disabled={isBusy} />
            {isOn && <Button text="Turn off…" class="danger" disabled={isBusy} onClick={turnOff} />}
          </div>
        )}
      </form>
      {dialog}
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
