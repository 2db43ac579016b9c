import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import { outcomeOf } from '../../../src/decide/decisions/revised-verdict.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import type { StepMemory } from '../../../src/kernel/core/memory.js';
import type { ControlResult, Verdict } from '../../../src/kernel/core/types.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import type { ConditionExplanation } from '../../../src/observe/explain/condition-explanation.js';
import { MAX_EXPLAINED_CONTROLS } from '../../../src/observe/explain/explain-schema.js';
import { MAX_EXPLAINED_NODES } from '../../../src/observe/explain/explanation.js';
import { type Trial, tryStep } from '../../../src/observe/explain/trial.js';
import { compileProgram } from '../../kernel/core/compile-program.js';
import {
  FakeMemory,
  IDENTITY,
  kept,
  EVALUATORS as MEMORY_EVALUATORS,
} from '../../kernel/core/memory/support.js';
import {
  aGeneratedStage,
  aGeneratedStep,
  EVALUATORS,
  generatedControls,
} from '../../kernel/core/reference/generate.js';
import { aDefinition, aLeaf, aResult, aStep, fakeEvaluator } from '../../kernel/core/support.js';
import { serviceEvaluators } from '../../support/evaluators.js';

/** Tries definitions, or texts that are stored as they are, with ids 1, 2 …; newest first, as they come. */
function attempt(
  stored: readonly (JsonValue | { readonly text: string })[],
  trial: Partial<Trial> = {},
  evaluators: readonly Evaluator[] = [],
  now = () => 0,
  memory?: StepMemory,
) {
  const registry = createRegistry([...serviceEvaluators, ...evaluators]);
  const rows = stored.map((one, index) => ({
    id: index + 1,
    name: `control-${index + 1}`,
    data: isText(one) ? one.text : stringifyJson(one as JsonValue),
  }));
  return tryStep(
    rows.reverse(),
    {
      step: aStep(),
      stage: 'pre',
      mayKnowAll: true,
      neverAsked: false,
      agent: null,
      identity: null,
      ignored: [],
      ...trial,
    },
    {
      registry,
      library: createControlLibrary({ registry, keepEvaluators: 10 }),
      stepSchemas: createStepSchemaLibrary('warn'),
      newExecutionId: () => 'id',
      now,
      clock: () => 0,
      memory,
    },
  );
}

function isText(one: unknown): one is { text: string } {
  return typeof one === 'object' && one !== null && 'text' in one;
}

const hello = aLeaf('regex', { pattern: 'hello' }, 'input.q');
const scoped = (scope: JsonValue) => aDefinition(hello, 'deny', { scope });
const withoutIds = (verdict: Verdict) => {
  const bare = (items: readonly ControlResult[]) =>
    items.map((item) => ({ ...item, control_execution_id: '' }));
  const { matches, errors, non_matches } = verdict;
  return { ...verdict, matches: bare(matches), errors: bare(errors), non_matches: bare(non_matches) };
};

describe('why a control applies or not', () => {
  it.each<[string, JsonValue | { text: string }, string, string | RegExp]>([
    ['applies', aDefinition(hello), 'deny', 'It looks at the step, and its condition matched.'],
    ['applies', scoped({ step_names: ['search'], step_name_regex: '(' }), 'deny', /matched/],
    ['applies', aDefinition(aLeaf('list', { values: ['x'] })), 'deny', /did not match/],
    ['disabled', aDefinition(hello, 'steer', { enabled: false }), 'steer', 'The control is disabled.'],
    ['disabled', { enabled: false, execution: 'sdk' }, '', /disabled/],
    [
      'not_server_side',
      aDefinition(hello, 'deny', { execution: 'sdk', scope: { stages: ['post'] } }),
      'deny',
      /sdk/,
    ],
    ['stage', scoped({ stages: ['post'] }), 'deny', 'Its scope has the stages "post"; this is stage "pre".'],
    ['step_type', scoped({ step_types: ['llm', 'x'], step_names: ['q'] }), 'deny', /"llm", "x".*"tool"/],
    [
      'step_name',
      scoped({ step_names: ['q'], step_name_regex: '^z' }),
      'deny',
      /"q" and a step_name_regex.*neither.*"search"/,
    ],
    ['step_name', scoped({ step_name_regex: '^z' }), 'deny', /step_name_regex; that does not fit/],
    [
      'scope_failure',
      scoped({ step_name_regex: '(' }),
      'deny',
      /counts as an error: invalid step_name_regex/,
    ],
    [
      'damaged',
      { ...aDefinition(hello), action: { decision: 'perhaps' } },
      '',
      /counts as an error: the stored definition/,
    ],
    ['damaged', aDefinition(aLeaf('regex', { pattern: '(' })), 'deny', /missing closing/],
    ['damaged', { text: 'no JSON' }, '', /not an object/],
    ['stage', { ...scoped({ stages: ['post'] }), condition: null }, 'deny', /stages/],
    [
      'template_unrendered',
      { template: { definition_template: {} }, template_values: {}, enabled: false },
      '',
      /lacks values/,
    ],
  ])('%s', async (reason, stored, decision, message) => {
    const { controls, verdict } = await attempt([stored]);
    expect(controls).toMatchObject([
      { control_id: 1, reason, applies: reason === 'applies', decision: decision === '' ? null : decision },
    ]);
    expect(controls[0]?.message).toMatch(message);
    expect(controls[0]?.condition === null).toBe(reason !== 'applies');
    const counted = [...verdict.matches, ...verdict.errors, ...verdict.non_matches].length;
    expect(counted).toBe(['applies', 'scope_failure', 'damaged'].includes(reason) ? 1 : 0);
  });

  it('shows regular keys nothing but fixed texts', async () => {
    const broken = [
      aDefinition(aLeaf('regex', { pattern: '(' })),
      aDefinition(aLeaf('gone')),
      scoped({ step_name_regex: '(' }),
    ];
    const { controls } = await attempt(broken, { mayKnowAll: false });
    expect(controls.map(({ message }) => message)).toEqual([
      'The step_name_regex of its scope cannot be used, so it counts as an error.',
      'It looks at the step, but could not be evaluated: Internal evaluator error.',
      'Its stored definition cannot be used, so it counts as an error.',
    ]);
    expect(controls[1]?.condition).toMatchObject({ error: 'Internal evaluator error' });
  });
});

describe('the condition of a control', () => {
  it('reports for each node its result, its input and its duration', async () => {
    let time = 0;
    const slow = fakeEvaluator('slow', () => {
      time += 1.5;
      return aResult({ matched: false, message: 'no' });
    });
    const condition = { or: [aLeaf('slow', {}, 'input.q'), { not: aLeaf('slow', { a: 1 }, 'name') }, hello] };
    const { controls } = await attempt([aDefinition(condition)], {}, [slow], () => time);
    const leaf = {
      type: 'leaf',
      evaluated: true,
      matched: false,
      confidence: 1,
      message: 'no',
      error: null,
      duration_us: 1_500,
    };
    expect(controls[0]?.condition).toEqual({
      type: 'or',
      evaluated: true,
      matched: true,
      short_circuit_reason: 'or_matched',
      children: [
        {
          ...leaf,
          short_circuit_reason: null,
          selector_path: 'input.q',
          evaluator_name: 'slow',
          selected: { type: 'string', size: 5, text: 'hello', shortened: false },
          expression_values: [],
          findings: [],
        },
        {
          type: 'not',
          evaluated: true,
          matched: true,
          short_circuit_reason: null,
          children: [
            expect.objectContaining({ ...leaf, selected: expect.objectContaining({ text: 'search' }) }),
          ],
        },
        expect.objectContaining({
          evaluated: false,
          matched: null,
          short_circuit_reason: 'or_matched',
          duration_us: null,
          selected: expect.objectContaining({ text: 'hello' }),
        }),
      ],
    });
  });
  it('shows admins what went wrong, without the secrets in it', async () => {
    const failing = fakeEvaluator('failing', () => {
      throw new Error(`no password=hunter2 here ${'x '.repeat(1_000)}`);
    });
    const { controls, verdict } = await attempt([aDefinition({ not: aLeaf('failing') })], {}, [failing]);
    const [leaf] = children(controls[0]?.condition);
    expect(leaf).toMatchObject({
      error: expect.stringMatching(/^evaluator failing: no password=\*\*\* here/),
    });
    expect(JSON.stringify(leaf).length).toBeLessThan(1_000);
    expect(verdict.errors[0]?.result.error).toBe('Internal evaluator error');
  });
  it('is shown where a deny made an external evaluator superfluous', async () => {
    const model = fakeEvaluator('model', () => Promise.resolve(aResult()), { external: true });
    const { controls, verdict } = await attempt([aDefinition(aLeaf('model')), aDefinition(hello)], {}, [
      model,
    ]);
    expect(verdict).toMatchObject({ matches: [{ control_id: 2 }], errors: [], non_matches: [] });
    expect(controls[1]).toMatchObject({
      control_id: 1,
      applies: true,
      message: expect.stringContaining('left out'),
      condition: { evaluated: false, short_circuit_reason: 'denied', duration_us: null },
    });
  });
  it('reports how long an evaluator had that was given up', async () => {
    const never = fakeEvaluator('never', () => new Promise<never>(() => {}), { timeoutMs: 5 });
    const { controls } = await attempt([aDefinition(aLeaf('never'))], {}, [never], () => performance.now());
    const { condition } = controls[0] ?? {};
    expect(condition).toMatchObject({ type: 'leaf', error: 'evaluator never: timeout after 5 ms' });
    expect(condition?.type === 'leaf' && (condition.duration_us ?? 0) > 0).toBe(true);
  });
  it.each([
    [20, 'hello', 20],
    // What is asked before a scan is worth its while has its time still.
    [20, 'hello '.repeat(5_000), 7],
  ])('has times of its own up to a bound on their work: %i searches', async (searches, q, timed) => {
    const definitions = Array.from({ length: searches }, (_, n) =>
      aDefinition(aLeaf('regex', { pattern: `word-${n}` }, 'input.q')),
    );
    const { controls } = await attempt(definitions, { step: aStep({ input: { q } }) });
    const leaves = controls.flatMap(({ condition }) => (condition?.type === 'leaf' ? [condition] : []));
    expect(leaves).toHaveLength(searches);
    expect(leaves.every(({ evaluated, matched }) => evaluated && matched === false)).toBe(true);
    expect(leaves.filter(({ duration_us }) => duration_us !== null)).toHaveLength(timed);
  });
  it('is left out beyond the bound on nodes', async () => {
    const wide = (count: number) => ({
      and: Array.from({ length: count }, () => aLeaf('list', { values: ['x'] })),
    });
    const { controls } = await attempt([1_000, 1_999, 1_999, 1_000].map((count) => aDefinition(wide(count))));
    const shown = controls.map(({ condition }) => condition !== null);
    expect(shown).toEqual([true, true, false, false]);
    expect(controls.every(({ applies }) => applies)).toBe(true);
    expect(MAX_EXPLAINED_NODES).toBe(5_000);
  });
});

describe('a trial', () => {
  it('explains a bounded number of controls, and states how many it leaves out', async () => {
    const many = Array.from({ length: MAX_EXPLAINED_CONTROLS + 3 }, () => aDefinition(hello));
    const { controls, verdict, omitted_controls } = await attempt(many);
    expect(controls).toHaveLength(MAX_EXPLAINED_CONTROLS);
    expect(omitted_controls).toBe(3);
    expect(verdict.matches).toHaveLength(MAX_EXPLAINED_CONTROLS + 3);
  });

  it('gives the verdict of an evaluation, and explains exactly what is in it', async () => {
    const registry = createRegistry(EVALUATORS);
    const library = createControlLibrary({ registry, keepEvaluators: 100 });
    const seen = new Set<string>();
    const property = fc.asyncProperty(
      generatedControls,
      aGeneratedStep,
      aGeneratedStage,
      async (controls, step, stage) => {
        const rows = controls.map(({ id, name, definition }) => ({
          id,
          name,
          data: stringifyJson(definition),
        }));
        const program = compileProgram(controls, { registry, newExecutionId: () => 'id' });
        const expected = withoutIds(await program.evaluate(step, stage, 'full'));
        const stepSchemas = createStepSchemaLibrary('off');
        const trial = {
          step,
          stage,
          mayKnowAll: false,
          neverAsked: false,
          agent: null,
          identity: null,
          ignored: [],
        };
        const options = {
          registry,
          library,
          stepSchemas,
          newExecutionId: () => 'other',
          now: () => 0,
          clock: () => 0,
        };
        const given = await tryStep(rows, trial, options);
        const tried = { ...expected, schema_mismatch: null, outcome: outcomeOf(expected, undefined) };
        expect(withoutIds(given.verdict)).toEqual(tried);
        const listed = [...expected.matches, ...expected.errors, ...expected.non_matches];
        const results = new Map(listed.map((item) => [item.control_id, item]));
        for (const { control_id, reason, condition, decision } of given.controls) {
          seen.add(reason);
          const result = results.get(control_id);
          const takesPart = reason === 'applies' || reason === 'damaged' || reason === 'scope_failure';
          // A control that applies and is not listed was cancelled.
          if (reason === 'applies' && result === undefined)
            expect(condition).toMatchObject({ evaluated: false });
          else expect(result !== undefined).toBe(takesPart);
          if (result !== undefined && decision !== null) expect(result.action).toBe(decision);
          if (reason === 'applies' && result !== undefined) {
            expect(bareTrace(condition)).toEqual(fullTrace(result.result.metadata?.condition_trace));
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 120, seed: 4_712 });
    for (const reason of ['applies', 'disabled', 'stage', 'step_type', 'step_name', 'damaged']) {
      expect(seen).toContain(reason);
    }
  });
});

function children(condition: ConditionExplanation | null | undefined): readonly ConditionExplanation[] {
  return condition !== null && condition !== undefined && 'children' in condition ? condition.children : [];
}

/** What explanation and trace have in common. */
function bareTrace(node: ConditionExplanation | null): unknown {
  if (node === null) return null;
  const { type, evaluated, matched, short_circuit_reason } = node;
  const common = { type, evaluated, matched, short_circuit_reason };
  if (node.type !== 'leaf') return { ...common, children: node.children.map(bareTrace) };
  const { selector_path, evaluator_name, confidence, error, message } = node;
  return { ...common, selector_path, evaluator_name, confidence, error, message };
}

function fullTrace(trace: unknown): unknown {
  const { children: inner, ...node } = trace as { type: string; children?: unknown[] };
  const common = { short_circuit_reason: null, ...node };
  return inner === undefined ? { message: null, ...common } : { ...common, children: inner.map(fullTrace) };
}

describe('a control with memory', () => {
  const limited = aDefinition(kept({ id: 'a', limit: 1, records: { events: ['request'] } }));
  const tried = (memory: StepMemory, identity: typeof IDENTITY | null, ...stored: JsonValue[]) =>
    attempt(stored, { identity }, MEMORY_EVALUATORS, () => 0, memory);

  it('is explained by what is kept for the session, and uses nothing up', async () => {
    const memory = new FakeMemory();
    const first = await tried(memory, IDENTITY, limited);
    expect(first.verdict).toMatchObject({ is_safe: true, limits: [{ limit: 1, remaining: 0 }] });
    expect(memory.states.size).toBe(0);
    memory.states.set('[["test","a"],"r1.a"]', 1);
    const second = await tried(memory, IDENTITY, limited);
    expect(second.verdict.matches[0]?.result.metadata).toMatchObject({ limit: 1, retry_after_seconds: 2.5 });
    expect(second.controls[0]?.condition).toMatchObject({ matched: true, message: 'a says so' });
    expect(memory.plans.map(({ isTrial }) => isTrial)).toEqual([true, true]);
  });

  it('says that it was left out when others do not let the step pass', async () => {
    const { controls } = await tried(new FakeMemory(), IDENTITY, aDefinition(aLeaf('yes')), limited);
    expect(controls[0]?.message).toMatch(/was left out, because controls without memory/);
  });

  it('says that it was not evaluated for a step of no agent', async () => {
    const memory = new FakeMemory();
    const { controls } = await tried(memory, null, limited);
    expect(controls[0]?.message).toMatch(/could not be evaluated: The check needs the memory of the service/);
    expect(memory.plans).toEqual([]);
  });
});
