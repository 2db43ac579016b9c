import { type JsonValue, parseJson } from '../../exact-json/src/index.js';
import { type CelResult, type CelType, compileExpression, type VariableTypes } from '../src/index.js';

export const ANY: CelType = { kind: 'any' };
export const NOW = Date.parse('2030-05-06T07:08:09.5Z');

/** Types of the variables that tests use: `input` of a known object, `x` and `y` of anything. */
export const VARIABLES: VariableTypes = new Map<string, CelType>([
  [
    'input',
    {
      kind: 'object',
      open: false,
      members: new Map([
        ['amount', { type: { kind: 'number' }, required: true }],
        ['to', { type: { kind: 'string' }, required: true, description: 'The receiver.' }],
        ['tags', { type: { kind: 'list', item: { kind: 'string' } }, required: false }],
        ['urgent', { type: { kind: 'bool' }, required: false }],
        ['extra', { type: { kind: 'object', open: true, members: new Map() }, required: false }],
      ]),
    },
  ],
  ['name', { kind: 'string' }],
  ['stage', { kind: 'string' }],
  ['x', ANY],
  ['y', ANY],
]);

/** Evaluates an expression with the values of `x` and `y` from the text of JSON. */
export function evaluate(text: string, x = 'null', y = 'null'): CelResult {
  const compiled = compileExpression(text, { variables: VARIABLES, strictTypes: true });
  const names = [...VARIABLES.keys()];
  const given: Record<string, JsonValue> = { x: parseJson(x), y: parseJson(y), name: 'send', stage: 'pre' };
  return compiled.evaluate({ variable: (index) => given[names[index] ?? ''] ?? null }, () => NOW);
}
