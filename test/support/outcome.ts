/** How a call ends: by the code of its error, or else by what is said of success. An error without a code is returned as it is. */
export const outcomeOf = <T>(call: Promise<unknown>, success: T) =>
  call.then(
    () => success,
    (error: { code?: string }) => error.code ?? error,
  )
