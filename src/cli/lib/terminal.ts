/** At a terminal SIGHUP means that the terminal was closed; elsewhere it asks to reload the configuration. */
export const isAtTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
