import type { Run } from './run.js';
import type { CelType } from './types.js';
import type { Value } from './values.js';

/** The parameter and result types of one overload; `T` is the type of the items of the first list. */
export interface Signature {
  readonly name: string;
  readonly isMethod: boolean;
  /** The target of a method is the first. */
  readonly params: readonly CelType[];
  /** Whether the last parameter may occur any number of times. */
  readonly isVariadic: boolean;
  readonly result: CelType;
  /** As written. */
  readonly text: string;
}

export const ANY: CelType = { kind: 'any' };
export const BOOL: CelType = { kind: 'bool' };
export const STRING: CelType = { kind: 'string' };
/** Stands for the item type of a list in a signature. */
export const ITEM: CelType = { kind: 'any' };

const SIMPLE = [
  'any',
  'null',
  'bool',
  'int',
  'uint',
  'double',
  'number',
  'string',
  'bytes',
  'timestamp',
  'duration',
  'ip',
  'cidr',
  'type',
] as const;
const NAMED: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...SIMPLE.map((kind): [string, CelType] => [kind, kind === 'any' ? ANY : { kind }]),
  ['T', ITEM],
  ['list', { kind: 'list', item: ANY }],
  ['list<T>', { kind: 'list', item: ITEM }],
  ['list<string>', { kind: 'list', item: STRING }],
  ['list<bytes>', { kind: 'list', item: { kind: 'bytes' } }],
  ['map', { kind: 'map', value: ANY }],
]);

/**
 * Reads `target.name(param, …): result` or `name(param, …): result`, of this package's own tables. `math::abs(number): number`
 * is the function `math.abs`, `string.size(): int` a method of strings.
 */
export function readSignature(text: string): Signature {
  const open = text.indexOf('(');
  const close = text.lastIndexOf('):');
  const head = text.slice(0, open).replace('::', '/');
  const dot = head.lastIndexOf('.');
  const isMethod = dot > 0;
  const listed = text
    .slice(open + 1, close)
    .split(', ')
    .filter((param) => param !== '');
  const names = [
    ...(isMethod ? [head.slice(0, dot)] : []),
    ...listed.map((param) => param.replace('...', '')),
  ];
  return {
    name: isMethod ? head.slice(dot + 1) : head.replace('/', '.'),
    isMethod,
    params: names.map(typeNamed),
    isVariadic: listed.at(-1)?.startsWith('...') === true,
    result: typeNamed(text.slice(close + 2).trim()),
    text: text.replace('::', '.'),
  };
}

function typeNamed(name: string): CelType {
  const type = NAMED.get(name);
  if (type === undefined) throw new Error(`a signature names the unknown type ${name}`);
  return type;
}

/**
 * Computes a call; the target of a method is the first argument, arguments of a variadic function are one list. Undefined if
 * it takes no arguments of these kinds. Counts its work in `run`.
 */
export type Implementation = (run: Run, a: Value, b: Value, c: Value, d: Value) => Value | undefined;

/** A function with its overloads. */
export interface FunctionDefinition {
  /** See `readSignature`. All have the same name. */
  readonly signatures: readonly string[];
  /** One sentence for completion and documentation. */
  readonly documentation: string;
  readonly call: Implementation;
}

/** Defines a function. */
export function define(
  signatures: string | readonly string[],
  documentation: string,
  call: Implementation,
): FunctionDefinition {
  return { signatures: typeof signatures === 'string' ? [signatures] : signatures, documentation, call };
}
