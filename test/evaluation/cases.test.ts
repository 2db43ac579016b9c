import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileProgram } from '../../src/evaluation/compile.js';
import type { ControlResult, Stage, Verdict } from '../../src/evaluation/types.js';
import { builtinEvaluators, createRegistry } from '../../src/evaluators/registry.js';
import type { JsonObject, JsonValue } from '../../src/json/json-value.js';

interface Expectation {
  readonly is_safe: boolean;
  readonly confidence: number;
  /** `any` for any non-empty text. */
  readonly reason: null | 'any';
  readonly matches: readonly string[];
  readonly errors: readonly string[];
  readonly non_matches: readonly string[];
  /** Members that the condition trace of a control has, by control name. */
  readonly trace?: Readonly<Record<string, JsonObject>>;
  /** Members that the metadata of a control have, by control name. */
  readonly metadata?: Readonly<Record<string, JsonObject>>;
}

interface CaseFile {
  readonly name: string;
  readonly controls: readonly { readonly name: string; readonly data: JsonObject }[];
  readonly evaluations: readonly {
    readonly step: {
      readonly type: string;
      readonly name: string;
      readonly input: JsonValue;
      readonly output?: JsonValue;
      readonly context?: JsonObject | null;
    };
    readonly stage: Stage;
    readonly expect: Expectation;
  }[];
}

const directory = new URL('../cases/', import.meta.url);
const files = readdirSync(directory)
  .filter((file) => file.endsWith('.json'))
  .map((file) => ({
    file,
    content: JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as CaseFile,
  }));

function programOf(content: CaseFile) {
  let executions = 0;
  return compileProgram(
    content.controls.map(({ name, data }, index) => ({ id: index + 1, name, definition: data })),
    {
      registry: createRegistry(builtinEvaluators),
      newExecutionId: () => {
        executions += 1;
        return `execution-${executions}`;
      },
    },
  );
}

function checkVerdict(verdict: Verdict, expected: Expectation): void {
  const names = (items: readonly ControlResult[]) => items.map(({ control_name }) => control_name);
  expect({
    is_safe: verdict.is_safe,
    confidence: verdict.confidence,
    reason: verdict.reason ? 'any' : verdict.reason,
    matches: names(verdict.matches),
    errors: names(verdict.errors),
    non_matches: names(verdict.non_matches),
  }).toEqual({
    is_safe: expected.is_safe,
    confidence: expected.confidence,
    reason: expected.reason,
    matches: expected.matches,
    errors: expected.errors,
    non_matches: expected.non_matches,
  });
  const all = [...verdict.matches, ...verdict.errors, ...verdict.non_matches];
  const metadataOf = (name: string) => all.find((item) => item.control_name === name)?.result.metadata;
  for (const [name, members] of Object.entries(expected.metadata ?? {})) {
    expect(metadataOf(name)).toMatchObject(members);
  }
  for (const [name, members] of Object.entries(expected.trace ?? {})) {
    expect(metadataOf(name)?.condition_trace).toMatchObject(members);
  }
}

describe.each(files)('cases of $file', ({ content }) => {
  const program = programOf(content);
  it.each(content.evaluations.map((evaluation, index) => ({ ...evaluation, index })))(
    `${content.name} [$index] at $stage`,
    ({ step, stage, expect: expected }) => {
      const complete = { ...step, output: step.output ?? null, context: step.context ?? null };
      const verdict = program.evaluate(complete, stage, 'full');
      if (verdict instanceof Promise) throw new Error('no evaluator of the service is asynchronous');
      checkVerdict(verdict, expected);
    },
  );
});

describe('the case files', () => {
  it('hold at least 70 evaluations, with names that can be created', () => {
    const evaluations = files.flatMap(({ content }) => content.evaluations);
    expect(evaluations.length).toBeGreaterThanOrEqual(70);
    for (const { content } of files) {
      const names = content.controls.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_-]*$/);
    }
  });
});
