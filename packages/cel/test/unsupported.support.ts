import type { SpecTest } from './conformance.support.js';

/** Tests of the specification that this package does not pass, with the reason. */
export interface Unsupported {
  readonly reason: string;
  /** Whether a test is one of them. */
  includes(test: SpecTest): boolean;
}

const inSections = (...sections: readonly string[]) => {
  const prefixes = sections.map((section) => `${section}/`);
  return ({ path }: SpecTest) => prefixes.some((prefix) => path.startsWith(prefix));
};
const writing =
  (pattern: RegExp) =>
  ({ test }: SpecTest) =>
    pattern.test(test.original.expr);
const tests = (...paths: readonly string[]) => {
  const known = new Set(paths);
  return ({ path }: SpecTest) => known.has(path);
};

/** In this order: the first that includes a test is its reason. */
export const UNSUPPORTED: readonly Unsupported[] = [
  {
    reason: 'Messages of protobuf: values are JSON.',
    includes: writing(
      /\b(?:TestAllTypes|NestedTestAllTypes|TestRequired|google\.protobuf\.\w+)\s*(?:\/\/[^\n]*\n)?\s*\{/,
    ),
  },
  {
    reason: 'A variable or a result is a message of protobuf.',
    includes: ({ path, test }) =>
      /^(?:dynamic|proto2|proto3|proto2_ext|wrappers)\//.test(path) ||
      (path.startsWith('type_deductions/') && /\bmsg\b/.test(test.original.expr)),
  },
  { reason: 'Enums of protobuf: values are JSON.', includes: inSections('enums') },
  {
    reason:
      'Optional values: the parser has no syntax for them (`.?`, `[?`); `has` and on_missing do the same.',
    includes: writing(/\boptional\.|\.\?|\[\?|\{\?/),
  },
  { reason: 'cel.block is made by compilers, not written.', includes: inSections('block_ext') },
  {
    reason: 'format: an expression has a bool as its result, and nothing to print.',
    includes: writing(/\.format\(/),
  },
  { reason: 'Names in back quotes: the parser has none; x["name"] is the same.', includes: writing(/\.`/) },
  {
    reason: 'Names with dots, and containers: variables have plain names.',
    includes: (one) =>
      inSections('namespace')(one) || (inSections('fields')(one) && one.test.original.expr === 'a.b.c'),
  },
  {
    reason: 'An unknown name is an error when an expression is compiled, not when it is evaluated.',
    includes: (one) =>
      inSections('parse/receiver_function_names')(one) ||
      tests('basic/variables/unbound_is_runtime_error', 'basic/functions/unbound_is_runtime_error')(one),
  },
  {
    reason: 'Functions of a test.',
    includes: (one) =>
      inSections('type_deductions/type_parameters')(one) ||
      tests('type_deductions/functions/function_result_type')(one),
  },
  {
    reason:
      'The specification rounds integers to doubles to compare them with doubles; here they are compared exactly.',
    includes: tests(
      'comparisons/lt_literal/not_lt_dyn_int_big_lossy_double',
      'comparisons/gt_literal/not_gt_dyn_big_double_int',
      'comparisons/lte_literal/lte_dyn_big_double_int',
      'comparisons/gte_literal/gte_dyn_int_big_lossy_double',
    ),
  },
  {
    reason: 'A whole number of JSON may be a double: its rounding is itself, no error.',
    includes: tests(
      'math_ext/ceil/dyn_error',
      'math_ext/floor/dyn_error',
      'math_ext/round/dyn_error',
      'math_ext/trunc/dyn_error',
    ),
  },
  {
    reason: 'The test demands a type only; its evaluation fails in every implementation.',
    includes: tests('type_deductions/flexible_type_parameter_assignment/unconstrained_type_var_as_dyn'),
  },
];
