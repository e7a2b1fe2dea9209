/** How the component looks. A constructed sheet, which a content security policy without `unsafe-inline` allows. */

const CSS = `
:host { display: block; position: relative; max-inline-size: 40rem; color: inherit; font: inherit; --_accent: var(--countersign-accent, light-dark(#0b57d0, #a8c7fa)); --_on-accent: var(--countersign-on-accent, light-dark(#fff, #062e6f)) }
:host([hidden]), [hidden] { display: none !important }
[part=stage] { container-type: inline-size; position: relative; overflow: hidden; border-radius: .75rem; background: #000 }
video { display: block; inline-size: 100%; max-block-size: 70vh; object-fit: contain }
video.mirrored { transform: scaleX(-1) }
[part=oval] { position: absolute; inset-block-start: 8%; left: 50%; translate: -50%; box-sizing: border-box; block-size: 84%; aspect-ratio: 3 / 4; border: 3px solid #fff; border-radius: 50%; box-shadow: 0 0 0 200vmax rgb(0 0 0 / .45); pointer-events: none }
[part=oval].amiss { border-style: dashed; border-color: #ffd54a }
[part=oval].good { border-width: 5px; border-color: #7ee2a8 }
[part=hint] { position: absolute; inset-inline: .5rem; inset-block-end: .5rem; inline-size: fit-content; margin: 0 auto; padding: .4rem .9rem; border-radius: 1.25rem; background: rgb(0 0 0 / .78); color: #fff; font-size: clamp(.95rem, 4.2cqi, 1.25rem); line-height: 1.25; text-align: center; text-wrap: balance }
[part=hint].amiss { color: #ffe082 }
[part=hint].good { color: #a5f0c5 }
[part=hint].good::before { content: "✓ " / "" }
.heard { position: absolute; inline-size: 1px; block-size: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
[part=consent] { display: flex; gap: .6rem; align-items: center; padding-block: .5rem; cursor: pointer }
[part=consent] input { flex: none; inline-size: 1.5rem; block-size: 1.5rem; margin: 0; accent-color: var(--_accent) }
[part=prompt] { min-block-size: 3em; margin-block: .75rem; font-size: 1.25rem; line-height: 1.3; text-align: center }
[part=prompt].silent { min-block-size: 0; margin: 0 }
.arrow:empty { display: none }
.arrow { display: inline-block; margin-inline-end: .5rem; font-size: 1.5em; line-height: 1; font-weight: bold }
progress { display: block; inline-size: 100%; block-size: .5rem; accent-color: var(--_accent) }
[part=error] { margin-block: .75rem; padding: .75rem; border: 2px solid light-dark(#b3261e, #f2b8b5); border-radius: .5rem }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; justify-content: center; margin-block: .75rem }
button, select { min-block-size: 2.75rem; max-inline-size: 100%; padding: .5rem 1.25rem; border: 2px solid var(--_accent); border-radius: 1.5rem; font: inherit }
button { background: transparent; color: inherit; cursor: pointer }
button.primary { background: var(--_accent); color: var(--_on-accent) }
button.primary.early { background: transparent; color: var(--_accent) }
button:disabled { opacity: .55; cursor: default }
select { background: Field; color: FieldText }
:focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px }
@media (prefers-reduced-motion: no-preference) {
  .arrow:not(:empty) { animation: beckon .8s ease-in-out infinite alternate }
  @keyframes beckon { from { opacity: .5 } to { opacity: 1 } }
}
@media (forced-colors: active) { [part=oval] { forced-color-adjust: none } }
`

let sheet: CSSStyleSheet | undefined

/** One for all components of a page. */
export function captureStyle(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(CSS)
  }
  return sheet
}
