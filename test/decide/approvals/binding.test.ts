import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import {
  type BoundCall,
  type BoundControl,
  bindingOf,
  strictestReuse,
} from '../../../src/decide/approvals/binding.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { generatedCases } from '../../support/generated-cases.js';

const CALL: BoundCall = { namespace: 'default', agentName: 'paying-bot-01', sessionId: 'one', target: null };
const WHOLE: BoundControl = { id: 1, definitionHash: 'a', bind: 'step', reuse: 'once' };
const PARTS: BoundControl = { ...WHOLE, bind: ['input.amount', 'input.to.name', 'context.user'] };

function stepOf(text: string): Step {
  const input = parseJson(text) as Step['input'];
  return { type: 'tool', name: 'pay', input, output: null, context: null };
}

const bound = (text: string, control = WHOLE) => bindingOf(CALL, [control], stepOf(text));

/** Two texts, and whether they are the same data. */
const PAIRS: readonly (readonly [string, string, boolean])[] = [
  ['{"a":1,"b":2}', '{"b":2,"a":1}', true],
  ['{"a":1}', '{"a":1.0}', true],
  ['{"a":1e2}', '{"a":100}', true],
  ['{"a":12345678901234567890}', '{"a":12345678901234567891}', false],
  ['{"a":0.1}', '{"a":0.10000000000000000001}', false],
  ['{"a":1}', '{"a":"1"}', false],
  ['{"a":null}', '{}', false],
  ['{"a":"\u00e9"}', '{"a":"e\u0301"}', false],
  ['{"a":"\\u0061"}', '{"a":"a"}', true],
  ['{"a":"x"}', '{"a":"x "}', false],
  ['{"a":1,"a":2}', '{"a":2}', true],
  ['{"a":1,"a":2}', '{"a":1}', false],
  ['{"a":["b","c"]}', '{"a":["bc"]}', false],
  ['{"a":{"b":"c"}}', '{"a":"{\\"b\\":\\"c\\"}"}', false],
  ['{"a":"\\ud800"}', '{"a":"\\ufffd"}', false],
];

describe('the binding of an approval', () => {
  it.each(PAIRS)('of %s and %s is the same: %s', (left, right, same) => {
    expect(bound(left) === bound(right)).toBe(same);
  });

  it('is of the bound parts only', () => {
    const step = '{"amount":1,"to":{"name":"ann","note":"x"},"text":"y"}';
    const own = bound(step, PARTS);
    expect(bound('{"text":"z","to":{"note":1,"name":"ann"},"amount":1.0}', PARTS)).toBe(own);
    expect(bound('{"amount":2,"to":{"name":"ann"}}', PARTS)).not.toBe(own);
    expect(bound('{"amount":1,"to":{"name":null}}', PARTS)).not.toBe(own);
    expect(bound('{"amount":1,"to":{}}', PARTS)).not.toBe(bound('{"amount":1,"to":{"name":null}}', PARTS));
  });

  it('is of everything else that it names', () => {
    const step = stepOf('{"a":1}');
    const others: readonly (readonly [Partial<BoundCall>, Partial<BoundControl>])[] = [
      [{}, {}],
      [{ namespace: 'team-a' }, {}],
      [{ agentName: 'paying-bot-02' }, {}],
      [{ target: { type: 'repo', id: '1' } }, {}],
      [{ target: { type: 'repo1', id: '' } }, {}],
      [{}, { id: 2 }],
      [{}, { definitionHash: 'b' }],
      [{}, { bind: ['input'] }],
      [{}, { bind: ['*'] }],
      [{}, { reuse: 'session' }],
      [{ sessionId: 'two' }, { reuse: 'session' }],
      [{ sessionId: null }, { reuse: 'session' }],
    ];
    const found = others.map(([call, control]) =>
      bindingOf({ ...CALL, ...call }, [{ ...WHOLE, ...control }], step),
    );
    expect(new Set(found).size).toBe(found.length);
    expect(bindingOf({ ...CALL, sessionId: 'two' }, [WHOLE], step)).toBe(found[0]);
  });

  it('is of type and name of the step, whatever parts are bound', () => {
    const step = stepOf('{"amount":1}');
    const steps = [step, { ...step, name: 'refund' }, { ...step, type: 'llm' }];
    expect(new Set(steps.map((one) => bindingOf(CALL, [PARTS], one))).size).toBe(3);
  });

  it('is equal for changed steps exactly if they are canonically equal in the bound parts', () => {
    const leaf = fc.oneof(
      fc.constantFrom(
        '1',
        '1.0',
        '10e-1',
        '-0',
        '0',
        '1e300',
        '9007199254740993',
        '0.1',
        '"a"',
        '"\\u0061"',
        '"\u00e9"',
        '"e\u0301"',
        'null',
        'true',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }).map((text) => JSON.stringify(text)),
    );
    const member = fc.tuple(fc.constantFrom('amount', 'to', 'name', 'note'), leaf);
    const inner = fc
      .array(member, { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`);
    const whole = fc
      .array(fc.tuple(fc.constantFrom('amount', 'to', 'note'), fc.oneof(leaf, inner)), { maxLength: 5 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`);
    const at = (text: string, ...path: readonly string[]): string => {
      let value = parseJson(text) as JsonValue | undefined;
      for (const key of path) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        value =
          isObject && Object.hasOwn(value as object, key)
            ? (value as Record<string, JsonValue>)[key]
            : undefined;
      }
      return value === undefined ? 'absent' : canonicalJson(value);
    };
    const parts = (text: string) => {
      const found = [at(text, 'amount'), at(text, 'to', 'name')];
      // A step without any of the parts is bound as a whole.
      return [...found, ...(found.every((part) => part === 'absent') ? [at(text)] : [])].join(' ');
    };
    fc.assert(
      fc.property(whole, whole, (left, right) => {
        expect(bound(left) === bound(right)).toBe(at(left) === at(right));
        expect(bound(left, PARTS) === bound(right, PARTS)).toBe(parts(left) === parts(right));
      }),
      { numRuns: generatedCases(10_000) },
    );
  });

  it('takes the strictest rule of reuse', () => {
    expect(strictestReuse(['session', { seconds: 9 }, { seconds: 5 }])).toEqual({ seconds: 5 });
    expect(strictestReuse(['session', 'once', { seconds: 5 }])).toBe('once');
    expect(strictestReuse(['session', 'session'])).toBe('session');
  });
});
