/** The page with a tenant's settings of the hosted capture page: name, brand, origins and consent, with a preview. */
import { useEffect, useState } from 'preact/hooks'
import type { CapturePageView, InputOf, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Field, lines, sending } from '../base/form.js'
import { Card, Problem, Waiting } from '../base/parts.js'
import { base64Of } from '../base/photo.js'
import { useRights } from '../base/session.js'
import { BrandFields } from '../cards/capture-brand-fields.js'
import { CapturePreview } from '../cards/capture-preview.js'

interface Fields {
  company: string
  color: string
  /** Address of the picture (`data:`), or null for none. */
  logo: string | null
  returnOrigins: string
  frameAncestors: string
  consentVersion: string
  consentText: string
}

export function CapturePage({ tenantId }: { tenantId: string }) {
  const page = useData(tenantAddress(tenantId, 'GET /capture-page'))
  const mayAct = useRights().tenant('POST /capture-page')
  const [fields, setFields] = useState<Fields | null>(null)
  const { problem, isBusy, isDone, forget, run } = useAction()
  const [storedLogo, setStoredLogo] = useState<string | null>(null)
  const show = (view: CapturePageView) => {
    const shown = fieldsOf(view)
    setFields(shown)
    setStoredLogo(shown.logo)
  }
  useEffect(() => {
    if (page.value) show(page.value)
  }, [page.value])
  const submit = () =>
    run(async () => show(await callTenant(tenantId, 'POST /capture-page', settingsOf(fields!, storedLogo))))
  if (!fields || !page.value) return <Waiting data={page} />
  const change = (changes: Partial<Fields>) => {
    forget()
    setFields({ ...fields, ...changes })
  }
  const field = (name: Exclude<keyof Fields, 'logo'>) => ({
    value: fields[name],
    readOnly: !mayAct,
    onText: (text: string) => change({ [name]: text }),
  })
  return (
    <div class="grid">
      <Card
        title="Settings"
        hint="Your application sends people to this page to look into the camera. The API and the command line call it a capture session."
      >
        <form onSubmit={sending(submit)}>
          <Field
            id="capture-company"
            label="Company"
            hint="People see this name. Leave empty for the tenant's name."
            type="text"
            maxLength={80}
            placeholder={page.value.tenant_name}
            {...field('company')}
          />
          <BrandFields color={fields.color} logo={fields.logo} isReadOnly={!mayAct} onChange={change} />
          <Field
            id="capture-return"
            label="Return origins, one a line"
            hint="The page may lead back only to these. Without one, no capture session can be made."
            rows={3}
            placeholder="https://shop.example.com"
            {...field('returnOrigins')}
          />
          <Field
            id="capture-frame"
            label="Frame ancestors, one a line"
            hint="Pages of these origins may show it in a frame. Leave empty for none."
            rows={2}
            {...field('frameAncestors')}
          />
          <Field
            id="capture-consent"
            label="Consent text"
            hint="Leave empty for the page's own text, in the person's language."
            rows={8}
            maxLength={4000}
            {...field('consentText')}
          />
          <Field
            id="capture-version"
            label="Version of the consent text"
            type="text"
            maxLength={64}
            required={fields.consentText.trim() !== ''}
            placeholder="2026-11"
            {...field('consentVersion')}
          />
          <Problem message={problem} />
          <p role="status">{isDone && 'Saved. New sessions show it.'}</p>
          {mayAct && (
            <div class="toolbar">
              <Button text="Save" type="submit" class="primary" disabled={isBusy} />
            </div>
          )}
        </form>
      </Card>
      <Card title="Preview" hint="The first step, as a person reads it in English.">
        <CapturePreview
          company={fields.company.trim() || page.value.tenant_name}
          color={fields.color.trim().toLowerCase()}
          logo={fields.logo}
          consent={fields.consentText.trim()}
          returnOrigins={lines(fields.returnOrigins)}
        />
      </Card>
    </div>
  )
}

function fieldsOf(view: CapturePageView): Fields {
  const { company, color, logo, return_origins, frame_ancestors, consent } = view
  return {
    company: company ?? '',
    color: color ?? '',
    logo: logo && `data:image/png;base64,${logo}`,
    returnOrigins: return_origins.join('\n'),
    frameAncestors: frame_ancestors.join('\n'),
    consentVersion: consent?.version ?? '',
    consentText: consent?.text ?? '',
  }
}

function settingsOf(fields: Fields, storedLogo: string | null): InputOf<TenantRoutes['POST /capture-page']> {
  const [company, text, version] = [fields.company, fields.consentText, fields.consentVersion].map((one) =>
    one.trim(),
  )
  return {
    company: company || null,
    return_origins: lines(fields.returnOrigins),
    frame_ancestors: lines(fields.frameAncestors),
    consent: text ? { version: version!, text } : null,
    color: fields.color.trim().toLowerCase() || null,
    ...(fields.logo === storedLogo ? {} : { logo: fields.logo && base64Of(fields.logo) }),
  }
}
