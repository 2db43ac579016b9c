import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodedTexts, encodedRuns } from '../../../src/kernel/core/encoded-texts.js';
import type { EvaluatorResult } from '../../../src/kernel/core/types.js';
import { FULL_CALL } from '../../../test/support/check-call.js';
import type { Finding } from '../src/detector/finding.js';
import { piiEvaluator } from '../src/pii/pii.js';
import { secretsEvaluator } from '../src/secrets/secrets.js';

const TOKEN = `ghp_${'A1b2C3d4E5f6'.repeat(3)}`;
const MAIL = 'write to jane.roe@example.com today';
const base64 = (text: string) => Buffer.from(text).toString('base64');

function foundIn(evaluator: typeof piiEvaluator, text: string): string[] {
  const { metadata } = evaluator.compile({}).evaluate(text, FULL_CALL) as EvaluatorResult;
  const { findings = [] } = (metadata ?? {}) as { findings?: Finding[] };
  return findings.map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`);
}

describe.each([
  ['secrets', secretsEvaluator, 'github_token', TOKEN],
  ['pii', piiEvaluator, 'email', MAIL],
])('%s finds what a text encodes', (_name, evaluator, kind, text) => {
  it.each<[string, (text: string) => string]>([
    ['in base64', base64],
    ['in base64url', (one) => Buffer.from(`${one}???>>>`).toString('base64url')],
    ['without the signs at its end', (one) => base64(one).replace(/=+$/, '')],
    ['in hexadecimal digits', (one) => Buffer.from(one).toString('hex')],
    ['in base64 in base64', (one) => base64(base64(one))],
    ['in JSON in base64', (one) => base64(JSON.stringify({ arguments: { a: one } }))],
  ])('%s, at the place of all that encodes it', (_how, encode) => {
    const run = encode(text);
    expect(foundIn(evaluator, `before ${run} after`)).toEqual([`${kind} ${run}`]);
    expect(foundIn(evaluator, run)).toEqual([`${kind} ${run}`]);
    expect(foundIn(evaluator, `{"a":"${run.replaceAll('/', '\\/')}"}`)).toHaveLength(1);
  });

  it('but not three levels deep, nor in other bytes', () => {
    expect(foundIn(evaluator, base64(base64(base64(text))))).toEqual([]);
    expect(foundIn(evaluator, Buffer.from(`\0${text}`).toString('base64'))).toEqual([]);
    expect(foundIn(evaluator, base64('nothing that anybody would look for'))).toEqual([]);
  });

  it('once where it is found as it is written', () => {
    expect(foundIn(evaluator, `${text} ${base64('harmless words, and some more')}`)).toHaveLength(1);
  });
});

describe('secrets finds a token whose word begins before it', () => {
  const wide = (count: number) => 'A1b2C3d4E5f6'.repeat(20).slice(0, count);
  it.each([
    ['github_token', TOKEN],
    ['gitlab_token', `glpat-${wide(20)}`],
    ['stripe_live_key', `sk_live_${wide(24)}`],
    ['google_api_key', `AIza${wide(35)}`],
    ['npm_token', `npm_${wide(36)}`],
    ['huggingface_token', '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'],
    ['aws_access_key_id', 'AKIAQ3EGRTUVWXYZ2345'],
  ])('%s', (kind, token) => {
    expect(foundIn(secretsEvaluator, `a ${token} b`)).toEqual([`${kind} ${token}`]);
    for (const before of ['x', 'key', 'é', '7', '_', 'x_']) {
      expect([before, foundIn(secretsEvaluator, `a ${before}${token} b`)]).toEqual([
        before,
        [`${kind} ${token}`],
      ]);
    }
  });

  it('and none in words that only contain an anchor', () => {
    const words =
      'shelf_hf_ my_npm_config_cache task_live_ xghp_ xghp_short AKIA xAKIA chfgsk_ rapidapi dapinotes';
    expect(foundIn(secretsEvaluator, words)).toEqual([]);
  });
});

it('what begins like no text encodes none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 12, maxLength: 40 }), (text) => {
      const isText = !/[^\P{Cc}\t\r\n]/u.test(text);
      for (const run of [base64(text), Buffer.from(text).toString('base64url')]) {
        expect(decodedTexts(run)).toEqual(isText ? [text] : []);
      }
    }),
    { numRuns: 2_000 },
  );
  for (const text of ['déjà vu, 日本語 😀 and more', 'tab\there\r\nand a line'])
    expect(decodedTexts(base64(text))).toEqual([text]);
});

it('runs are those that a pattern finds', () => {
  const unit = fc.constantFrom('a', 'Z', '0', '+', '/', '-', '_', '=', ' ', '.', 'é', '😀', 'abcdefgh');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), (units) => {
      const text = units.join('');
      const pattern = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
      const expected = [...text.matchAll(pattern)].map(({ 0: run, index }) => [run, index]);
      expect([...encodedRuns(text)].map(({ run, start }) => [run, start])).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});
