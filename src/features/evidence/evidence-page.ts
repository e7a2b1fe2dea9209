/** Writes the judgements on an installation as a page in Markdown. */
import { markdownTable } from '../../lib/markdown-table.js'
import { wire } from '../../lib/wire.js'
import { type Cause, FACTS, type Fact, SETTINGS, type SettingName, type Status } from './evidence.js'
import { brokenLines, countLines, type JudgedLine, type JudgedStandard } from './judge-installation.js'

const NAMES: Record<Status, string> = { met: 'met', partly: 'partly', not_met: 'not met' }

export interface PageParts {
  /** Which installation was judged, in whole sentences. */
  introduction: string
  standards: readonly JudgedStandard[]
  /** The setting with its value in effect, such as `COUNTERSIGN_FMR=0.0001`. */
  settingText(name: SettingName): string
  /** Link to a document of the folder `docs`, given as `guides/liveness.md#films`. */
  linkTo(document: string): string
}

/** Explains the parts of a line, and the three judgements. */
export const ABOUT_LINES =
  'Each line has the requirement in our own words, a judgement with the figure in effect, and the settings, tests and documents that hold it. These are our own judgements, not an audit and no legal advice. **Met** says that the product does its part; **partly**, that something is left to you or undone; **not met**, that it lacks. *By title* marks a clause of which only number and title were compared with a source.'

function isFact(cause: Cause): cause is Fact {
  return cause in FACTS
}

export function evidencePage({ introduction, standards, settingText, linkTo }: PageParts): string {
  return [
    '# Evidence',
    introduction,
    ABOUT_LINES,
    countsTable(standards),
    '## What keeps lines from being met',
    'These settings and facts of the installation lower a judgement. All other lines below met have their reason in the product, or are yours.',
    causesTable(standards, settingText),
    ...standards.flatMap((standard) => [
      `## ${standard.title}`,
      standard.about,
      ...(standard.checked === undefined ? [] : [standard.checked]),
      linesTable(standard.lines, { settingText, linkTo }),
    ]),
  ].join('\n\n')
}

export function countsTable(standards: readonly JudgedStandard[]): string {
  return markdownTable(
    ['Standard', 'Met', 'Partly', 'Not met'],
    standards.map((standard) => {
      const counts = countLines(standard)
      return [standard.title, String(counts.met), String(counts.partly), String(counts.not_met)]
    }),
  )
}

function causesTable(standards: readonly JudgedStandard[], settingText: PageParts['settingText']): string {
  return markdownTable(
    ['Setting or fact', 'Lines'],
    [...brokenLines(standards)].map(([cause, lines]) => [
      isFact(cause) ? FACTS[cause] : `\`${settingText(cause)}\``,
      lines.map(({ id }) => `\`${id}\``).join(', '),
    ]),
  )
}

export function linesTable(
  lines: readonly JudgedLine[],
  { settingText, linkTo }: Pick<PageParts, 'settingText' | 'linkTo'>,
): string {
  return markdownTable(
    ['Line', 'Asks', 'Judgement', 'Held by'],
    lines.map((line) => [
      `${line.clause}${line.isByTitle ? ' (*by title*)' : ''}, \`${line.id}\``,
      line.asks,
      `**${NAMES[line.status]}**: ${line.why}`,
      heldBy(line, settingText, linkTo),
    ]),
  )
}

function heldBy(
  { settings, facts, tests, documents }: JudgedLine,
  settingText: PageParts['settingText'],
  linkTo: PageParts['linkTo'],
): string {
  const inCode = (text: string) => `\`${text}\``
  const judgedBy = [...settings.map((name) => inCode(settingText(name))), ...facts.map((fact) => FACTS[fact])]
  const parts = [
    ...(judgedBy.length > 0 ? [`Judged by ${judgedBy.join(', ')}.`] : []),
    ...(tests.length > 0 ? [`Tests: ${tests.map(inCode).join(', ')}.`] : []),
    ...(documents.length > 0 ? [`See ${documents.map(linkTo).join(', ')}.`] : []),
  ]
  return parts.length === 0 ? '–' : parts.join(' ')
}

/** The judgements for programs. @param textOf value in effect of a setting, null where there is none */
export function evidenceView(
  standards: readonly JudgedStandard[],
  textOf: (name: SettingName) => string | null,
) {
  const causeView = (cause: Cause) => (isFact(cause) ? cause : SETTINGS[cause].variable)
  return {
    standards: standards.map((standard) => ({
      id: standard.id,
      title: standard.title,
      checked: standard.checked ?? null,
      counts: countLines(standard),
      lines: standard.lines.map((line) => ({
        ...wire(line, 'id', 'clause', 'asks'),
        by_title: line.isByTitle,
        ...wire(line, 'status', 'why'),
        broken_by: line.brokenBy.map(causeView),
        settings: Object.fromEntries(line.settings.map((name) => [SETTINGS[name].variable, textOf(name)])),
        ...wire(line, 'facts', 'tests'),
        documents: line.documents.map((document) => `docs/${document}`),
      })),
    })),
  }
}
