/**
 * The page with a tenant's settings of the hosted capture page, and a preview: name, color, logo, return origins, frame ancestors and
 * consent.
 */
import { useEffect, useState } from 'preact/hooks'
import type { CapturePageView, InputOf, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, sending } from '../base/form.js'
import { lines } from '../base/lines.js'
import { Card, Problem, Waiting } from '../base/parts.js'
import { base64Of } from '../base/photo.js'
import { useRights } from '../base/session.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { BrandFields } from '../cards/capture-brand-fields.js'
import { CapturePreview } from '../cards/capture-preview.js'

/** The person's input and choices. */
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
  const [isSaved, setSaved] = useState(false)
  const { problem, isBusy, run } = useAction()
  const [storedLogo, setStoredLogo] = useState<string | null>(null)
  const show = (view: CapturePageView) => {
    const shown = fieldsOf(view)
    setFields(shown)
    setStoredLogo(shown.logo)
  }
  useEffect(() => {
    if (page.value) show(page.value)
  }, [page.value])
  const submit = () => {
    setSaved(false)
    void run(async () => {
      show(await callTenant(tenantId, 'POST /capture-page', settingsOf(fields!, storedLogo)))
      setSaved(true)
    })
  }
  if (!fields || !page.value) return <Waiting data={page} />
  const field = (name: Exclude<keyof Fields, 'logo'>) => ({
    value: fields[name],
    readOnly: !mayAct,
    onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      setSaved(false)
      setFields({ ...fields, [name]: event.currentTarget.value })
    },
  })
  return (
    <div class="grid">
      <Card
        title="Settings"
        hint="Your application sends people to this page to look into the camera. The API and the command line call it a capture session."
      >
        <form onSubmit={sending(submit)}>
          <label for="capture-company">Company</label>
          <input
            id="capture-company"
            type="text"
            maxLength={80}
            placeholder={page.value.tenant_name}
            aria-describedby="capture-company-hint"
            {...field('company')}
          />
          <p id="capture-company-hint" class="muted small">
            People see this name. Leave empty for the tenant's name.
          </p>
          <BrandFields
            color={fields.color}
            logo={fields.logo}
            isReadOnly={!mayAct}
            onChange={(change) => {
              setSaved(false)
              setFields({ ...fields, ...change })
            }}
          />
          <label for="capture-return">Return origins, one a line</label>
          <textarea
            id="capture-return"
            rows={3}
            placeholder="https://shop.example.com"
            aria-describedby="capture-return-hint"
            {...field('returnOrigins')}
          />
          <p id="capture-return-hint" class="muted small">
            The page may lead back only to these. Without one, no capture session can be made.
          </p>
          <label for="capture-frame">Frame ancestors, one a line</label>
          <textarea
            id="capture-frame"
            rows={2}
            aria-describedby="capture-frame-hint"
            {...field('frameAncestors')}
          />
          <p id="capture-frame-hint" class="muted small">
            Pages of these origins may show it in a frame. Leave empty for none.
          </p>
          <label for="capture-consent">Consent text</label>
          <textarea
            id="capture-consent"
            rows={8}
            maxLength={4000}
            aria-describedby="capture-consent-hint"
            {...field('consentText')}
          />
          <p id="capture-consent-hint" class="muted small">
            Leave empty for the page's own text, in the person's language.
          </p>
          <label for="capture-version">Version of the consent text</label>
          <input
            id="capture-version"
            type="text"
            maxLength={64}
            required={fields.consentText.trim() !== ''}
            placeholder="2026-11"
            {...field('consentVersion')}
          />
          <Problem message={problem} />
          <p role="status">{isSaved && 'Saved. New sessions show it.'}</p>
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
