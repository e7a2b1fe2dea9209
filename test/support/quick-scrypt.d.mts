export function forgetHashes(): void
