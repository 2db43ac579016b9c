import { describe, expect, it } from 'vitest';
import { type CaseFile, expectVerdict, readCaseFiles } from '../../support/evaluation-cases.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { compileProgram } from './compile-program.js';

const files = readCaseFiles();

function programOf(content: CaseFile) {
  let executions = 0;
  return compileProgram(
    content.controls.map(({ name, data }, index) => ({ id: index + 1, name, definition: data })),
    {
      registry: serviceRegistry,
      newExecutionId: () => {
        executions += 1;
        return `execution-${executions}`;
      },
    },
  );
}

describe.each(files)('cases of $file', (content) => {
  const program = programOf(content);
  it.each(content.evaluations.map((evaluation, index) => ({ ...evaluation, index })))(
    `${content.name} [$index] at $stage`,
    ({ step, stage, expect: expected }) => {
      const complete = { ...step, output: step.output ?? null, context: step.context ?? null };
      const verdict = program.evaluate(complete, stage, 'full');
      if (verdict instanceof Promise) throw new Error('no evaluator of the service is asynchronous');
      expectVerdict(verdict, expected, 'full');
    },
  );
});

describe('the case files', () => {
  it('hold at least 70 evaluations, with names that can be created', () => {
    const evaluations = files.flatMap((file) => file.evaluations);
    expect(evaluations.length).toBeGreaterThanOrEqual(70);
    for (const { controls } of files) {
      const names = controls.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9_-]*$/);
    }
  });
});
