/** Labels of people, such as sex or age band, that divide them into groups. */
import { parseCsv } from './csv.js'
import { type DataSet, DataSetError } from './data-set.js'

export interface PeopleGroup {
  /** Name of the column, or several joined by ` × `. */
  label: string
  /** The value in it. */
  group: string
  /** Membership of each person of the data set. */
  has: Uint8Array
  people: number
}

/**
 * The column `person` names a person (the folder; for a list of pairs, the folder of any of the photos or a photo itself), every
 * other column is a label. People without a value are in no group of that column. Two columns and more also make groups together.
 * @throws DataSetError malformed_people
 */
export function readGroups(text: string, { people, photos }: DataSet): PeopleGroup[] {
  const { columns, rows } = parseCsv(text)
  const at = columns.findIndex((name) => ['person', 'name', 'id'].includes(name))
  const labels = columns.flatMap((label, column) =>
    column === at || label === '' ? [] : [{ label, column }],
  )
  if (at < 0 || labels.length === 0)
    throw new DataSetError(
      'malformed_people',
      'The first line must name the column person and at least one label, such as person,sex.',
    )
  const indices = new Map(people.map((name, person) => [name, person]))
  for (const { path, person } of photos) {
    indices.set(path, person)
    indices.set(path.split('/').at(-2) ?? path, person)
  }
  const groups = new Map<string, PeopleGroup>()
  const add = (label: string, group: string, person: number) => {
    const key = JSON.stringify([label, group])
    const entry = groups.get(key) ?? { label, group, has: new Uint8Array(people.length), people: 0 }
    groups.set(key, entry)
    if (entry.has[person] === 0) entry.people++
    entry.has[person] = 1
  }
  let known = 0
  for (const cells of rows) {
    const person = indices.get(cells[at] ?? '')
    if (person === undefined) continue
    known++
    for (const { label, column } of labels) if (cells[column]) add(label, cells[column], person)
    if (labels.length > 1 && labels.every(({ column }) => cells[column]))
      add(
        labels.map(({ label }) => label).join(' × '),
        labels.map(({ column }) => cells[column]).join(' × '),
        person,
      )
  }
  if (known === 0)
    throw new DataSetError(
      'malformed_people',
      'Nobody in the column person is among the people of the photos.',
    )
  return [...groups.values()]
}
