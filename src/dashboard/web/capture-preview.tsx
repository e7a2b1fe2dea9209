/** The first step of the hosted capture page, as it looks with the settings that are being typed: once light, once dark. */
import { useState } from 'preact/hooks'
import { type Theme, themeColors } from '../../tenants/accent-color.js'
import { hexOf } from './capture-brand-fields.js'

/** Pixels of the stored picture are twice as dense as those of the page. */
const MAX_STORED = { width: 480, height: 128 }

export interface PreviewProps {
  company: string
  color: string
  logo: string | null
  consent: string
  returnOrigins: string[]
}

export function CapturePreview(props: PreviewProps) {
  return (
    <div class="capture-previews">
      <Step {...props} theme="light" />
      <Step {...props} theme="dark" />
    </div>
  )
}

function Step({ theme, company, color, logo, consent, returnOrigins }: PreviewProps & { theme: Theme }) {
  const hex = hexOf(color)
  const chosen = hex && themeColors(hex)[theme]
  // Without a color of the tenant, the style sheet has the page's own.
  const style = chosen ? { '--accent': chosen.accent, '--on-accent': chosen.onAccent } : {}
  return (
    <section class={`capture-preview ${theme}`} aria-label={`Preview, ${theme}`} style={style}>
      {logo && <Logo key={logo} url={logo} />}
      <p class="quiet company">{company}</p>
      <h3>Confirm that it is you</h3>
      {consent === '' ? (
        <p class="quiet">The page's own text stands here, with the name {company}.</p>
      ) : (
        consent.split(/\n\s*\n/).map((paragraph) => <p key={paragraph}>{paragraph}</p>)
      )}
      {/* They show the color and do nothing. */}
      <p class="sample" aria-hidden="true">
        <span class="filled">Agree and continue</span>
        <span>Cancel</span>
      </p>
      <p class="quiet small">Leads back to {returnOrigins.join(', ') || 'nowhere: add a return origin'}.</p>
    </section>
  )
}

/** Shown as large as the page shows it, once the service has made it smaller. */
function Logo({ url }: { url: string }) {
  const [width, setWidth] = useState<number | null>(null)
  return (
    <img
      class="logo"
      src={url}
      alt="Logo"
      hidden={width === null}
      width={width ?? 0}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
        const { width: mostWidth, height: mostHeight } = MAX_STORED
        const scale = Math.min(1, mostWidth / naturalWidth, mostHeight / naturalHeight)
        setWidth(Math.ceil(Math.round(naturalWidth * scale) / 2))
      }}
    />
  )
}
