/** Which runs make up the next batch of an accelerator. */
import { expect, it } from 'vitest'
import { BatchQueue, MAX_ROWS } from '../../../src/biometrics/accelerator/batch-queue.js'

interface Run {
  name: string
  sha256: string
  dims: readonly number[]
}

function queueOf(
  runs: readonly Run[],
  isBatchable: (sha256: string) => boolean = () => true,
): BatchQueue<Run> {
  const queue = new BatchQueue<Run>(isBatchable)
  for (const run of runs) queue.push(run)
  return queue
}

const run = (name: string, sha256 = 'embedder', rows = 1, side = 112): Run => ({
  name,
  sha256,
  dims: [rows, 3, side, side],
})
const many = (count: number, rows = 1) =>
  Array.from({ length: count }, (_, i) => run(String(i), 'embedder', rows))
const names = (runs: readonly Run[]) => runs.map(({ name }) => name).join(' ')
const batches = (queue: BatchQueue<Run>) => {
  const found: string[] = []
  for (let batch = queue.take(); batch.length > 0; batch = queue.take()) found.push(names(batch))
  return found
}

it('gives nothing where nothing waits', () => {
  expect(queueOf([]).take()).toEqual([])
})

it('puts waiting runs of one network and one shape together, in the order of their arrival', () => {
  expect(batches(queueOf([run('a'), run('b'), run('c'), run('d')]))).toEqual(['a b c d'])
})

it('never puts runs of different networks or of different shapes together', () => {
  const waiting = [run('a'), run('x', 'detector'), run('b'), run('small', 'embedder', 1, 96)]
  expect(batches(queueOf(waiting))).toEqual(['a b', 'x', 'small'])
})

it('always takes the oldest run first, however many wait for another network', () => {
  const queue = queueOf([run('oldest', 'detector'), ...many(40)])
  expect(names(queue.take())).toBe('oldest')
  queue.push(run('late', 'detector'))
  const next = queue.take()
  expect(next).toHaveLength(MAX_ROWS)
  expect(names(queue.take())).toBe(
    many(40)
      .slice(32)
      .map(({ name }) => name)
      .join(' '),
  )
  expect(names(queue.take())).toBe('late')
})

it('gives batches whose rows are a power of two', () => {
  expect(batches(queueOf(many(7))).map((batch) => batch.split(' ').length)).toEqual([4, 2, 1])
  expect(batches(queueOf(many(5, 2))).map((batch) => batch.split(' ').length)).toEqual([4, 1])
})

it('gives a run of three rows on its own, unless others complete the rows to a power of two', () => {
  expect(batches(queueOf([run('three', 'embedder', 3), run('two', 'embedder', 2)]))).toEqual(['three', 'two'])
  expect(batches(queueOf([run('three', 'embedder', 3), run('one')]))).toEqual(['three one'])
})

it('holds at most MAX_ROWS rows in a batch, and gives a larger run on its own', () => {
  expect(batches(queueOf(many(2 * MAX_ROWS))).map((batch) => batch.split(' ').length)).toEqual([32, 32])
  expect(batches(queueOf([run('huge', 'embedder', 40), run('a')]))).toEqual(['huge', 'a'])
})

it('does the runs of a network with a fixed number of rows one by one', () => {
  const queue = queueOf([run('a'), run('b'), run('c')], () => false)
  expect(batches(queue)).toEqual(['a', 'b', 'c'])
})
