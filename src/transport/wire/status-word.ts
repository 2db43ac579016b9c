import { Code } from '@connectrpc/connect';

const WORDS = new Map(
  Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === 'number')
    .map(([name, code]) => [code, name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()]),
);

/** A status as the metrics name it, for example `invalid_argument`. */
export function codeWord(code: Code): string {
  return WORDS.get(code) ?? 'unknown';
}
