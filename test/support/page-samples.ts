/** Finds figures without a value in the sentences of Markdown pages, and versions in their sample outputs. */

const FENCED = /^ *(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??\s*\1 *$/gm
/** A dash that stands where a figure belongs, and words that code writes for a missing value. */
const EMPTY =
  /(?:^|[\s(])[–—](?=[\s.,;:)%]|$)|(?<![\w.])(?:undefined|NaN|null|Infinity)(?= ?(?:ms|s|%|MiB|GiB|in|a second)\b)/

/** Sentences and cells of a page in which a figure is missing. A cell that holds nothing but a dash says that there is none. */
export function emptyFiguresIn(page: string): string[] {
  const prose = page
    .replace(FENCED, '')
    .replaceAll(/<!--.*?-->/g, '')
    .replaceAll(/`[^`\n]*`/g, '`')
  return prose
    .split('\n')
    .flatMap((line) => (line.trimStart().startsWith('|') ? line.split(/(?<!\\)\|/) : [line]))
    .map((text) => text.trim())
    .filter((text) => text !== '–' && EMPTY.test(text))
}

export interface SampleVersions {
  /** Versions of the service, of its packages and of its image. */
  versions: string[]
  /** Schemas of a database, of either kind. */
  schemas: number[]
  /** Model packs by name and version. */
  packs: string[]
}

/** The versions that a page shows, in outputs and in names of files. */
export function sampleVersionsIn(page: string): SampleVersions {
  const all = (form: RegExp) => [...page.matchAll(form)].map(([, found]) => found!)
  const nodes = /^\S+\/\d+ +(\d+\.\d+\.\d+) +[0-9a-f]{8} +(\d+) /gm
  return {
    versions: [
      ...all(/\bcountersign(?:-client)?[-:](\d+\.\d+\.\d+)\b(?!\.\d)/g),
      ...all(/\bCountersign (\d+\.\d+\.\d+)\b/g),
      ...all(/^(\d+\.\d+\.\d+) \(commit [0-9a-f]{12}, schema/gm),
      ...all(nodes),
    ],
    schemas: [
      ...all(/\bschema (?:of this one is )?(\d+)\b/g),
      ...all(/\bschema \d+ with SQLite, (\d+) with PostgreSQL/g),
      ...[...page.matchAll(nodes)].map(([, , schema]) => schema!),
    ].map(Number),
    packs: all(/\b((?:standard|recommended|opencv-zoo|baseline)@\d+(?:\.\d+)*)/g),
  }
}
