import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSensitive } from '../../../packages/detectors/src/index.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import type { EvaluationCaller } from '../../../src/decide/decisions/evaluation-caller.js';
import type { HeldStep } from '../../../src/decide/decisions/held-step.js';
import { LoadedProgram } from '../../../src/decide/decisions/loaded-program.js';
import { createProgramBuilder } from '../../../src/decide/decisions/program-builder.js';
import type { RevisedVerdict } from '../../../src/decide/decisions/revised-verdict.js';
import type { ControlProgram, Verdict } from '../../../src/kernel/core/types.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { SHADOW_COUNTS, type ShadowCounts } from '../../../src/observe/shadows/shadow.js';
import { createShadowComparison } from '../../../src/observe/shadows/shadow-comparison.js';
import type { ShadowNews } from '../../../src/observe/shadows/shadow-store.js';
import { createShadowTallies } from '../../../src/observe/shadows/shadow-tallies.js';
import { createShadowWatch } from '../../../src/observe/shadows/shadow-watch.js';
import {
  aGeneratedStage,
  aGeneratedStep,
  EVALUATORS,
  generatedControls,
} from '../../kernel/core/reference/generate.js';
import { interpret } from '../../kernel/core/reference/interpret.js';
import { generatedCases } from '../../support/generated-cases.js';
import { denyWord } from '../../support/seed.js';
import { until } from '../../support/until.js';
import '../../support/property-seed.js';

const registry = createRegistry(EVALUATORS);
const agent = DEFAULT_NAMESPACE.agentKey('compared-bot-01');

function parts() {
  const library = createControlLibrary({ registry, keepEvaluators: 100 });
  const options = { library, newExecutionId: () => 'id', onFailure: () => {} };
  const written: ShadowNews[] = [];
  const tallies = createShadowTallies({
    write: async (news) => void written.push(...news),
    failures: { failed: () => {} },
  });
  const comparison = createShadowComparison({
    builder: createProgramBuilder(options),
    tallies,
    findSensitive,
    monotonic: () => performance.now(),
  });
  return { live: createProgramBuilder(options), comparison, tallies, written };
}

function countsOf(written: readonly ShadowNews[], shadowId: number): ShadowCounts {
  const sums = Object.fromEntries(SHADOW_COUNTS.map((name) => [name, 0])) as ShadowCounts;
  for (const one of written.filter((news) => news.shadowId === shadowId)) {
    for (const name of SHADOW_COUNTS) sums[name] += one.counts[name];
  }
  return sums;
}

const total = (counts: ShadowCounts) =>
  counts.bothMatched +
  counts.neitherMatched +
  counts.onlyLiveMatched +
  counts.onlyShadowMatched +
  counts.leftOut +
  Math.max(counts.liveFailed, counts.shadowFailed);

describe('shadows', () => {
  it('change no verdict, and are compared as the contract decides', async () => {
    const pairs = fc.tuple(
      generatedControls.filter((controls) => controls.length > 0),
      generatedControls.filter((controls) => controls.length > 0),
      fc.array(fc.tuple(aGeneratedStep, aGeneratedStage), { minLength: 3, maxLength: 3 }),
    );
    const seen = { differing: 0, agreeing: 0 };
    const property = fc.asyncProperty(pairs, async ([controls, proposals, steps]) => {
      const { live, comparison, tallies } = parts();
      const stored = controls.map(({ id, name, definition }) => ({
        id,
        name,
        data: JSON.stringify(definition),
      }));
      const program = await live.build(stored);
      const verdicts = () =>
        Promise.all(steps.map(([step, stage]) => program.evaluate(step, stage, 'full'))) as Promise<
          Verdict[]
        >;
      const before = await verdicts();
      const shadows = controls.map(({ id }, index) => ({
        shadow: {
          id: index + 1,
          namespace: 'default',
          controlId: id,
          data: JSON.stringify(proposals[index % proposals.length]?.definition),
          share: 1,
          shareBy: 'agent' as const,
        },
        controlName: 'one',
        live: stored[index]?.data ?? null,
      }));
      const counted = new Map<number, (keyof ShadowCounts)[]>();
      const count = tallies.count;
      tallies.count = (id, ...names) => {
        counted.set(id, [...(counted.get(id) ?? []), ...names]);
        count(id, ...names);
      };
      for (const [step, stage] of steps) {
        comparison.add({ agent, facts: null, step, stage, decisionId: 'id', atMs: 1, pairs: shadows });
      }
      // They are asked while the comparison works.
      expect(await verdicts()).toEqual(before);
      for (const [index, { shadow }] of shadows.entries()) {
        const control = controls[index];
        const proposal = proposals[index % proposals.length];
        if (control === undefined || proposal === undefined)
          throw new Error('there is a control of each shadow');
        const expected: (keyof ShadowCounts)[] = [];
        for (const [step, stage] of steps) {
          const kept = await interpret([control], step, stage, registry);
          const next = await interpret(
            [{ ...control, definition: proposal.definition }],
            step,
            stage,
            registry,
          );
          if (kept.errors.length > 0) expected.push('liveFailed');
          if (next.errors.length > 0) expected.push('shadowFailed');
          if (kept.errors.length + next.errors.length > 0) continue;
          const [one, other] = [kept.matches.length > 0, next.matches.length > 0];
          if (one === other) seen.agreeing += 1;
          else seen.differing += 1;
          expected.push(
            one
              ? other
                ? 'bothMatched'
                : 'onlyLiveMatched'
              : other
                ? 'onlyShadowMatched'
                : 'neitherMatched',
          );
        }
        // One that both fail is counted twice.
        const names = await until(
          () => counted.get(shadow.id) ?? [],
          ({ length }) => length >= expected.length,
        );
        expect(names.toSorted()).toEqual(expected.toSorted());
      }
      expect(await verdicts()).toEqual(before);
      comparison.close();
      await tallies.close();
    });
    await fc.assert(property, { numRuns: generatedCases(120) });
    expect(seen.differing).toBeGreaterThan(10);
    expect(seen.agreeing).toBeGreaterThan(10);
  });

  it('are left out beyond a bound, and all of what waits at the end, which is counted', async () => {
    const { comparison, tallies, written } = parts();
    const pair = {
      shadow: { id: 1, namespace: 'default', controlId: 1, data: '{}', share: 1, shareBy: 'agent' as const },
      controlName: 'one',
      live: null,
    };
    const step = { type: 'tool', name: 'send', input: {}, output: null, context: null };
    for (let at = 0; at < 1_500; at += 1) {
      comparison.add({ agent, facts: null, step, stage: 'pre', decisionId: 'id', atMs: 1, pairs: [pair] });
    }
    comparison.close();
    await tallies.close();
    expect(total(countsOf(written, 1))).toBe(1_500);
    expect(countsOf(written, 1).leftOut).toBe(1_500);
  });

  it('are left out beyond a length, and taken when others were compared', async () => {
    const { comparison, tallies, written } = parts();
    const count = tallies.count;
    let counted = 0;
    tallies.count = (id, ...names) => {
      counted += names.length;
      count(id, ...names);
    };
    const data = JSON.stringify(denyWord('bad'));
    const shadow = { id: 1, namespace: 'default', controlId: 1, data, share: 1, shareBy: 'agent' as const };
    const pair = { shadow, controlName: 'one', live: data };
    const add = (...inputs: readonly string[]) => {
      for (const input of inputs) {
        const step = { type: 'tool', name: 'send', input, output: null, context: null };
        comparison.add({ agent, facts: null, step, stage: 'pre', decisionId: 'id', atMs: 1, pairs: [pair] });
      }
    };
    const long = 'x'.repeat(1_000_000);
    add(...Array(9).fill(long), 'bad');
    await until(
      () => counted,
      (steps) => steps === 10,
    );
    add(...Array(8).fill(long));
    await until(
      () => counted,
      (steps) => steps === 18,
    );
    comparison.close();
    await tallies.close();
    expect(countsOf(written, 1)).toMatchObject({ leftOut: 1, neitherMatched: 16, bothMatched: 1 });
  });
});

describe('steps whose content is in another thread, or that a halt denied', () => {
  const shadow = {
    id: 1,
    namespace: 'default',
    controlId: 5,
    data: '{}',
    share: 1,
    shareBy: 'agent' as const,
  };
  const step = { type: 'tool', name: 'send', input: {}, output: null, context: null };
  const request = { agentName: 'compared-bot-01', step, stage: 'pre' as const, options: null };
  const caller = { namespace: DEFAULT_NAMESPACE } as EvaluationCaller;
  const program = { controlIds: [5, 3] } as unknown as ControlProgram;
  const loaded = new LoadedProgram(program, { readRevision: 1, readAtMs: 1, isKept: false });

  it('are left out, or not asked about, and nothing is looked at without a shadow', () => {
    let tell = () => {};
    const registry: { shadows: (typeof shadow)[]; onChange(listener: () => void): void } = {
      shadows: [],
      onChange: (listener) => {
        tell = listener;
      },
    };
    const added: unknown[] = [];
    const leftOut: number[] = [];
    const watch = createShadowWatch({
      registry,
      definitionsOf: () => [],
      comparison: { add: (one) => void added.push(one), leaveOut: (id) => void leftOut.push(id) },
      now: () => 1,
    });
    const verdict = { decision_id: 'id' } as RevisedVerdict;
    const agent = caller.namespace.agentKey(request.agentName);
    const one = { request, verdict, caller, agent, loaded, differs: false, isAnswered: true };
    watch.told(one);
    expect([added.length, leftOut]).toEqual([0, []]);
    registry.shadows = [shadow];
    tell();
    watch.told(one);
    watch.told({ ...one, request: { ...request, held: {} as HeldStep } });
    watch.told({ ...one, loaded: null });
    expect([added.length, leftOut]).toEqual([1, [1]]);
    registry.shadows = [];
    tell();
    watch.told(one);
    expect([added.length, leftOut]).toEqual([1, [1]]);
  });
});

describe('counts of shadows', () => {
  const one = { at: 1, stage: 'pre', stepType: 'tool', stepName: 'send', shadowMatched: true, message: null };

  it('that cannot be written are written with later ones, once each', async () => {
    const written: ShadowNews[] = [];
    let isUp = false;
    const told: string[] = [];
    const tallies = createShadowTallies({
      async write(news) {
        if (!isUp) throw new Error('down');
        written.push(...news);
      },
      failures: { failed: (kind) => void told.push(kind) },
    });
    tallies.count(7, 'bothMatched');
    await until(
      () => told.length,
      (times) => times > 0,
    );
    isUp = true;
    tallies.count(7, 'bothMatched', 'leftOut');
    for (let at = 0; at < 30; at += 1) {
      tallies.differs(7, { ...one, decisionId: String(at), agentName: agent, atMs: at });
    }
    await tallies.close();
    expect(countsOf(written, 7)).toMatchObject({ bothMatched: 2, leftOut: 1, neitherMatched: 0 });
    const kept = written.flatMap(({ differences }) => differences.map(({ decisionId }) => decisionId));
    expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 10)));
  });
});
