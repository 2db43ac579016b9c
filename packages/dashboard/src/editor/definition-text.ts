import { isExactNumber } from './exact-number.js';
import { isJsonObject, type JsonObject } from './json.js';

/** A text read as a definition, or why it is none. */
export type DefinitionReading =
  | { readonly draft: JsonObject }
  | { readonly problem: string; readonly at: number | null };

export function definitionText(draft: JsonObject): string {
  return JSON.stringify(draft, null, 2);
}

/**
 * Reads a definition. Numbers that no double holds are refused: RPCs carry the numbers of a configuration as doubles,
 * so these would be stored as other ones.
 */
export function readDefinitionText(text: string): DefinitionReading {
  let draft: unknown;
  try {
    draft = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    return { problem: `This is not JSON: ${message}`, at: positionOf(message, text) };
  }
  if (!isJsonObject(draft)) return { problem: 'A definition is an object: { … }', at: 0 };
  const at = inexactNumberAt(text);
  if (at !== null) {
    return { problem: 'This number has too many digits to be kept exactly. Write it as a text: "…".', at };
  }
  return { draft };
}

function positionOf(message: string, text: string): number | null {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  return message.includes('end of JSON') ? text.length : null;
}

const NUMBER_OR_TEXT = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The position of the first number that no double holds. */
function inexactNumberAt(text: string): number | null {
  for (const { 0: token, index } of text.matchAll(NUMBER_OR_TEXT)) {
    if (!token.startsWith('"') && !isExactNumber(token)) return index;
  }
  return null;
}
