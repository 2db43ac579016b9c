import {
  isObject,
  type JsonValue,
  jsonEqual,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';

/** Most differences of one object. */
const MAX_DIFFERENCES = 100;
/** Longest text of a value, in UTF-16 code units. */
const MAX_TEXT = 4_000;
/** Longest texts of all differences of a reply together: later objects have none. */
const MAX_TEXTS = 1_000_000;

/** A member that differs. */
export interface Difference {
  readonly path: string;
  readonly before_json: string | null;
  readonly after_json: string | null;
}

/** Members that differ between two contents below `root`. Contents that cannot be read differ as a whole. */
export type Differences = (before: string, after: string, root: string) => Difference[];

/** For the differences of one reply. */
export function createDifferences(): Differences {
  let left = MAX_TEXTS;
  return (before, after, root) => {
    if (before === after || left <= 0) return [];
    const differences: Difference[] = [];
    compare(parsed(before), parsed(after), root, differences);
    for (const { path, before_json: one, after_json: other } of differences) {
      left -= path.length + (one?.length ?? 0) + (other?.length ?? 0);
    }
    return differences;
  };
}

/** A stored text may be broken: by other programs, or by hand. */
function parsed(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return text;
  }
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
  found: Difference[],
): void {
  if (found.length >= MAX_DIFFERENCES) return;
  if (before !== undefined && after !== undefined && jsonEqual(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [one, other] = [own(before, name), own(after, name)];
      if (one === undefined && other === undefined) continue;
      compare(one, other, path === '' ? name : `${path}.${name}`, found);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, value] of before.entries()) compare(value, after[index], `${path}[${index}]`, found);
    return;
  }
  found.push({ path, before_json: textOf(before), after_json: textOf(after) });
}

function own(value: { [name: string]: JsonValue }, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Cut between characters: half of one could not be sent. */
function textOf(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  const text = stringifyJson(value);
  if (text.length <= MAX_TEXT) return text;
  const cut = text.slice(0, MAX_TEXT);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
