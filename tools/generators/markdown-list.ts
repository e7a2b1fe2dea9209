/** Writes lists of names with their explanations in Markdown. */

/** `<` outside code would begin a tag. */
function escaped(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('`')
}

/** @param items a name and its explanation each, both as Markdown without tags */
export function markdownList(items: ReadonlyArray<readonly [name: string, explanation: string]>): string {
  return items.map(([name, explanation]) => escaped(`- ${name}: ${explanation}`)).join('\n')
}
