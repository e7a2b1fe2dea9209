/** Presentations to a camera, of people and of attacks, as a table lists them (after ISO/IEC 30107-3). */
import { basename, dirname, resolve } from 'node:path'
import { type FrameNote, STEPS, type Step } from '../../src/features/challenges/film/exports.js'
import { CodedError } from '../../src/lib/errors.js'
import { parseCsv } from './csv.js'

export interface Presentation {
  /** Unique name. */
  id: string
  /** Kind of the attack instrument, such as a print; null for a bona fide presentation. */
  species: string | null
  subject: string
  device: string
  condition: string
  /** Paths of its pictures, relative to the table's folder. */
  frames: string[]
  /** Path of a photo of the person who is shown, relative to the table's folder. */
  reference: string | null
  challenge: { steps: Step[]; notes: FrameNote[] } | null
}

export interface PadData {
  name: string
  folder: string
  presentations: Presentation[]
}

/** Thrown for presentations that cannot be measured, with a sentence for the operator. */
export class PadDataError extends CodedError<
  'malformed_presentations' | 'no_presentations' | 'no_liveness' | 'no_challenges' | 'reference_unusable'
> {}

const REQUIRED = ['presentation', 'type', 'subject', 'species', 'device', 'condition', 'frames'] as const
const OPTIONAL = ['reference', 'challenge'] as const
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]
type Cells = Record<Column, string>

/** @throws PadDataError malformed_presentations, no_presentations */
export function readPresentations(text: string, file: string): PadData {
  const { columns, rows } = parseCsv(text)
  const known: readonly string[] = [...REQUIRED, ...OPTIONAL]
  const strange = columns.filter((name) => !known.includes(name))
  if (strange.length > 0)
    throw malformed(`Column ${strange.join(', ')} is not known; known are: ${known.join(', ')}.`)
  const missing = REQUIRED.filter((name) => !columns.includes(name))
  if (missing.length > 0) throw malformed(`The first line must name the column ${missing.join(', ')}.`)
  if (new Set(columns).size < columns.length) throw malformed('A column is named twice.')
  if (rows.length === 0) throw new PadDataError('no_presentations', `${file} lists no presentation.`)
  const presentations = rows.map((row, index) => {
    const at = (name: Column) => row[columns.indexOf(name)] ?? ''
    const cells = Object.fromEntries(known.map((name) => [name, at(name as Column)])) as Cells
    return presentationOf(cells, `Line ${index + 2}`)
  })
  const ids = new Set<string>()
  for (const { id } of presentations) {
    if (ids.has(id)) throw malformed(`Presentation ${id} is listed twice: one line holds all its frames.`)
    ids.add(id)
  }
  return { name: basename(file), folder: dirname(resolve(file)), presentations }
}

function presentationOf(cells: Cells, line: string): Presentation {
  const { presentation: id, type, subject, species, device, condition, reference } = cells
  if (!id) throw malformed(`${line} names no presentation.`)
  if (type !== 'bona_fide' && type !== 'attack')
    throw malformed(`${line} has type "${type}": expected bona_fide or attack.`)
  if (type === 'attack' && !species) throw malformed(`${line} is an attack and names no species.`)
  if (type === 'bona_fide' && species) throw malformed(`${line} is bona fide and names a species.`)
  const entries = list(cells.frames)
  if (entries.length === 0) throw malformed(`${line} names no frame.`)
  return {
    id,
    species: species || null,
    subject,
    device: device || NOT_STATED,
    condition: condition || NOT_STATED,
    reference: reference || null,
    ...(cells.challenge
      ? challengeOf(list(cells.challenge), entries, line)
      : { frames: entries, challenge: null }),
  }
}

const NOT_STATED = 'not stated'

/** @param entries `file|step|t_ms`, as a backend sends them */
function challengeOf(
  names: string[],
  entries: string[],
  line: string,
): Pick<Presentation, 'frames' | 'challenge'> {
  const steps = names.map((name) => {
    const step = STEPS.find((known) => known === name)
    if (!step)
      throw malformed(`${line} has the step "${name}" in its challenge; known are: ${STEPS.join(', ')}.`)
    return step
  })
  const frames = entries.map((entry) => {
    const [, file, step, tMs] = /^(.+)\|(\d+)\|(\d+)$/.exec(entry) ?? []
    if (!file || Number(step) >= steps.length)
      throw malformed(
        `${line} has the frame "${entry}": frames of a challenge are written file|step|t_ms, with the index of a step and milliseconds.`,
      )
    return { file: file.trim(), note: { step: Number(step), tMs: Number(tMs) } }
  })
  return {
    frames: frames.map(({ file }) => file),
    challenge: { steps, notes: frames.map(({ note }) => note) },
  }
}

function list(cell: string): string[] {
  return cell
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function malformed(message: string): PadDataError {
  return new PadDataError('malformed_presentations', message)
}
