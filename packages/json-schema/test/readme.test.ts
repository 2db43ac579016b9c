import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import * as jsonSchema from '../src/index.js';

const PACKAGE = path.resolve(import.meta.dirname, '..');
const readme = readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? '';

it('the README prints what it says', () => {
  const lines: string[] = [];
  const print = (...values: unknown[]) =>
    lines.push(values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' '));
  const [imports = '', ...rest] = block('ts').split('\n\n');
  const names = /\{([^}]*)\}/.exec(imports)?.[1] ?? '';
  new Function('jsonSchema', 'console', `const {${names}} = jsonSchema;\n${rest.join('\n')}`)(jsonSchema, {
    log: print,
  });
  expect(`${lines.join('\n')}\n`).toBe(block('text'));
});

it('the README names every public value', () => {
  for (const name of Object.keys(jsonSchema)) expect(readme).toContain(`\`${name}`);
});
