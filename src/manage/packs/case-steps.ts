import {
  isObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import type { CaseDefaults, CasesDocument, WrittenCase } from './file-format.js';
import type { PackCase } from './pack.js';

/** Longest name that is made from the content of a case, in UTF-16 code units. */
const MAX_MADE_NAME = 80;

/** The cases of a document. `problem` is called with the place of a case that makes no step. */
export function casesOf(
  { defaults, matching, other }: CasesDocument,
  problem: (path: readonly PropertyKey[], message: string) => void,
): PackCase[] {
  const read = (list: readonly WrittenCase[], kind: 'matching' | 'other') =>
    list.flatMap((written, index) => {
      const made = caseOf(written, defaults, kind === 'matching');
      if (typeof made !== 'string') return [made];
      problem([kind, index], made);
      return [];
    });
  return [...read(matching, 'matching'), ...read(other, 'other')];
}

function caseOf(written: WrittenCase, defaults: CaseDefaults, matches: boolean): PackCase | string {
  const type = written.type ?? defaults.type;
  const { text } = written;
  const parts: JsonObject = {
    input: written.input ?? (type === 'tool' ? {} : null),
    output: written.output ?? null,
    context: written.context ?? null,
  };
  if (
    text === undefined &&
    [written.input, written.output, written.context].every((part) => part === undefined)
  ) {
    return 'must have text, input, output or context';
  }
  const built = text === undefined ? parts : withText(parts, defaults.member.split('.'), text);
  if (built === undefined) return `has a value where its text goes: ${defaults.member}`;
  const { input = null, output = null, context = null } = built;
  if (type === 'tool' && !isObject(input)) return 'is a step of the type tool, whose input must be an object';
  if (context !== null && !isObject(context)) return 'has a context that is no object';
  return {
    name:
      written.name ??
      shortened(text ?? stringifyJson(written.input ?? written.output ?? written.context ?? null)),
    step: { type, name: written.step_name ?? defaults.name, input, output, context },
    stage: written.stage ?? defaults.stage,
    matches,
  };
}

/** The value with the text at a path, whose objects are created; undefined where something else is. */
function withText(
  value: JsonValue,
  [name, ...rest]: readonly string[],
  text: string,
): JsonObject | undefined {
  if (name === undefined || (value !== null && !isObject(value))) return undefined;
  const inner = isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
  if (rest.length > 0) {
    const built = withText(inner, rest, text);
    return built && { ...value, [name]: built };
  }
  const isFree = inner === null || (isObject(inner) && Object.keys(inner).length === 0);
  return isFree ? { ...value, [name]: text } : undefined;
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_MADE_NAME ? line : `${line.slice(0, MAX_MADE_NAME - 1)}…`;
}
