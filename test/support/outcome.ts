/** The code of a call's error, or what stands for success. An error without a code is returned as it is. */
export const outcomeOf = <T>(call: Promise<unknown>, success: T) =>
  call.then(
    () => success,
    (error: { code?: string }) => error.code ?? error,
  )
