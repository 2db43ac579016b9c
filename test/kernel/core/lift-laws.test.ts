import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  canonicalJson,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../packages/exact-json/src/index.js';
import type { ChangedStep, PatchOperation } from '../../../src/kernel/core/lift.js';
import { replaceSpans } from '../../../src/kernel/core/text-spans.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { aLeaf, aProgram } from './support.js';

const RUNS = 400;

/** Short texts with pairs of surrogates, and what controls look for. */
const text = fc
  .array(fc.constantFrom('ab', 'b', 'cd', 'A', '😀', '"', '\\', ' ', '1', 'é', '\ud83d', '\ude00'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));
const key = fc.constantFrom('a', 'b', 'ab', 'a/b', 'a~b', '__proto__', '');
const number = fc.oneof(fc.integer(), fc.constantFrom(12345678901234567890n, 1.5, 0));
const { value } = fc.letrec<{ value: JsonValue; members: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('members'),
  ),
  members: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((all) => Object.fromEntries(all)),
}));
const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('tool'),
  name: fc.constant('ab'),
  input: fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 4 }).map((all) => Object.fromEntries(all)),
  output: fc.constant(null),
  context: fc.oneof(fc.constant(null), fc.record({ a: value })),
});
const path = fc.constantFrom('input', 'input.a', 'input.b.a', 'input.ab', 'context.a', 'input.__proto__');
const change: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ path, replace: fc.constant('matches'), with: fc.constantFrom('', 'X', 'ab', '😀') }),
  fc.record({
    path: path.filter((one) => one.includes('.')),
    replace: fc.constant('value'),
    with: fc.constant('V'),
  }),
  fc.record({ path: path.filter((one) => one.includes('.')), remove: fc.constant(true) }),
);
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .record({ pattern: fc.constantFrom('ab', 'b.', '[a-d]+', '😀', '^.', '1') })
    .map((config) => aLeaf('regex', config)),
  fc
    .record({
      values: fc.constant(['ab', 'a', '😀', 'b']),
      match_mode: fc.constantFrom('exact', 'contains', 'starts_with', 'ends_with'),
    })
    .map((config) => aLeaf('list', { ...config, values: [...config.values] }, 'input')),
);
const control: fc.Arbitrary<JsonObject> = fc
  .tuple(leaf, fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([condition, modify]) => ({
    execution: 'server',
    // What matches is not of interest: every control changes the step.
    condition: { or: [condition, aLeaf('regex', { pattern: '' })] },
    action: { decision: 'deny', modify },
  }));

async function changed(controls: readonly JsonObject[], given: Step): Promise<ChangedStep | null> {
  const program = aProgram(controls);
  const lifts = program.lifts?.of(await program.evaluate(given, 'pre', 'verdict'));
  const made = await program.lifts?.change(given, 'pre', lifts?.changing ?? []);
  return made === undefined || 'problem' in made ? null : made;
}

/** Applies a patch as RFC 6902 says, by code of its own. */
function patched(given: Step, patch: readonly PatchOperation[]): JsonValue {
  const copy = structuredClone({ ...given }) as unknown as JsonObject;
  for (const operation of patch) {
    const [, ...tokens] = operation.path
      .split('/')
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = tokens.pop() ?? '';
    const parent = tokens.reduce<JsonValue>(
      (at, token) => (at as JsonObject)[token] ?? null,
      copy,
    ) as JsonObject;
    expect(Object.hasOwn(parent, last)).toBe(true);
    if (operation.op === 'remove') Reflect.deleteProperty(parent, last);
    else
      Object.defineProperty(parent, last, {
        value: operation.value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy;
}

const pathsOf = (controls: readonly JsonObject[]): string[] =>
  controls.flatMap(({ action }) =>
    ((action as JsonObject).modify as JsonObject[]).map((one) => String(one.path)),
  );

/** A step without what is at or below the named places: only its shape is left there, or nothing if all of it may change. */
function outside(given: Step, controls: readonly JsonObject[]): JsonValue {
  let rest = { ...given } as unknown as JsonObject;
  for (const named of pathsOf(controls)) rest = without(rest, named.split('.'));
  return rest;
}

function without(data: JsonObject, [first = '', ...more]: string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, member]): [string, JsonValue][] => {
      if (name !== first) return [[name, member]];
      if (more.length === 0) return [];
      return [[name, isObject(member) ? without(member, more) : member]];
    }),
  );
}

/** The same with every text replaced by one. */
function shapeOf(data: JsonValue): JsonValue {
  if (typeof data === 'string') return 'text';
  if (Array.isArray(data)) return data.map(shapeOf);
  if (!isObject(data)) return data;
  return Object.fromEntries(Object.entries(data).map(([name, member]) => [name, shapeOf(member)]));
}

const controls = fc.array(control, { minLength: 1, maxLength: 3 });

it('a changed step differs from the original in the named places only, and the patch makes it of the original', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(controls, step, async (all, given) => {
      const before = canonicalJson({ ...given });
      const made = await changed(all, given);
      expect(canonicalJson({ ...given })).toBe(before);
      if (made === null) return;
      count += 1;
      expect(made.patch.length).toBeGreaterThan(0);
      expect(canonicalJson(patched(given, made.patch))).toBe(canonicalJson({ ...made.step }));
      expect(canonicalJson(outside(made.step, all))).toBe(canonicalJson(outside(given, all)));
    }),
    { numRuns: RUNS, seed: 4_711 },
  );
  expect(count).toBeGreaterThan(RUNS / 10);
});

it('replaced matches change no number, no name and no shape', async () => {
  let count = 0;
  const onlyMatches = controls.map((all) =>
    all.map((one) => ({
      ...one,
      action: { decision: 'deny', modify: [{ path: 'input', replace: 'matches', with: 'X' }] },
    })),
  );
  await fc.assert(
    fc.asyncProperty(onlyMatches, step, async (all, given) => {
      const made = await changed(all, given);
      if (made === null) return;
      count += 1;
      expect(canonicalJson(shapeOf({ ...made.step }))).toBe(canonicalJson(shapeOf({ ...given })));
      expect(made.patch.every(({ op }) => op === 'replace')).toBe(true);
    }),
    { numRuns: RUNS, seed: 815 },
  );
  expect(count).toBeGreaterThan(RUNS / 10);
});

it('replaced spans keep all characters outside of them, in order, and split none', () => {
  const spans = fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 5 });
  fc.assert(
    fc.property(text, spans, (given, pairs) => {
      const parts = pairs
        .map(([left, right]) => [
          Math.min(left, right, given.length),
          Math.min(Math.max(left, right), given.length),
        ])
        .map(([start = 0, end = 0]) => ({ start, end, with: '|' }));
      const made = replaceSpans(given, parts);
      // Character by character: a character is gone if a span that is not empty touches it.
      let expected = '';
      let at = 0;
      let open = 0;
      for (const character of given) {
        const end = at + character.length;
        const touching = parts.filter((part) => part.start < part.end && part.start < end && part.end > at);
        if (touching.length === 0) expected += character;
        else if (open <= at || !touching.some((part) => part.start < open && part.start < at))
          expected += '|';
        if (touching.length > 0) open = Math.max(open, ...touching.map((part) => part.end), end);
        at = end;
      }
      const kept = (one: string) => one.replaceAll(/\|+/g, '|');
      expect(kept(made)).toBe(kept(expected));
      if (given.isWellFormed()) expect(made.isWellFormed()).toBe(true);
    }),
    { numRuns: 2_000, seed: 99 },
  );
});
