/** Style of a report. Its colors (blue and orange) distinguish genuine and impostor for color-blind readers too. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1b1f24; --quiet: #57606a; --line: #d8dee4; --shade: #f6f8fa;
  --genuine: #1f6feb; --impostor: #d9730d; --accent: #a0147a;
  --kept: #116329; --kept-shade: #dafbe1; --open: #7d4e00; --open-shade: #fff4d1; --broken: #a40e26; --broken-shade: #ffe4e4;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #0f1318; --ink: #e6edf3; --quiet: #9aa5b1; --line: #30363d; --shade: #171c23;
    --genuine: #6cb2ff; --impostor: #ffa657; --accent: #ff8ad8;
    --kept: #7ee787; --kept-shade: #10301a; --open: #f2cc60; --open-shade: #332701; --broken: #ff9b9b; --broken-shade: #3b1216;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 60rem;
  background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; text-wrap: balance; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); break-after: avoid; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; break-after: avoid; }
p, ul { max-width: 46rem; margin: .5rem 0; }
li { margin: .3rem 0; }
.subtitle { color: var(--quiet); }
.verdict { margin: 1.25rem 0; padding: .8rem 1rem; max-width: none; border-left: 4px solid; border-radius: 4px; font-weight: 600; }
.verdict.kept { color: var(--kept); background: var(--kept-shade); }
.verdict.open { color: var(--open); background: var(--open-shade); }
.verdict.broken { color: var(--broken); background: var(--broken-shade); }
.key-figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem; margin: 1.5rem 0 0; }
.key-figures div { padding: .9rem 1rem; border: 1px solid var(--line); border-radius: 6px; break-inside: avoid; }
.key-figures dt { color: var(--quiet); font-size: .875rem; }
.key-figures dd { margin: 0; }
.key-figures strong { display: block; font-size: 1.6rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
.key-figures span { color: var(--quiet); font-size: .8125rem; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .35rem; }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
thead th { color: var(--quiet); font-weight: 600; vertical-align: bottom; }
th:first-child { text-align: left; font-weight: 500; }
.table:not(.facts) td { white-space: nowrap; }
.facts td { text-align: left; overflow-wrap: anywhere; }
.facts th { width: 18rem; color: var(--quiet); }
tr { break-inside: avoid; }
figure { margin: 1rem 0; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; }
.legend { display: flex; gap: 1.25rem; font-size: .875rem; }
.legend span::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em; border-radius: 2px; background: currentColor; }
.legend .genuine { color: var(--genuine); }
.legend .impostor { color: var(--impostor); }
.pairs { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem; }
.pair { margin: 0; font-size: .75rem; overflow-wrap: anywhere; }
.pair img { width: 50%; aspect-ratio: 1; object-fit: cover; }
@media print {
  @page { margin: 18mm 15mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2 { margin-top: 1.5rem; }
  .key-figures { grid-template-columns: repeat(4, 1fr); }
  section:has(> figure), .table { break-inside: avoid; }
  .table { overflow: visible; }
  .verdict, .legend span::before { print-color-adjust: exact; }
  .facts th { width: 14rem; }
  table { font-size: 8.5pt; }
  th, td { padding-right: .5rem; }
}
`
