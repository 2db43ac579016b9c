import { describe, expect, it } from 'vitest';
import { canonicalStep, stepSha256 } from '../../../src/decide/decisions/step-hash.js';

const STEP = {
  type: 'tool',
  name: 'send_email',
  input: { to: 'a@b.c', n: 1.5 },
  output: null,
  context: null,
};

describe('the hash of a step', () => {
  it('is the SHA-256 of its canonical text', () => {
    expect(canonicalStep(STEP)).toBe(
      '{"context":null,"input":{"n":1.5,"to":"a@b.c"},"name":"send_email","output":null,"type":"tool"}',
    );
    expect(stepSha256(STEP)).toBe('ee4f5e66b6da953d5e0aaeef307b62faa8e472a16d1a68a3b1bd5b0980153293');
  });

  it('does not depend on the order of members, and depends on every member', () => {
    expect(stepSha256({ ...STEP, input: { n: 1.5, to: 'a@b.c' } })).toBe(stepSha256(STEP));
    const others = [
      { ...STEP, type: 'llm' },
      { ...STEP, name: 'send' },
      { ...STEP, input: { to: 'a@b.c', n: 1 } },
      { ...STEP, output: 'sent' },
      { ...STEP, context: {} },
    ];
    expect(new Set([STEP, ...others].map(stepSha256)).size).toBe(6);
  });
});
