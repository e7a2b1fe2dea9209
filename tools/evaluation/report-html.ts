/** Writes a report as one self-contained page: for screens, light and dark, and for paper. */
import { escapeHtml } from '../../src/lib/escape-html.js'
import type { NotablePair } from './evaluation.js'
import type { ReportContent, ReportSection, ReportTable } from './report-parts.js'
import { REPORT_STYLE } from './report-style.js'

/** A pair whose photos are shown. */
export interface ShownPair extends NotablePair {
  /** Photos as data URLs. */
  images: [string, string]
}

/** The figures of sections, as SVG; null for one that could not be drawn. */
export type Figures = Record<NonNullable<ReportSection['figure']>, string | null>

export interface WorstPairs {
  falseMatches: ShownPair[]
  misses: ShownPair[]
}

/** @param worst absent for readers who must not see names and photos of people */
export function htmlReport(
  { title, subtitle, verdict, keyFigures, sections }: ReportContent,
  figures?: Figures,
  worst?: WorstPairs,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeHtml(title)}</title>
<style>${REPORT_STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<p class="subtitle">${escapeHtml(subtitle)}</p>
<p class="verdict ${verdict.state}">${escapeHtml(verdict.text)}</p>
<dl class="key-figures">
${keyFigures.map(({ name, value, detail }) => `<div><dt>${escapeHtml(name)}</dt><dd><strong>${escapeHtml(value)}</strong><span>${escapeHtml(detail)}</span></dd></div>`).join('\n')}
</dl>
</header>
<main>
${sections.map((section) => sectionHtml(section, figures)).join('\n')}
${worst ? worstHtml(worst) : ''}
</main>
</body>
</html>
`
}

function sectionHtml(
  { title, paragraphs = [], tables = [], figure, list }: ReportSection,
  figures?: Figures,
): string {
  const drawn = figure && figures?.[figure]
  return `<section>
<h2>${escapeHtml(title)}</h2>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
${drawn ? `<figure>${figure === 'scores' ? LEGEND : ''}${drawn}</figure>` : ''}
${tables.map(tableHtml).join('\n')}
${list ? `<ul>${list.map((text) => `<li>${escapeHtml(text)}</li>`).join('')}</ul>` : ''}
</section>`
}

const LEGEND =
  '<figcaption class="legend"><span class="genuine">genuine pairs</span><span class="impostor">impostor pairs</span></figcaption>'

function tableHtml({ caption, columns, rows }: ReportTable): string {
  const hasHead = columns.some((name) => name !== '')
  const cell = (text: string, column: number) =>
    column === 0 ? `<th scope="row">${escapeHtml(text)}</th>` : `<td>${escapeHtml(text)}</td>`
  return `<div class="table${hasHead ? '' : ' facts'}"><table>${caption ? `<caption>${escapeHtml(caption)}</caption>` : ''}
${hasHead ? `<thead><tr>${columns.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('')}</tr></thead>` : ''}
<tbody>
${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}
</tbody></table></div>`
}

function worstHtml({ falseMatches, misses }: WorstPairs): string {
  const gallery = (title: string, pairs: readonly ShownPair[]) => `<h3>${title}</h3>
<div class="pairs">${pairs
    .map(
      ({ score, photos, images }) => `<figure class="pair">
<img src="${images[0]}" alt="${escapeHtml(photos[0])}"><img src="${images[1]}" alt="${escapeHtml(photos[1])}">
<figcaption><strong>${score.toFixed(4)}</strong><br>${escapeHtml(photos[0])}<br>${escapeHtml(photos[1])}</figcaption>
</figure>`,
    )
    .join('\n')}</div>`
  return `<section class="worst">
<h2>Pairs to look at</h2>
<p>Personal data: this section names and shows people. It is there because it was asked for.</p>
${gallery('Two people, most alike', falseMatches)}
${gallery('One person, least alike', misses)}
</section>`
}
