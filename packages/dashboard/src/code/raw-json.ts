import { JSON_TOKENS } from './json-tokens.js';

interface Level {
  readonly isList: boolean;
  /** Name or index of the value that is read. */
  at: string | number;
  readonly start: number;
}

/**
 * The values of a JSON text whose path passes a test, as they are written: with all digits of their numbers. The text
 * must be JSON. Values within a value that passes are passed over.
 */
export function rawValues(
  text: string,
  isWanted: (path: readonly (string | number)[]) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  const levels: Level[] = [];
  const path = () => levels.map(({ at }) => at);
  let wantedDepth = -1;
  let isName = false;
  const keep = (start: number, end: number): void => {
    found.set(JSON.stringify(path()), text.slice(start, end));
  };
  for (const { 0: token, index } of text.matchAll(JSON_TOKENS)) {
    const level = levels.at(-1);
    if (token === '}' || token === ']') {
      levels.pop();
      if (levels.length === wantedDepth) {
        keep(level?.start ?? index, index + 1);
        wantedDepth = -1;
      }
      isName = false;
    } else if (token === ',') {
      if (level?.isList) level.at = Number(level.at) + 1;
      else isName = true;
    } else if (token === ':') {
      isName = false;
    } else if (isName && level !== undefined) {
      level.at = JSON.parse(token) as string;
    } else {
      const isStart = token === '{' || token === '[';
      if (wantedDepth < 0 && isWanted(path())) {
        if (isStart) wantedDepth = levels.length;
        else keep(index, index + token.length);
      }
      if (isStart) levels.push({ isList: token === '[', at: token === '[' ? 0 : '', start: index });
      isName = token === '{';
    }
  }
  return found;
}
