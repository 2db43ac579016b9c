import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rawValues } from '../../../packages/dashboard/src/code/raw-json.js';
import {
  difference,
  readTestCases,
  type TestCase,
  testCasesText,
} from '../../../packages/dashboard/src/playground/test-cases.js';

const CASE: TestCase = {
  name: 'a "name"',
  agent: 'agent',
  stage: 'pre',
  step: '{"type": "tool", "input": {"n": 12345678901234567890.10, "step": [1, {"cases": "}"}]}}',
  expected: { outcome: 'deny', matches: ['no-card-numbers'] },
  revision: 7,
};

describe('a file of test cases', () => {
  it('can be read back, with all digits of the steps', () => {
    const cases = [CASE, { ...CASE, stage: 'post' as const, step: 'null' }, { ...CASE, step: '[]' }];
    expect(readTestCases(testCasesText(cases))).toEqual(cases);
  });

  it('can be read back for any step', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (step, name) => {
        const cases = [{ ...CASE, name, step: step.trim() }, CASE];
        expect(readTestCases(testCasesText(cases))).toEqual(cases);
      }),
    );
  });

  it('may have been written by hand', () => {
    const text = JSON.stringify(JSON.parse(testCasesText([CASE])), null, 4);
    const [read] = readTestCases(text);
    expect(JSON.parse(read?.step ?? '')).toEqual(JSON.parse(CASE.step));
    expect(read?.expected).toEqual(CASE.expected);
  });

  it.each([
    ['{', /^The file is not JSON/],
    ['[]', /^The file has no test cases/],
    ['{"format": "control-enforcement/test-cases/2", "cases": []}', /^The file has no test cases/],
    [testCasesText([CASE]).replace('"pre"', '"before"'), /^Case 1 of the file has no valid "stage"/],
    [testCasesText([CASE, CASE]).replace(/"step":.*(?=,"expected")/, '"stop":1'), /^Case 1 .* "step"/],
    [testCasesText([CASE]).replace('"deny"', '"ask"'), /^Case 1 of the file has no valid "expected"/],
    [testCasesText([CASE]).replace('["no-card-numbers"]', '[1]'), /^Case 1 .* "expected.matches"/],
  ])('that is not one is refused with a reason: %s', (text, reason) => {
    expect(() => readTestCases(text)).toThrow(reason);
  });
});

describe('raw values', () => {
  it('are the texts of the wanted members, wherever they are', () => {
    const text = '{ "a" : [ {"b" : 1.0}, {"b" : "x,\\"}" , "c": {"b": [ 1 ,2 ]}} ] , "b": true }';
    const found = rawValues(text, (path) => path.at(-1) === 'b');
    expect([...found]).toEqual([
      ['["a",0,"b"]', '1.0'],
      ['["a",1,"b"]', '"x,\\"}"'],
      ['["a",1,"c","b"]', '[ 1 ,2 ]'],
      ['["b"]', 'true'],
    ]);
  });
});

describe('the difference of verdicts', () => {
  it('names the outcome and the controls', () => {
    expect(difference(CASE.expected, CASE.expected)).toBeNull();
    expect(difference(CASE.expected, { outcome: 'allow', matches: ['watch', 'other'] })).toBe(
      'the outcome is allow, not deny; no match of no-card-numbers; a match of watch, other',
    );
  });
});
