/** Constants that `timeline` and its probe share. */

/**
 * Environment variable with the probe's output file, which has a line an event: its name and milliseconds of the
 * machine's monotonic clock.
 */
export const TIMELINE_FILE = 'BENCH_TIMELINE_FILE'
