import type { ControlExplanation } from '../../../../src/observe/explain/explanation.js';
import type { OfflineControl } from '../offline/documents.js';
import { type Coverage, createCoverage } from './coverage.js';
import { differences } from './expectations.js';
import type { Judge, Judgement } from './judge.js';
import type { Suite, SuiteCase } from './suite.js';

/** What became of a case. */
export interface CaseResult {
  readonly suite: Suite;
  readonly of: SuiteCase;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** What is not as expected, or why it is skipped. */
  readonly reasons: readonly string[];
  readonly durationMs: number;
  readonly judged: Judgement | null;
  /** Of controls that concern a failed step; see MAX_EXPLAINED. */
  readonly explanations: readonly ControlExplanation[];
}

export interface SuiteRun {
  readonly results: readonly CaseResult[];
  readonly coverage: Coverage;
  readonly durationMs: number;
}

export interface RunOptions {
  judgeOf(suite: Suite): Judge;
  /** Only cases whose name has this text. */
  readonly filter?: string | undefined;
  /** Once it is aborted, no further case is run. */
  readonly signal?: AbortSignal;
  /** Called after each case. */
  readonly onCase?: (done: number, all: number) => void;
}

/** Failed cases that are explained: reports of more are hardly read. */
const MAX_EXPLAINED = 50;

/** Runs the cases, one after the other. */
export async function runSuites(suites: readonly Suite[], options: RunOptions): Promise<SuiteRun> {
  const begun = performance.now();
  const coverage = createCoverage();
  const results: CaseResult[] = [];
  const chosen = suites.map((suite) => ({
    suite,
    cases: suite.cases.filter(({ name }) => options.filter === undefined || name.includes(options.filter)),
  }));
  const all = chosen.reduce((sum, { cases }) => sum + cases.length, 0);
  let explained = 0;

  async function run(
    suite: Suite,
    of: SuiteCase,
    judge: Judge,
    controls: ReadonlyMap<string, OfflineControl>,
  ): Promise<Omit<CaseResult, 'durationMs'>> {
    const none = { suite, of, judged: null, explanations: [] };
    if (of.skip !== null) return { ...none, status: 'skipped', reasons: [of.skip] };
    const judged = await judge.judge(of.question);
    if ('needs' in judged) return { ...none, status: 'skipped', reasons: [judged.needs] };
    for (const [name, tree] of judged.trees) {
      const control = controls.get(name);
      if (control !== undefined) coverage.saw(control, tree);
    }
    const reasons = differences(of.expect, judged);
    if (reasons.length === 0) return { ...none, status: 'passed', reasons, judged };
    explained += 1;
    const explanations = explained > MAX_EXPLAINED ? [] : await judge.explain(of.question);
    return { suite, of, status: 'failed', reasons: [...reasons, ...judged.notes], judged, explanations };
  }

  for (const { suite, cases } of chosen) {
    const controls = new Map(suite.controls?.controls.map((one) => [one.name, one]));
    for (const control of controls.values()) coverage.declare(control);
    const judge = options.judgeOf(suite);
    for (const one of cases) {
      options.signal?.throwIfAborted();
      const started = performance.now();
      const result = await run(suite, one, judge, controls);
      results.push({ ...result, durationMs: performance.now() - started });
      options.onCase?.(results.length, all);
    }
  }
  return { results, coverage, durationMs: performance.now() - begun };
}

/** How many cases ended how. */
export function countsOf(results: readonly Pick<CaseResult, 'status'>[]) {
  const count = (status: CaseResult['status']): number =>
    results.filter((one) => one.status === status).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

/** The suites of which no case was run, by name, with the number of their cases. */
export function suitesNotRun(results: readonly CaseResult[]): readonly (readonly [string, number])[] {
  return [...new Set(results.map(({ suite }) => suite))].flatMap((suite) => {
    const own = results.filter((one) => one.suite === suite);
    return own.every(({ status }) => status === 'skipped') ? [[suite.name, own.length] as const] : [];
  });
}
