/** The style of the component, as a constructed style sheet: a content security policy without `unsafe-inline` allows it. */

const CSS = `
:host { display: block; position: relative; max-inline-size: 40rem; color: inherit; font: inherit; --_accent: var(--countersign-accent, light-dark(#0b57d0, #a8c7fa)); --_on-accent: var(--countersign-on-accent, light-dark(#fff, #062e6f)) }
:host([hidden]), [hidden] { display: none !important }
[part=action] { max-block-size: 12rem; padding-inline: 1rem; border-inline-start: 4px solid; overflow: auto }
dl, dd { margin: 0 0 .25rem }
dd { font-weight: 600; white-space: pre-wrap }
dd p { border: 2px solid; font-weight: 400 }
[part=stage] { container-type: inline-size; position: relative; overflow: hidden; border-radius: .75rem; background: #000 }
:host(:lang(ja)) { word-break: auto-phrase; line-break: strict }
p { text-wrap: pretty }
video { display: block; inline-size: 100%; max-block-size: 70vh; object-fit: contain }
video.mirrored { transform: scaleX(-1) }
[part=oval] { position: absolute; inset-block-start: 8%; left: 50%; translate: -50%; box-sizing: border-box; block-size: 84%; aspect-ratio: 3 / 4; border: 3px solid #fff; border-radius: 50%; box-shadow: 0 0 0 200vmax rgb(0 0 0 / .45); pointer-events: none }
[part=oval].amiss { border-style: dashed; border-color: #ffd54a }
[part=oval].good { border-width: 5px; border-color: #7ee2a8 }
[part=hint] { position: absolute; inset-inline: .5rem; inset-block-end: .5rem; inline-size: fit-content; margin: 0 auto; padding: .4rem .9rem; border-radius: 1.25rem; background: rgb(0 0 0 / .78); color: #fff; font-size: clamp(1.05rem, 5cqi, 1.6rem); font-weight: 600; line-height: 1.25; text-align: center; text-wrap: balance }
[part=hint].amiss { color: #ffe082 }
[part=hint].good { color: #a5f0c5 }
[part=hint].good::before { content: "✓ " / "" }
.heard, .unseen { position: absolute; inline-size: 1px; block-size: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
[part=consent] { display: flex; gap: .6rem; align-items: center; padding-block: .5rem; cursor: pointer }
[part=consent] input { flex: none; inline-size: 1.5rem; block-size: 1.5rem; margin: 0; accent-color: var(--_accent) }
[part=prompt]:not(.unseen) { min-block-size: 3em; margin-block: .75rem; font-size: 1.25rem; line-height: 1.3; text-align: center; text-wrap: balance }
[part=prompt].silent { min-block-size: 0; margin: 0 }
[part=arrow] { position: absolute; inline-size: clamp(5rem, 28cqi, 11rem); aspect-ratio: 1; pointer-events: none; filter: drop-shadow(0 0 2px #000) drop-shadow(0 0 .5rem rgb(0 0 0 / .8)) }
[part=arrow]::before { content: ""; position: absolute; inset: 0; background: #ffd54a; clip-path: polygon(0 34%, 50% 34%, 50% 6%, 100% 50%, 50% 94%, 50% 66%, 0 66%); rotate: var(--_turn) }
[part=arrow][data-to=right] { --_turn: 0deg; --_nudge: 10% 0 }
[part=arrow][data-to=left] { --_turn: 180deg; --_nudge: -10% 0 }
[part=arrow][data-to=up] { --_turn: -90deg; --_nudge: 0 -10% }
[part=arrow][data-to=down] { --_turn: 90deg; --_nudge: 0 10% }
[part=arrow]:is([data-edge=left], [data-edge=right]) { inset-block: 0; margin-block: auto; block-size: fit-content }
[part=arrow][data-edge=left] { left: 2% }
[part=arrow][data-edge=right] { right: 2% }
[part=arrow]:is([data-edge=up], [data-edge=down]) { inset-inline: 0; margin-inline: auto }
[part=arrow][data-edge=up] { inset-block-start: 2% }
[part=arrow][data-edge=down] { inset-block-end: 5rem }
[part=waiting] { margin-block: .75rem; font-size: 1.25rem; line-height: 1.3; text-align: center }
[part=waiting]::before { content: ""; display: block; inline-size: 2.5rem; block-size: 2.5rem; margin: 0 auto .75rem; border: 4px solid color-mix(in srgb, currentcolor 25%, transparent); border-block-start-color: var(--_accent); border-radius: 50% }
progress { display: block; inline-size: 100%; block-size: .5rem; accent-color: var(--_accent) }
[part=error] { margin-block: .75rem; padding: .75rem; border: 2px solid light-dark(#b3261e, #f2b8b5); border-radius: .5rem }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; justify-content: center; margin-block: .75rem }
button, select { min-block-size: 2.75rem; max-inline-size: 100%; padding: .5rem 1.25rem; border: 2px solid var(--_accent); border-radius: 1.5rem; font: inherit }
button { background: transparent; color: inherit; cursor: pointer }
button.primary { background: var(--_accent); color: var(--_on-accent) }
button.primary.early { background: transparent; color: inherit }
button:disabled { opacity: .55; cursor: default }
select { background: Field; color: FieldText }
:focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px }
@media (prefers-reduced-motion: no-preference) {
  [part=arrow]::before { animation: beckon .6s ease-in-out infinite alternate }
  @keyframes beckon { to { translate: var(--_nudge) } }
  [part=waiting]::before { animation: turn 1s linear infinite }
  @keyframes turn { to { rotate: 1turn } }
}
@media (forced-colors: active) { [part=oval], [part=arrow] { forced-color-adjust: none } }
`

let sheet: CSSStyleSheet | undefined

/** Returns the style sheet that all components of a page share. */
export function captureStyle(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(CSS)
  }
  return sheet
}
