import { canonicalJson, isObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { normalizeText, shorten } from '../../../../packages/linear-text/src/index.js';
import { field, list, refuse, refuseTyped } from '../../../contract/input/fields.js';
import { BoundedMap } from '../../../contract/runtime/bounded-map.js';
import type { MemoryCall, MemoryKey, MemoryRule, MissingPart } from '../../core/memory.js';
import { compileSelector, isSelectorPath } from '../../core/selector.js';

/** Most parts of a key. */
export const MAX_KEY_PARTS = 8;
/** Longest path, in characters. */
export const MAX_PATH_LENGTH = 512;
/** Longest label of a key, in characters. */
const MAX_LABEL_LENGTH = 300;
/** Begins the part of a normalized key that says how its texts are compared. */
const NORMALIZE = 'normalize:';
/** Characters of a hash in a label. */
const LABEL_HASH_LENGTH = 8;

/** Parts of a key that are no paths, each of which includes those after it. */
const WHOSE = ['session', 'agent', 'namespace'] as const;
type Whose = (typeof WHOSE)[number];

const isWhose = (part: string): part is Whose => (WHOSE as readonly string[]).includes(part);

/** Whether a text is a path to a part of a step that is there before the step runs, and the same after it. */
export function isStepPath(path: string): boolean {
  return isSelectorPath(path) && !/^(?:\*|output)(?:\.|$)/.test(path);
}

const keyPart = field<string>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (value.length > MAX_PATH_LENGTH) {
      return refuse(sink, 'string_too_long', `must have at most ${MAX_PATH_LENGTH} characters`, value);
    }
    if (isWhose(value) || isStepPath(value)) return value;
    const message =
      'must be session, agent, namespace, or a path that begins with input, context, type or name; ' +
      'a key cannot be of the output, because there is none before the step runs';
    return refuseTyped(sink, 'value_error', message, value);
  },
  { type: 'string', maxLength: MAX_PATH_LENGTH },
);

/** The member `key`: what is counted together. */
export const keyParts = () =>
  list(keyPart, { min: 1, max: MAX_KEY_PARTS }).meta({
    description:
      'What is counted together: "session" (a session of an agent), "agent", "namespace", and paths, such as ' +
      '"input.account": steps with the same values there.',
  });

/** How session ids and texts at paths are compared. */
export const NORMALIZATIONS = ['nfkc', 'nfkc_case_fold'] as const;

/** A key as configurations have it. */
export interface KeyConfig {
  readonly key: readonly string[];
  readonly normalize?: (typeof NORMALIZATIONS)[number] | undefined;
}

/** The parts of a key without those that change nothing, in an order of their own: equal keys have equal parts. */
export function normalizedKey({ key: parts, normalize }: KeyConfig): readonly string[] {
  const paths = [...new Set(parts.filter((part) => !isWhose(part)))].sort();
  const whose = WHOSE.find((part) => parts.includes(part)) ?? 'namespace';
  const own = whose === 'namespace' && paths.length > 0 ? paths : [whose, ...paths];
  // No path has this form.
  return normalize === undefined ? own : [...own, `${NORMALIZE}${normalize}`];
}

/**
 * Reads the key of a step. Values at paths are hashed in their canonical form, so that 1, 1.0 and "1" are told apart as JSON
 * does; null counts as missing.
 */
export function keyReader(config: KeyConfig): MemoryRule['keyOf'] {
  const normalized = normalizedKey(config);
  const id = JSON.stringify(normalized);
  const known = readers.get(id);
  if (known !== undefined) return known;
  const reader = newKeyReader(normalized);
  readers.set(id, reader);
  return reader;
}

/** Rules with equal keys share a reader, and a reader makes the key of a step once: a step may concern a thousand rules. */
const readers = new BoundedMap<string, MemoryRule['keyOf']>({ entries: 1_000 });

function newKeyReader(parts: readonly string[]): MemoryRule['keyOf'] {
  const keys = new WeakMap<MemoryCall, { hash: (text: string) => string; key: MemoryKey | MissingPart }>();
  const read = keyMaker(parts);
  return (call, hash) => {
    const known = keys.get(call);
    if (known?.hash === hash) return known.key;
    const key = read(call, hash);
    keys.set(call, { hash, key });
    return key;
  };
}

function keyMaker(parts: readonly string[]): MemoryRule['keyOf'] {
  const normalize = normalizer(parts.at(-1)?.split(NORMALIZE)[1]);
  const [whose = 'namespace', ...rest] = parts.filter((part) => !part.startsWith(NORMALIZE));
  const paths = (isWhose(whose) ? rest : [whose, ...rest]).map((path) => ({
    path,
    read: compileSelector(path),
  }));
  const meaning = JSON.stringify(parts);
  const first = isWhose(whose) ? whose : 'namespace';
  return ({ step, identity }: MemoryCall, hash): MemoryKey | MissingPart => {
    const values: string[] = [meaning];
    const labels: string[] = [];
    if (first !== 'namespace') {
      values.push(identity.agent);
      labels.push(identity.agent);
    }
    if (first === 'session') {
      if (identity.sessionId === null || identity.sessionId === '') return { missing: 'session_id' };
      const sessionId = normalize(identity.sessionId);
      if (sessionId === null) return { missing: 'session_id' };
      values.push(String(sessionId));
      labels.push(String(sessionId));
    }
    for (const { path, read } of paths) {
      const value = normalize(read(step));
      if (value === null) return { missing: path };
      const hashed = hash(canonicalJson(value));
      values.push(hashed);
      labels.push(`${path}=${hashed.slice(0, LABEL_HASH_LENGTH)}`);
    }
    return { parts: values, label: shorten(labels.join(' / ') || 'namespace', MAX_LABEL_LENGTH) };
  };
}

/** Brings texts into their form; a value with one that is too long for it, or empty afterwards, is missing. */
function normalizer(how: string | undefined): (value: JsonValue) => JsonValue {
  if (how === undefined) return (value) => value;
  // Upper case first: it joins the letters that lower case keeps apart, such as both sigmas.
  const textOf = (text: string): string =>
    how === 'nfkc' ? normalizeText(text) : normalizeText(text).toUpperCase().toLowerCase();
  const inside = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return textOf(value);
    if (Array.isArray(value)) return value.map(inside);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside(member)]));
  };
  return (value) => {
    try {
      const normalized = inside(value);
      return normalized === '' ? null : normalized;
    } catch {
      return null;
    }
  };
}

/** The same for rules that tell steps apart by their ids. */
export function keyReaderWithStepId(config: KeyConfig): MemoryRule['keyOf'] {
  const read = keyReader(config);
  return (call, hash) => (call.identity.stepId === null ? { missing: 'step_id' } : read(call, hash));
}

/** Which parts of a key change nothing, and why. */
export function* idleKeyParts(parts: readonly string[]): Generator<{ index: number; message: string }, void> {
  const kept = new Set(normalizedKey({ key: parts }));
  for (const [index, part] of parts.entries()) {
    if (parts.indexOf(part) < index) yield { index, message: 'is listed before' };
    else if (!kept.has(part)) {
      const by = WHOSE.find((other) => kept.has(other));
      const why = by === undefined ? 'every key is within a namespace' : `${by} includes it`;
      yield { index, message: `has no effect: ${why}` };
    }
  }
}
