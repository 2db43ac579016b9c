import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import {
  getConformanceSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from '@bufbuild/cel-spec/testdata/tests.js';
import { createRegistry } from '@bufbuild/protobuf';
import { anyUnpack, DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { areEqual } from '../src/equality.js';
import { compileExpression, ExpressionError, inspectExpression } from '../src/index.js';
import { Run } from '../src/run.js';
import type { CelType, CelValues } from '../src/types.js';
import {
  CelBytes,
  CelDuration,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  doubleValue,
  kindOf,
  type MapKey,
  mapKeyOf,
  plainInt,
  type Value,
} from '../src/values.js';

/** A test of the specification, under its path `file/section/name`. */
export interface SpecTest {
  readonly path: string;
  readonly test: IncrementalTest;
}

/** All conformance tests of the specification of CEL. */
export function allTests(): SpecTest[] {
  const collect = (suite: IncrementalTestSuite, path: string): SpecTest[] => [
    ...suite.tests.map((test) => ({ path: `${path}${test.name}`, test })),
    ...suite.suites.flatMap((inner) => collect(inner, `${path}${inner.name}/`)),
  ];
  return collect(getConformanceSuite(), '');
}

const wellKnown = createRegistry(TimestampSchema, DurationSchema);

/** A value of the specification as one of this package; throws for messages and enums, which are unsupported. */
export function specValue({ kind }: SpecValue): Value {
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'stringValue':
      return kind.value;
    case 'int64Value':
      return plainInt(kind.value);
    case 'uint64Value':
      return new CelUint(kind.value);
    case 'doubleValue':
      return doubleValue(kind.value);
    case 'bytesValue':
      return new CelBytes(kind.value);
    case 'typeValue':
      return new CelTypeValue(kind.value);
    case 'listValue':
      return kind.value.values.map(specValue);
    case 'mapValue': {
      const entries = kind.value.entries.map(({ key, value }): [MapKey, [Value, Value]] => {
        if (key === undefined || value === undefined) throw new Error('an entry lacks a part');
        const read = specValue(key);
        return [mapKeyOf(read) as MapKey, [read, specValue(value)]];
      });
      return new CelMap(new Map(entries));
    }
    case 'objectValue': {
      const message = anyUnpack(kind.value, wellKnown);
      if (message === undefined) throw new Error(`the message ${kind.value.typeUrl} is unsupported`);
      const { seconds, nanos } = message as unknown as { seconds: bigint; nanos: number };
      if (kind.value.typeUrl.endsWith('Timestamp')) return new CelTimestamp(Number(seconds), nanos);
      return new CelDuration(seconds * 1_000_000_000n + BigInt(nanos));
    }
    default:
      throw new Error(`values of ${kind.case} are unsupported`);
  }
}

/** Null if an expression has the result that the specification demands; otherwise what it has instead. */
export function deviation({ test }: SpecTest): string | null {
  const { original } = test;
  const names = Object.keys(original.bindings);
  const any: CelType = { kind: 'any' };
  const variables = new Map(names.map((name): [string, CelType] => [name, any]));
  const { resultMatcher, expr, disableCheck } = original;
  const wantsError = resultMatcher.case === 'evalError' || resultMatcher.case === 'anyEvalErrors';
  try {
    const values = names.map((name) => bindingOf(original.bindings[name]));
    const { problems } = inspectExpression(expr, variables);
    const rejected = problems.filter(({ code }) => code === 'type' || code === 'unknown_member');
    if (rejected.length > 0 && !disableCheck) return wantsError ? null : String(rejected[0]?.message);
    const compiled = compileExpression(expr, { variables, strictTypes: false });
    const given: CelValues = { variable: (index) => values[index] as ReturnType<CelValues['variable']> };
    const result = compiled.evaluate(given, () => 0);
    if (!result.ok) return wantsError ? null : `error: ${result.error}`;
    const value = result.value as Value;
    if (wantsError) return `a value of ${kindOf(value)} instead of an error`;
    const wanted = wantedValue(original);
    if (wanted === undefined) return null;
    return isSame(value, wanted) ? null : `${kindOf(value)} ${String(value)}`;
  } catch (error) {
    if (error instanceof ExpressionError && wantsError) return null;
    return error instanceof Error ? error.message : String(error);
  }
}

/** The value that a test demands; undefined for one that demands a type only. */
function wantedValue({ resultMatcher }: IncrementalTest['original']): Value | undefined {
  if (resultMatcher.case === 'value') return specValue(resultMatcher.value);
  if (resultMatcher.case !== 'typedResult') return true;
  return resultMatcher.value.result === undefined ? undefined : specValue(resultMatcher.value.result);
}

function bindingOf(binding: IncrementalTest['original']['bindings'][string] | undefined): Value {
  if (binding?.kind.case !== 'value') throw new Error('a variable is bound to no value');
  return specValue(binding.kind.value);
}

function isSame(value: Value, wanted: Value): boolean {
  const run = new Run(0, 0);
  const isNan = (one: Value) => typeof one === 'number' && Number.isNaN(one);
  if (isNan(value) && isNan(wanted)) return true;
  return kindOf(value) === kindOf(wanted) && areEqual(run, value, wanted);
}
