/** There, SIGHUP says that it was closed; anywhere else it asks to read the configuration anew. */
export const isAtTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
