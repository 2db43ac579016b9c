/** Building blocks of hostile definitions and data. */

export function deny(condition: object, more: object = {}): object {
  return { execution: 'server', condition, action: { decision: 'deny' }, ...more };
}

export function leaf(name: string, config: object): object {
  return { selector: { path: 'input' }, evaluator: { name, config } };
}

export const regex = (pattern: string, flags: string[] = []) => deny(leaf('regex', { pattern, flags }));
export const list = (config: object) => deny(leaf('list', config));
export const json = (config: object) => deny(leaf('json', config));
export const schema = (given: object) => json({ json_schema: given });

export function input(value: unknown): object {
  return { type: 'llm', name: 'answer', input: value };
}

export function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function members<T>(count: number, name: (index: number) => string, value: (index: number) => T) {
  return Object.fromEntries(many(count, (index) => [name(index), value(index)]));
}

/** `{"a":{"a":…}}` */
export function nest(levels: number, innermost: unknown = 1): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

/** A schema or condition inside `not` inside `not` … */
export function negated(levels: number, innermost: object): object {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = { not: value };
  return value;
}

/** The body of an evaluation whose input is given as text, for JSON that `JSON.stringify` does not write. */
export function evaluationBody(inputText: string): string {
  return `{"agent_name":"ordinary-agent","stage":"pre","step":{"type":"llm","name":"answer","input":${inputText}}}`;
}
