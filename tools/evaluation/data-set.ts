/** A data set: photos of people, and the pairs to compare. */
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CodedError } from '../../src/lib/errors.js'
import { parseCsv } from './csv.js'

export interface Photo {
  /** Path relative to the data set's folder. */
  path: string
  /** Index into `people`. */
  person: number
  /**
   * Time at which it was taken, in milliseconds since 1970, if its file name holds a date such as 2024-05-31; else
   * null.
   */
  takenAt: number | null
}

/** Indices into `photos`. */
export interface ListedPair {
  a: number
  b: number
  genuine: boolean
}

export interface DataSet {
  name: string
  folder: string
  photos: Photo[]
  /** Names of folders; for a list of pairs, the first photo of each person. */
  people: string[]
  /** The pairs that a file lists; null to compare everybody with everybody. */
  pairs: ListedPair[] | null
}

/** Thrown for data that cannot be measured, with a sentence for the operator. */
export class DataSetError extends CodedError<
  'malformed_pairs' | 'malformed_people' | 'no_photos' | 'too_few_pairs'
> {}

const PHOTO = /\.(?:jpe?g|png|webp)$/i
const DATE = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/

/**
 * Reads a folder with one folder a person; files directly in it are ignored.
 * @throws DataSetError no_photos
 */
export async function readPeople(folder: string): Promise<DataSet> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  const people: string[] = []
  const photos: Photo[] = []
  for (const { name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const files = (await readdir(join(folder, name))).filter((file) => PHOTO.test(file)).sort()
    if (files.length === 0) continue
    const person = people.push(name) - 1
    for (const file of files) photos.push(photoOf(`${name}/${file}`, person))
  }
  if (people.length < 2)
    throw new DataSetError(
      'no_photos',
      `${folder} needs a folder for each of at least two people, with their photos (JPEG, PNG, WebP) in it.`,
    )
  return { name: basename(resolve(folder)), folder, photos, people, pairs: null }
}

/**
 * Reads a list of pairs. Columns by name: `a` and `b` (or `file_x`, `file_y`) are paths relative to the file, `same`
 * (or `genuine`) is 1 or true for two photos of one person. Photos joined by a chain of genuine pairs show one
 * person.
 * @throws DataSetError malformed_pairs
 */
export function readPairs(text: string, file: string): DataSet {
  const { columns, rows } = parseCsv(text)
  const find = (...names: string[]) => columns.findIndex((name) => names.includes(name))
  const [a, b, same] = [find('a', 'file_x'), find('b', 'file_y'), find('same', 'genuine')]
  if (a < 0 || b < 0 || same < 0)
    throw new DataSetError('malformed_pairs', 'The first line must name the columns a, b and same.')
  const indices = new Map<string, number>()
  const indexOf = (path: string) => indices.get(path) ?? indices.set(path, indices.size).get(path)!
  const pairs = rows.map((cells, row): ListedPair => {
    if (!cells[a] || !cells[b]) throw new DataSetError('malformed_pairs', `Line ${row + 2} lacks a photo.`)
    return {
      a: indexOf(cells[a]),
      b: indexOf(cells[b]),
      genuine: /^(1|true)$/i.test(cells[same] ?? ''),
    }
  })
  const { personOf, firsts } = joinPeople(indices.size, pairs)
  const paths = [...indices.keys()]
  const contradiction = pairs.find(({ a, b, genuine }) => !genuine && a !== b && personOf[a] === personOf[b])
  if (contradiction)
    throw new DataSetError(
      'malformed_pairs',
      `${paths[contradiction.a]} and ${paths[contradiction.b]} are listed as two people, but other pairs join them as one.`,
    )
  return {
    name: basename(file),
    folder: dirname(resolve(file)),
    photos: paths.map((path, photo) => photoOf(path, personOf[photo]!)),
    people: firsts.map((photo) => paths[photo]!),
    pairs,
  }
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

/** Union-find over the genuine pairs. */
function joinPeople(photoCount: number, pairs: readonly ListedPair[]) {
  const parents = Uint32Array.from({ length: photoCount }, (_, photo) => photo)
  const rootOf = (photo: number) => {
    let root = photo
    while (parents[root] !== root) root = parents[root] = parents[parents[root]!]!
    return root
  }
  for (const { a, b, genuine } of pairs) if (genuine) parents[rootOf(b)] = rootOf(a)
  const persons = new Map<number, number>()
  const firsts: number[] = []
  const personOf = Array.from(parents, (_, photo) => {
    const root = rootOf(photo)
    if (!persons.has(root)) persons.set(root, firsts.push(photo) - 1)
    return persons.get(root)!
  })
  return { personOf, firsts }
}

function photoOf(path: string, person: number): Photo {
  const takenAt = Date.parse(DATE.exec(basename(path))?.[0] ?? '')
  return { path, person, takenAt: Number.isNaN(takenAt) ? null : takenAt }
}
