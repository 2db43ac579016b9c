import { describe, expect, it } from 'vitest';
import { allTests, deviation, type SpecTest } from './conformance.support.js';
import { UNSUPPORTED } from './unsupported.support.js';

/** Parts of the specification that concern JSON; every other is a reason of its own in the list of what is unsupported. */
const SUPPORTED = [
  'basic',
  'bindings_ext',
  'comparisons',
  'conversions',
  'encoders_ext',
  'fields',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
  'macros2',
  'math_ext',
  'parse',
  'plumbing',
  'string',
  'string_ext',
  'timestamps',
  'type_deductions',
];

const suite = allTests();
const reasonOf = (one: SpecTest) => UNSUPPORTED.find((entry) => entry.includes(one));
const outcomes = new Map(suite.map((one) => [one, deviation(one)]));
const failed = (one: SpecTest) => (outcomes.get(one) ?? null) !== null;

describe('the conformance tests of the specification of CEL', () => {
  it.each(SUPPORTED)('pass in the part %s, but for those that are listed', (part) => {
    const tests = suite.filter((one) => one.path.startsWith(`${part}/`) && reasonOf(one) === undefined);
    const wrong = tests.filter(failed).map((one) => `${one.path}: ${outcomes.get(one)}`);
    expect(wrong).toEqual([]);
    expect(tests.length).toBeGreaterThan(0);
  });

  it('pass in all other parts, but for those that are listed', () => {
    expect(suite.filter((one) => reasonOf(one) === undefined && failed(one)).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it.each(UNSUPPORTED)('fail where it is listed that they do: $reason', (entry) => {
    const listed = suite.filter((one) => reasonOf(one) === entry);
    // A test that wants an error has one, whatever its reason is.
    const passing = listed.filter((one) => !failed(one) && !wantsError(one)).map(({ path }) => path);
    expect(passing).toEqual([]);
    expect(listed.some(failed)).toBe(true);
  });

  it('are these many', () => {
    const [passing, listed] = [suite.filter((one) => !failed(one)), suite.filter(failed)];
    expect({ tests: suite.length, passing: passing.length, listed: listed.length }).toMatchInlineSnapshot(`
      {
        "listed": 851,
        "passing": 1493,
        "tests": 2344,
      }
    `);
  });
});

function wantsError({ test }: SpecTest): boolean {
  const wanted = test.original.resultMatcher.case;
  return wanted === 'evalError' || wanted === 'anyEvalErrors';
}
