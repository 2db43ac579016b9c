import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LIBRARY } from '../packages/cel/src/library.js';
import { type JsonObject, parseJson, stringifyJson } from '../packages/exact-json/src/index.js';
import { findUp } from '../src/contract/runtime/package-root.js';
import { celEvaluator } from '../src/kernel/evaluators/cel/cel.js';
import { FULL_CALL } from './support/check-call.js';
import { serviceEvaluators } from './support/evaluators.js';
import { restClient } from './support/http.js';
import { seeder } from './support/seed.js';
import { suiteService } from './support/service-suite.js';

const FILE = findUp('docs/controls.md');
const PAGE = readFileSync(FILE, 'utf8');
const NAMES = ['regex', 'list', 'json', 'cel', 'sql'];
const MEMORY_FILE = findUp('docs/memory.md');
const MEMORY_NAMES = ['rate', 'budget', 'concurrency', 'loop', 'history'];
const CEL_FILE = findUp('docs/cel.md');
const CEL_PAGE = readFileSync(CEL_FILE, 'utf8');

interface Option {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Option[];
}

/** What an option may be, in words. */
function typeOf({ type, enum: values, anyOf }: Option): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  return Array.isArray(type) ? type.join(' or ') : String(type);
}

/** The table of the options of an evaluator, from its schema. */
function optionsTable(name: string): string {
  const schema = serviceEvaluators.find((one) => one.name === name)?.configJsonSchema as
    | { properties: Record<string, Option>; required?: string[] }
    | undefined;
  const rows = Object.entries(schema?.properties ?? {}).map(([option, of]) => {
    const required = schema?.required?.includes(option) === true ? ', required' : '';
    return `| \`${option}\` | ${typeOf(of)}${required} | ${of.description ?? ''} |`;
  });
  return ['| Option | Type | Meaning |', '|---|---|---|', ...rows].join('\n');
}

it.each([
  { page: 'docs/controls.md', file: FILE, names: NAMES },
  { page: 'docs/memory.md', file: MEMORY_FILE, names: MEMORY_NAMES },
])('$page has the options that the evaluators have', async ({ file, names }) => {
  let current = readFileSync(file, 'utf8');
  for (const name of names) {
    const place = new RegExp(`(<!-- options of ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    expect(current).toMatch(place);
    current = current.replace(place, (_all, start, end) => `${start}\n${optionsTable(name)}\n\n${end}`);
  }
  await expect(current, 'run "npm run generate:settings"').toMatchFileSnapshot(file);
});

it('docs/cel.md has the functions that expressions have', async () => {
  const rows = [...LIBRARY.values()].map(({ signatures, documentation }) => {
    const shown = signatures.map(({ text }) => `\`${text.replace('::', '.').replaceAll('|', '\\|')}\``);
    return `| ${shown.join('<br>')} | ${documentation} |`;
  });
  const table = ['| Function | Result |', '|---|---|', ...rows].join('\n');
  const place = /(<!-- functions of cel -->\n)[\s\S]*?(<!-- end -->)/;
  expect(CEL_PAGE).toMatch(place);
  const current = CEL_PAGE.replace(place, (_all, start, end) => `${start}\n${table}\n\n${end}`);
  await expect(current, 'run "npm run generate:settings"').toMatchFileSnapshot(CEL_FILE);
});

/** The expressions of docs/cel.md, with their results for some inputs: a boolean, or an error. */
const EXPRESSIONS = [...CEL_PAGE.matchAll(/```cel\n([\s\S]*?)\n```\s*```json results\n([\s\S]*?)```/g)].map(
  ({ 1: expression = '', 2: results = '' }) => ({
    expression,
    results: parseJson(results) as { readonly input: JsonObject; readonly result: boolean | string }[],
  }),
);

describe('the expressions of docs/cel.md', () => {
  it('all have results', () => {
    expect(CEL_PAGE.match(/```cel/g)).toHaveLength(EXPRESSIONS.length);
  });

  it.each(EXPRESSIONS)('have the results that the page says: $expression', ({ expression, results }) => {
    const check = celEvaluator.compile({ expression });
    for (const { input, result } of results) {
      const step = { ...FULL_CALL.step, input };
      const call = { ...FULL_CALL, step, nowMs: () => Date.UTC(2026, 10, 26) };
      const expected = typeof result === 'boolean' ? { matched: result, error: null } : { error: result };
      expect(check.evaluate(null, call), stringifyJson(input)).toMatchObject(expected);
    }
  });
});

interface Sample {
  readonly stage?: 'pre' | 'post';
  readonly step: JsonObject;
  readonly outcome: 'allow' | 'deny' | 'steer';
}

/** Every control of the page with its steps, by the heading above it. */
const EXAMPLES = [...PAGE.matchAll(/```json control\n([\s\S]*?)```\s*```json steps\n([\s\S]*?)```/g)].map(
  ({ 1: control = '', 2: steps = '', index }) => ({
    heading:
      PAGE.slice(0, index)
        .match(/^## .*$/gm)
        ?.at(-1)
        ?.slice(3) ?? '',
    control: JSON.parse(control) as JsonObject,
    samples: JSON.parse(steps) as readonly Sample[],
  }),
);

describe('the controls of docs/controls.md', () => {
  const service = suiteService();

  it('have an example for each section about them', () => {
    expect(PAGE.match(/```json control/g)).toHaveLength(EXAMPLES.length);
    expect(EXAMPLES.map(({ heading }) => heading)).toEqual(expect.arrayContaining(NAMES));
  });

  it.each(EXAMPLES)('do what the page says: $heading', async ({ heading, control, samples }) => {
    const call = restClient(service.url);
    const seed = seeder(call);
    const name = heading.toLowerCase().replaceAll(/[^a-z]+/g, '-');
    const agent = `page-agent-${name}`;
    await seed.agent(agent);
    const made = await call('PUT', '/api/v1/controls', { name: `page-${name}`, data: control });
    expect(made.status).toBe(200);
    // No agent has registered schemas of these steps.
    const codes = made.body.warnings.map((warning: { code: string }) => warning.code);
    expect(codes.filter((code: string) => code !== 'untyped_expression')).toEqual([]);
    await seed.link(agent, made.body.control_id);
    for (const { stage = 'pre', step, outcome } of samples) {
      const { body } = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage, step });
      const found = body.is_safe ? 'allow' : body.matches[0]?.action === 'steer' ? 'steer' : 'deny';
      expect([step, found]).toEqual([step, outcome]);
    }
  });
});
