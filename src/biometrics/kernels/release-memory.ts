/** Returns memory to the system. */

/**
 * Frees the memory under `view` now instead of when the garbage collector finds it: a megabyte of pixels a request
 * would otherwise make V8 mark its whole heap several times a second, and a photo would stay in memory longer. Every
 * view of that memory has length 0 afterwards.
 *
 * This twin of the native kernel leaves it to the collector: JavaScript cannot free memory.
 */
export function releaseMemory(_view: Uint8Array): void {}

/**
 * Gives free pages within the process's arenas back to the system, in a few milliseconds; only on Linux with glibc.
 *
 * This twin does nothing: JavaScript does not reach the allocator.
 */
export function releaseFreePages(): void {}
