/** Which code of ours has run in this process, block by block, as V8 itself counts (no instrumented copy of the code). */
import { readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath, pathToFileURL } from 'node:url'

export class Coverage {
  private readonly session = new Session()
  /** Coverage of each script: 1 for every character that has run at least once. */
  private readonly covered = new Map<string, Uint8Array>()

  /** @param folders whose scripts count */
  private constructor(private readonly folders: readonly string[]) {}

  /** To be called before what is to be watched is imported: what was compiled before is counted by whole functions. */
  static start(folders: readonly string[]): Coverage {
    const coverage = new Coverage(folders.map((folder) => pathToFileURL(`${folder}/`).href))
    coverage.session.connect()
    coverage.post('Profiler.enable')
    coverage.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    return coverage
  }

  /** Characters of source that have run. */
  get size(): number {
    let size = 0
    for (const characters of this.covered.values()) for (const has of characters) size += has
    return size
  }

  /**
   * Whether something ran since the last time that never ran before.
   * @param keeps from now on it has run
   */
  take({ keeps }: { keeps: boolean }): boolean {
    const { result } = this.post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
    let isNew = false
    for (const { url, functions } of result) {
      if (!this.folders.some((folder) => url.startsWith(folder))) continue
      const seen = this.coveredOf(url)
      const now = new Uint8Array(seen.length)
      // From the outside to the inside: what an inner range says holds.
      for (const { ranges } of functions)
        for (const { count, startOffset, endOffset } of ranges)
          now.fill(count > 0 ? 1 : 0, startOffset, endOffset)
      for (const [at, has] of now.entries())
        if (has > seen[at]!) {
          if (keeps) seen[at] = 1
          isNew = true
        }
    }
    return isNew
  }

  stop(): void {
    this.post('Profiler.stopPreciseCoverage')
    this.session.disconnect()
  }

  private coveredOf(url: string): Uint8Array {
    let seen = this.covered.get(url)
    if (!seen) {
      seen = new Uint8Array(readFileSync(fileURLToPath(url), 'utf8').length)
      this.covered.set(url, seen)
    }
    return seen
  }

  /** The inspector of the same thread answers before `post` returns. */
  private post(method: string, parameters?: object): unknown {
    let answer: unknown
    this.session.post(method, parameters, (error, result) => {
      if (error) throw error
      answer = result
    })
    return answer
  }
}
