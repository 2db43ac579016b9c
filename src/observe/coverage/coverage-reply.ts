import { isoOfSeconds } from '../../contract/call/printed.js';
import type { Stage } from '../../kernel/core/types.js';
import { readStoredRegistration } from '../../manage/agents/agent-schemas.js';
import { type StepKey, stepKey } from '../../manage/agents/steps-catalogue.js';
import type { StepRow } from './coverage-store.js';
import type { Expectation } from './expectation-store.js';
import { grouped } from './grouped.js';

/** Most steps listed that were not evaluated. */
const MAX_UNCHECKED = 100;
const STAGES: readonly Stage[] = ['pre', 'post'];

/** A registered step, and the stages in which it was not evaluated. */
export interface UncheckedStep extends StepKey {
  readonly stages: readonly Stage[];
}

/** The registered steps of an agent in their order; none if its registration cannot be read. */
export function registeredSteps(data: string): readonly StepKey[] {
  return readStoredRegistration(data)?.steps ?? [];
}

/** The registered steps that were not evaluated in each stage, at whatever point. */
export function uncheckedSteps(registered: readonly StepKey[], rows: readonly StepRow[]): UncheckedStep[] {
  const checked = { pre: new Set<string>(), post: new Set<string>() };
  for (const { stage, stepType: type, stepName: name } of rows) checked[stage].add(stepKey({ type, name }));
  return registered.flatMap((step) => {
    const stages = STAGES.filter((stage) => !checked[stage].has(stepKey(step)));
    return stages.length === 0 ? [] : [{ type: step.type, name: step.name, stages }];
  });
}

/** The coverage of an agent as contained in replies. */
export function printedCoverage(
  { name, data }: { readonly name: string; readonly data: string },
  rows: readonly StepRow[],
  expectations: readonly Expectation[],
) {
  const registered = registeredSteps(data);
  const unchecked = uncheckedSteps(registered, rows);
  return {
    agent_name: name,
    ...printedSums(rows),
    points: pointsOf(rows),
    registered_steps: registered.length,
    unchecked_step_count: unchecked.length,
    unchecked_steps: unchecked.slice(0, MAX_UNCHECKED),
    unnamed_evaluations: rows.filter(isUnnamed).reduce((sum, { evaluated }) => sum + evaluated, 0),
    expectations: expectations.map(printedExpectation),
  };
}

export function printedExpectation({ point, intervalS, overdueS }: Expectation) {
  return {
    point: point === '' ? null : point,
    interval_seconds: intervalS,
    overdue_since: isoOfSeconds(overdueS),
  };
}

/** The steps of an agent as contained in replies. */
export function printedSteps(rows: readonly StepRow[], registered: readonly StepKey[]) {
  const known = new Set(registered.map(stepKey));
  return rows.map((row) => ({
    point: row.point,
    stage: row.stage,
    step_type: row.stepType,
    step_name: row.stepName,
    ...printedSums([row]),
    registered: known.has(stepKey({ type: row.stepType, name: row.stepName })),
  }));
}

function pointsOf(rows: readonly StepRow[]) {
  const groups = grouped(rows, ({ point, stage }) => `${point} ${stage}`);
  return [...groups.values()].map((group) => ({
    point: group[0]?.point,
    stage: group[0]?.stage,
    ...printedSums(group),
    step_count: group.filter((row) => !isUnnamed(row)).length,
  }));
}

function printedSums(rows: readonly StepRow[]) {
  let evaluated = 0;
  let firstS: number | null = null;
  let lastS: number | null = null;
  for (const row of rows) {
    evaluated += row.evaluated;
    firstS = Math.min(firstS ?? row.firstSeenS, row.firstSeenS);
    lastS = Math.max(lastS ?? row.lastSeenS, row.lastSeenS);
  }
  return { evaluated, first_seen_at: isoOfSeconds(firstS), last_seen_at: isoOfSeconds(lastS) };
}

function isUnnamed({ stepType, stepName }: StepRow): boolean {
  return stepType === '' && stepName === '';
}
