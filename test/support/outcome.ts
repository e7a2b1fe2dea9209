import { VerdictError } from '../../clients/node/index.js'

/** The code of a refused verdict, or what stands for success. Any other error is returned as it is. */
export const outcomeOf = <T>(call: Promise<unknown>, success: T) =>
  call.then(
    () => success,
    (error: unknown) => (error instanceof VerdictError ? error.code : error),
  )
