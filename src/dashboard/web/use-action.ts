/** Something that is done on demand: what went wrong, and whether it is still under way. */
import { useState } from 'preact/hooks'

export interface Action {
  problem: string | null
  isBusy: boolean
  /** Never rejects: what goes wrong becomes the problem. */
  run: (work: () => Promise<void>) => Promise<void>
}

export function useAction(): Action {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<void>) => {
    setProblem(null)
    setBusy(true)
    try {
      await work()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return { problem, isBusy, run }
}
