/** The words of a text with blanks between them. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));
