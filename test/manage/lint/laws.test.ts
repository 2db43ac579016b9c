import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Stage, Step } from '../../../src/kernel/core/types.js';
import { createDocumentSchema } from '../../../src/manage/configuration/document-schema.js';
import { LINT_RULES, type LintFinding } from '../../../src/manage/lint/lint-rules.js';
import { compileProgram } from '../../kernel/core/compile-program.js';
import { aGeneratedStage, aGeneratedStep, generatedControls } from '../../kernel/core/reference/generate.js';
import { generatedCases } from '../../support/generated-cases.js';
import { control, FACTS, leaf, links, lint, policy, registered, registry } from './support.js';

const schema = createDocumentSchema(registry);
const isValid = (document: unknown) => schema.safeParse(document).success;
const KNOWN = registered({
  name: 'generated-bot',
  labels: ['team=a'],
  steps: [
    { type: 'tool', name: 'search', input_schema: { type: 'object', properties: { q: { type: 'string' } } } },
    { type: 'llm', name: 'mail' },
  ],
});

/** Tells whether a control matches a step, or fails. */
function judge(definition: unknown): (step: Step, stage: Stage) => Promise<boolean | 'error'> {
  const controls = [{ id: 1, name: 'a', definition: definition as JsonObject }];
  const program = compileProgram(controls, { registry, newExecutionId: () => 'x' });
  return async (step, stage) => {
    const { errors, matches } = await program.evaluate(step, stage, 'full');
    return errors.length > 0 ? 'error' : matches.length > 0;
  };
}

/** What is said about the whole condition. */
const ofCondition = (findings: readonly LintFinding[], isLeaf: boolean) => {
  const fields = isLeaf
    ? /^data\.condition(\.evaluator\.config\.(pattern|expression|values))?$/
    : /^data\.condition$/;
  const told = (rule: string) => findings.some((one) => one.rule === rule && fields.test(one.field));
  return { isAlways: told('always-true'), isNever: told('never-true') };
};

const NAMES = ['search', 'mail', 'drop\ntable'];
const INPUTS: readonly JsonValue[] = [
  ...['', '\n', 'a', 'a\nb', 'x"y', {}, [], { x: 5 }, { x: 4, y: 'a' }, { x: 'x"y' }, ['a', '\n']],
];
const someLeaf = fc.oneof(
  fc
    .record({
      path: fc.constantFrom('*', 'input', 'input.x', 'name', 'type', 'output'),
      pattern: fc.constantFrom(
        '',
        '.*',
        '.+',
        '^.*$',
        '(?s)^.*$',
        '\\n',
        'a',
        'a^b',
        '^x',
        'x"y',
        '^',
        '\\b',
        '$a',
      ),
    })
    .map(({ path, pattern }) => leaf('regex', { pattern }, path)),
  fc
    .record({
      path: fc.constantFrom('name', 'type', 'input'),
      values: fc.subarray(['search', 'mail', 'MAIL', 'tool', 'a']),
      case_sensitive: fc.boolean(),
      match_on: fc.constantFrom('match', 'match', 'no_match'),
    })
    .map(({ path, ...config }) => leaf('list', config, path)),
  fc
    .record({
      expression: fc.constantFrom(
        ...[
          'input.x > 4',
          'input.x < 5',
          'input.x == 5',
          "name == 'search'",
          "name != 'search'",
          "stage == 'pre'",
        ],
        ...["type in ['tool']", 'true', 'input.x > 5 && input.x < 3', "input.x != 4 || input.x != 'a'"],
      ),
      on_missing: fc.constantFrom('error', 'no_match', 'match'),
    })
    .map((config) => leaf('cel', config, '*')),
);
const condition = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    someLeaf,
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
    tie('node').map((not) => ({ not })),
    // Opposites are rare by chance.
    fc
      .tuple(tie('node'), fc.constantFrom('and', 'or'))
      .map(([one, kind]) => ({ [kind]: [{ not: one }, one] })),
  ),
})).node;
const scope = fc.record(
  {
    stages: fc.constantFrom(['pre'], ['post'], ['pre', 'post']),
    step_names: fc.subarray(NAMES, { minLength: 1 }),
    step_types: fc.constantFrom(['tool'], ['llm', 'tool']),
  },
  { requiredKeys: [] },
);
const isInScope = (of: unknown, { name, type }: Step, stage: Stage): boolean => {
  const {
    stages,
    step_names: names,
    step_types: types,
  } = of as Partial<Record<string, readonly string[] | null>>;
  return [
    [stages, stage],
    [names, name],
    [types, type],
  ].every(([all, one]) => (all ?? [one]).includes(one as string));
};

/** Each case takes some milliseconds. */
const casesOf = (all: number): number => generatedCases(all, 1 / 8);

describe('lint', () => {
  it('never throws for documents that can be read, and places every finding in one of them', async () => {
    let findings = 0;
    const links_ = fc.subarray(['c0', 'c1', 'c2'], { minLength: 0 });
    await fc.assert(
      fc.asyncProperty(generatedControls, links_, links_, async (controls, own, ofPolicy) => {
        const documents = [
          ...controls.map(({ definition }, at) => ({ kind: 'Control', name: `c${at}`, data: definition })),
          policy('p', ofPolicy, { agent_labels: ['team=a'] }),
          links('generated-bot', own),
        ].filter(isValid);
        for (const one of await lint(documents, KNOWN)) {
          findings += 1;
          expect(Object.keys(LINT_RULES)).toContain(one.rule);
          expect(documents[one.document]).toBeDefined();
          expect(one.message).not.toBe('');
        }
      }),
      { numRuns: casesOf(300) },
    );
    expect(findings).toBeGreaterThan(100);
  });

  it('never says always or never of a control that the core decides otherwise for some step', async () => {
    const numRuns = casesOf(1_500);
    const seen = { always: 0, never: 0 };
    const inputs = INPUTS.flatMap((input) => NAMES.map((name) => ({ input, name })));
    const cases = inputs.flatMap(({ input, name }): [Step, Stage][] => [
      [{ type: 'tool', name, input, output: null, context: null }, 'pre'],
      [{ type: 'llm', name, input, output: 'a', context: null }, 'post'],
    ]);
    await fc.assert(
      fc.asyncProperty(condition, fc.oneof(fc.constant({}), scope), async (one, of) => {
        const document = control('a', one, { scope: of });
        const { isAlways, isNever } = ofCondition(await lint([document]), 'selector' in one);
        if (!isAlways && !isNever) return;
        seen.always += isAlways ? 1 : 0;
        seen.never += isNever ? 1 : 0;
        const matches = judge(document.data);
        for (const [step, stage] of cases) {
          const matched = await matches(step, stage);
          if (isNever) expect(matched).not.toBe(true);
          if (isAlways && isInScope(of, step, stage)) expect(matched).not.toBe(false);
        }
      }),
      { numRuns },
    );
    expect(seen.always).toBeGreaterThan(numRuns / 100);
    expect(seen.never).toBeGreaterThan(numRuns / 10);
  });

  it('never says so of the controls of the reference either', async () => {
    const numRuns = casesOf(450);
    let told = 0;
    const steps = fc.array(fc.tuple(aGeneratedStep, aGeneratedStage), { minLength: 5, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(generatedControls, steps, async (controls, some) => {
        for (const { definition } of controls) {
          const document = { kind: 'Control', name: 'a', data: definition };
          if (!isValid(document) || (definition as JsonObject).enabled === false) continue;
          const findings = await lint([document], { ...FACTS, isEachAlone: true });
          const { isAlways, isNever } = ofCondition(findings, false);
          if (!isAlways && !isNever) continue;
          told += 1;
          const matches = judge(definition);
          for (const [step, stage] of some) {
            // Before a step runs, it has no output.
            const matched = await matches(stage === 'pre' ? { ...step, output: null } : step, stage);
            if (isNever) expect(matched).not.toBe(true);
            // Clients evaluate other controls.
            const { execution, scope: of = {} } = definition as JsonObject;
            if (isAlways && execution === 'server' && isInScope(of ?? {}, step, stage)) {
              expect(matched).not.toBe(false);
            }
          }
        }
      }),
      { numRuns },
    );
    expect(told).toBeGreaterThan(numRuns / 50);
  });
});
