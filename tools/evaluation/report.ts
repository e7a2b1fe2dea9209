/** Writes a report in the format that a file's ending names. */
import { readFile, writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import sharp from 'sharp'
import { CodedError } from '../../src/lib/errors.js'
import { VERSION } from '../../src/lib/version.js'
import type { NotablePair } from './evaluation.js'
import type { ShownPair, WorstPairs } from './report-html.js'
import type { EvaluationRun } from './run-evaluation.js'

export const REPORT_FORMATS = ['.html', '.md', '.json'] as const

export class ReportError extends CodedError<'unknown_report_format'> {}

/** @throws ReportError unknown_report_format */
export function assertReportFormat(file: string): void {
  if (!REPORT_FORMATS.some((ending) => ending === extname(file)))
    throw new ReportError(
      'unknown_report_format',
      `${file} names no format: expected a name that ends in ${REPORT_FORMATS.join(', ')}.`,
    )
}

/**
 * @param includePhotos names and shows the worst pairs; without it no report of any format names a person or a photo
 * @throws ReportError unknown_report_format; the operating system's error for a file that cannot be written
 */
export async function writeReport(file: string, run: EvaluationRun, includePhotos: boolean): Promise<void> {
  assertReportFormat(file)
  await writeFile(file, await render(extname(file), run, includePhotos))
}

async function render(format: string, run: EvaluationRun, includePhotos: boolean): Promise<string> {
  const { evaluation } = run
  if (format === '.json') {
    const { worst, refused, ...figures } = evaluation
    return `${JSON.stringify(includePhotos ? evaluation : figures, null, 2)}\n`
  }
  const { reportContent } = await import('./report-content.js')
  const content = reportContent(evaluation, VERSION)
  if (format === '.md') {
    const { markdownReport } = await import('./report-markdown.js')
    return markdownReport(content)
  }
  // The import is late because the plotting library takes a second to load.
  const { htmlReport } = await import('./report-html.js')
  const { plots } = await import('./report-plots.js')
  return htmlReport(content, plots(evaluation), includePhotos ? await shownPairs(run) : undefined)
}

async function shownPairs({ data, evaluation }: EvaluationRun): Promise<WorstPairs> {
  const show = (pairs: readonly NotablePair[]): Promise<ShownPair[]> =>
    Promise.all(
      pairs.map(async (pair) => ({
        ...pair,
        images: [
          await thumbnail(resolve(data.folder, pair.photos[0])),
          await thumbnail(resolve(data.folder, pair.photos[1])),
        ],
      })),
    )
  return {
    falseMatches: await show(evaluation.worst.false_matches),
    misses: await show(evaluation.worst.misses),
  }
}

const THUMBNAIL_PX = 160

async function thumbnail(file: string): Promise<string> {
  // A process that decodes callers' pictures lets libvips read them from memory only, not from files.
  const image = sharp(await readFile(file))
    .autoOrient()
    .resize(THUMBNAIL_PX, THUMBNAIL_PX, { fit: 'cover' })
  return `data:image/jpeg;base64,${(await image.jpeg({ quality: 80 }).toBuffer()).toString('base64')}`
}
