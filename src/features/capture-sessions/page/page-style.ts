/** The style sheet of the hosted page: one file for light and dark, for widths from 320 px. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --accent: light-dark(#0b57d0, #a8c7fa); --on-accent: light-dark(#fff, #062e6f); --paper: light-dark(#fff, #1f2023); --ground: light-dark(#eef1f6, #131416); --ink: light-dark(#1b1c1f, #e6e7ea); --quiet: light-dark(#4a4d55, #b6b9c2) }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; min-block-size: 100vh; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-inline-size: 40rem; margin-inline: auto; padding: 1.5rem; background: var(--paper); min-block-size: 100vh }
@media (min-width: 44rem) { main { margin-block: 2rem; min-block-size: 0; border-radius: 1rem } }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25 }
[tabindex="-1"]:focus { outline: none }
p { margin-block: .75rem; text-wrap: pretty }
h1, .description, #outcome { text-wrap: balance }
:lang(ja) { word-break: auto-phrase; line-break: strict }
.logo { display: block; max-inline-size: 100%; block-size: auto; margin-block-end: .5rem }
/* A dark logo stays visible on the dark page. */
@media (prefers-color-scheme: dark) { .logo { padding: .375rem .5rem; border-radius: .5rem; background: #fff } }
.company { margin: 0 0 .25rem; color: var(--quiet); font-weight: 600 }
.sandbox { margin: 0 0 1rem; padding: .5rem .75rem; border: 2px dashed light-dark(#8a5300, #ffb95c); border-radius: .5rem }
.description { position: sticky; inset-block-start: 0; z-index: 1; margin-block: .5rem 1rem; padding: .5rem 1rem; border-inline-start: 4px solid var(--accent); background: var(--paper); font-size: 1.125rem; font-weight: 600 }
.action { position: sticky; inset-block-start: 0; z-index: 1; margin-block: .5rem 1rem; padding: .5rem 1rem; border-inline-start: 4px solid var(--accent); background: var(--paper); max-block-size: 60vh; overflow-y: auto }
.action h2 { margin: 0 0 .25rem; font-size: 1.125rem }
.action dl { margin: 0 }
.action div { display: flex; flex-wrap: wrap; column-gap: .75rem; padding-block: .125rem }
.action dt { flex: 0 0 auto; min-inline-size: 9rem; color: var(--quiet) }
.action dd { flex: 1 1 12rem; margin: 0; font-weight: 600; white-space: pre-wrap }
.note { margin: 0; padding: .125rem .5rem; border: 2px solid light-dark(#8a5300, #ffb95c); border-radius: .25rem; font-weight: normal }
.company-note { color: var(--quiet) }
/* While the camera is on, both need room: a long list scrolls inside its box. */
main:has(#capture:not([hidden])) .action { max-block-size: 12rem }
main:has(#capture:not([hidden])) .company-note { display: none }
.asks { display: block; color: var(--quiet); font-size: 1rem; font-weight: normal }
/* On a small screen, the camera and the text that is confirmed get all the room. */
@media (max-width: 30rem) { main:has(#capture:not([hidden])) { padding-block: .75rem } main:has(#capture:not([hidden])) :is(h1, .asks, .sandbox) { font-size: .9rem; margin-block: .25rem } }
countersign-capture::part(video) { max-block-size: min(70vh, calc(100vh - 16rem)); min-block-size: 12rem }
.busy::before { content: ""; display: block; inline-size: 2.5rem; block-size: 2.5rem; margin-block-end: .75rem; border: 4px solid color-mix(in srgb, currentcolor 25%, transparent); border-block-start-color: var(--accent); border-radius: 50% }
@media (prefers-reduced-motion: no-preference) { .busy::before { animation: turn 1s linear infinite } @keyframes turn { to { rotate: 1turn } } }
[aria-busy=true] button { cursor: progress }
.link { font-family: ui-monospace, monospace }
.consent { color: var(--quiet) }
.message { padding: .75rem; border: 2px solid light-dark(#b3261e, #f2b8b5); border-radius: .5rem }
.message:empty { display: none }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-block: 1.25rem 0 }
input { inline-size: 12rem; max-inline-size: 100%; min-block-size: 2.75rem; padding: .25rem .75rem; border: 2px solid var(--quiet); border-radius: .5rem; background: transparent; color: inherit; font: inherit; font-size: 1.25rem; letter-spacing: .15em }
button, .button { min-block-size: 2.75rem; max-inline-size: 100%; padding: .5rem 1.25rem; border: 2px solid var(--accent); border-radius: 1.5rem; background: transparent; color: inherit; font: inherit; text-decoration: none; cursor: pointer }
.primary { background: var(--accent); color: var(--on-accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
main .number { font-size: 2.5rem; font-weight: 600; letter-spacing: .15em; font-variant-numeric: tabular-nums }
.code { display: block; inline-size: min(16rem, 100%); margin: 1rem auto; border: 1rem solid #fff; border-radius: .5rem; background: #fff }
`
