/** Longest quotation of a text in a warning, in characters. */
const QUOTED_LENGTH = 80;

/**
 * A text as quoted in a warning: JSON, cut to 80 characters, with everything other than visible ASCII and
 * letters escaped, so that invisible characters become visible.
 */
export function quoted(text: string): string {
  const cut = text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH - 1)}…`.toWellFormed() : text;
  return JSON.stringify(cut).replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, escaped);
}

/** A name as part of a path: verbatim when it is plain, else as JSON. */
export function pathPart(name: string): string {
  return /^[\w$.*:-]{1,80}$/.test(name) ? name : quoted(name);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).padStart(4, '0');
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
}
