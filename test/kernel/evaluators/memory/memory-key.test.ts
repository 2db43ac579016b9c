import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../../../packages/exact-json/src/index.js';
import type { MemoryCall, MemoryKey, MissingPart } from '../../../../src/kernel/core/memory.js';
import { keyReader } from '../../../../src/kernel/evaluators/memory/memory-key.js';
import { hash } from '../../../support/simple-memory.js';

function keyOf(
  parts: readonly string[],
  input: JsonValue = {},
  {
    agent = 'agent',
    sessionId = 's',
    normalize,
  }: { agent?: string; sessionId?: string | null; normalize?: 'nfkc' | 'nfkc_case_fold' } = {},
): MemoryKey | MissingPart {
  const call: MemoryCall = {
    step: { type: 'tool', name: 'send', input, output: null, context: null },
    stage: 'pre',
    identity: { namespace: 'n', agent, sessionId, stepId: null, error: null },
  };
  return keyReader({ key: parts, normalize })(call, hash);
}
const partsOf = (...given: Parameters<typeof keyOf>) => {
  const key = keyOf(...given);
  return 'missing' in key ? key.missing : key.parts.join('\n');
};

describe('a key', () => {
  it('tells agents, sessions and values apart', () => {
    const keys = [
      partsOf(['session']),
      partsOf(['session'], {}, { sessionId: 't' }),
      partsOf(['session'], {}, { agent: 'other' }),
      partsOf(['agent']),
      partsOf(['agent'], {}, { agent: 'other' }),
      partsOf(['namespace']),
      partsOf(['input.a'], { a: 1 }),
      partsOf(['input.a'], { a: '1' }),
      partsOf(['input.a'], { a: [1] }),
      partsOf(['input.b'], { b: 1 }),
      partsOf(['agent', 'input.a'], { a: 1 }),
      partsOf(['input.a', 'input.b'], { a: 1, b: 2 }),
      partsOf(['input.a', 'input.b'], { a: 2, b: 1 }),
      partsOf(['name']),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('does not depend on the order of its parts, nor on those that others include', () => {
    expect(partsOf(['input.a', 'agent'], { a: 1 })).toBe(partsOf(['agent', 'input.a'], { a: 1 }));
    expect(partsOf(['session', 'agent', 'namespace'])).toBe(partsOf(['session']));
    expect(partsOf(['namespace', 'input.a'], { a: 1 })).toBe(partsOf(['input.a'], { a: 1 }));
  });

  it('is the same for equal values in any form', () => {
    const texts = ['{"a":{"x":1,"y":2}}', '{"a":{"y":2.0,"x":1e0}}'];
    const [one, other] = texts.map((text) => partsOf(['input.a'], parseJson(text)));
    expect(one).toBe(other);
  });

  it('has texts without differences of case or form, if they are normalized', () => {
    const keyed = (normalize: 'nfkc' | 'nfkc_case_fold' | undefined, sessionId: string, account: JsonValue) =>
      partsOf(['session', 'input.a'], { a: account }, { sessionId, ...(normalize && { normalize }) });
    const one = (normalize?: 'nfkc' | 'nfkc_case_fold') => keyed(normalize, 'Sess-1', { id: 'Straße', n: 1 });
    expect(one('nfkc_case_fold')).toBe(keyed('nfkc_case_fold', 'sess-1', { id: 'STRASSE', n: 1 }));
    expect(one('nfkc_case_fold')).toBe(keyed('nfkc_case_fold', 'ｓESS-\u200b1', { id: 'strasse', n: 1 }));
    expect(one('nfkc')).toBe(keyed('nfkc', 'Ｓess-\u200b1', { id: 'Straße', n: 1 }));
    expect(one('nfkc')).not.toBe(keyed('nfkc', 'sess-1', { id: 'Straße', n: 1 }));
    expect(one()).not.toBe(keyed(undefined, 'sess-1', { id: 'Straße', n: 1 }));
    // Other values and names of members stay as they are, and kinds of comparison are keys of their own.
    expect(one('nfkc_case_fold')).not.toBe(keyed('nfkc_case_fold', 'Sess-1', { id: 'Straße', n: '1' }));
    expect(one('nfkc_case_fold')).not.toBe(keyed('nfkc_case_fold', 'Sess-1', { ID: 'Straße', n: 1 }));
    expect(new Set([one(), one('nfkc'), one('nfkc_case_fold')]).size).toBe(3);
    // Nothing is left of it, or it is too long to be compared.
    expect(partsOf(['session'], {}, { sessionId: '\u200b', normalize: 'nfkc' })).toBe('session_id');
    const long = 'é'.repeat(2_000_000);
    expect(partsOf(['input.a'], { a: long }, { normalize: 'nfkc' })).toBe('input.a');
  });

  it('names the part that a step lacks', () => {
    expect(partsOf(['session'], {}, { sessionId: null })).toBe('session_id');
    expect(partsOf(['session'], {}, { sessionId: '' })).toBe('session_id');
    for (const input of [{}, { a: null }, null, 'text', { A: 1 }])
      expect(partsOf(['input.a'], input)).toBe('input.a');
  });

  it('has a hash of a value, and a label, of bounded length', () => {
    const key = keyOf(
      ['session', 'input.a'],
      { a: 'secret'.repeat(200_000) },
      { sessionId: 'x'.repeat(10_000) },
    );
    if ('missing' in key) throw new Error(key.missing);
    expect(key.label).toMatch(/^agent \/ x+/);
    expect(key.label.length).toBeLessThanOrEqual(310);
    expect(JSON.stringify(key)).not.toContain('secret');
    expect(keyOf(['agent', 'input.a'], { a: 1 })).toMatchObject({
      label: `agent / input.a=${hash('1').slice(0, 8)}`,
    });
  });
});
