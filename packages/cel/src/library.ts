import { CONVERSIONS } from './conversions.js';
import { ENCODERS } from './encoders.js';
import { LIST_FUNCTIONS } from './list-functions.js';
import { MATH_FUNCTIONS } from './math-functions.js';
import { NETWORK_FUNCTIONS } from './network-functions.js';
import { type FunctionDefinition, type Implementation, readSignature, type Signature } from './signatures.js';
import { STRING_FUNCTIONS } from './string-functions.js';
import { TIME_FUNCTIONS } from './time-functions.js';

/** A function or method by one name, with all its overloads. */
export interface LibraryFunction {
  readonly name: string;
  readonly isMethod: boolean;
  readonly signatures: readonly Signature[];
  readonly documentation: string;
  /** One for each definition with this name; the first that takes the arguments computes the call. */
  readonly implementations: readonly Implementation[];
}

/** `matches` is no entry of a table: its pattern is compiled with the expression. */
const MATCHES = ['string.matches(string): bool', 'matches(string, string): bool'];

const DEFINITIONS: readonly FunctionDefinition[] = [
  ...STRING_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...CONVERSIONS,
  ...NETWORK_FUNCTIONS,
  ...ENCODERS,
  ...MATCHES.map((signature) => ({
    signatures: [signature],
    documentation: 'Whether a pattern of RE2, which must be a constant text, occurs in the text.',
    call: () => undefined,
  })),
];

/** All functions, by `keyOf`. */
export const LIBRARY: ReadonlyMap<string, LibraryFunction> = collect();

/** Functions in a namespace: a call of `math.abs(x)` looks like that of a method. */
const QUALIFIED = new Set(
  [...LIBRARY.values()]
    .filter(({ name, isMethod }) => !isMethod && name.includes('.'))
    .map(({ name }) => name),
);

function collect(): Map<string, LibraryFunction> {
  const found = new Map<string, LibraryFunction>();
  for (const { signatures, documentation, call } of DEFINITIONS) {
    const read = signatures.map(readSignature);
    const [first] = read;
    if (first === undefined) continue;
    const key = keyOf(first.name, first.isMethod);
    const before = found.get(key);
    found.set(key, {
      name: first.name,
      isMethod: first.isMethod,
      signatures: [...(before?.signatures ?? []), ...read],
      documentation: before?.documentation ?? documentation,
      implementations: [...(before?.implementations ?? []), call],
    });
  }
  return found;
}

/** The key of a function in `LIBRARY`: methods have a dot before their name. */
export function keyOf(name: string, isMethod: boolean): string {
  return isMethod ? `.${name}` : name;
}

export function isQualifiedFunction(name: string): boolean {
  return QUALIFIED.has(name);
}
