import type { z } from 'zod';
import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import { stepSchema } from '../../../../src/decide/decisions/evaluate-request.js';
import { OUTCOME_WORDS } from '../../../../src/decide/decisions/evaluation-options.js';
import type { Step } from '../../../../src/kernel/core/types.js';
import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';
import type { Subject } from '../offline/documents.js';
import type { EarlierStep, Question, SuiteTarget } from './judge.js';
import type { CaseDocument, EarlierMembers, StepMembers, SuiteDocument } from './suite-schema.js';

/** Adds a problem at a path. */
export type Tell = (path: readonly PropertyKey[], message: string) => void;

/** Deepest chain of steps that are made from others. */
const MAX_FROM = 10;
const DEFAULT_SESSION = 'session-of-the-case';
const DEFAULT_STEP_ID = 'step-of-the-case';

/** The agent of a suite or a case. */
export function subjectOf(given: NonNullable<SuiteDocument['agent']>): Subject {
  return typeof given === 'string'
    ? { name: given, metadata: {} }
    : { name: given.name, metadata: given.metadata ?? {} };
}

/** What a judge is asked for a case. `presentMs` is the time of cases without one, for their history. */
export function questionOf(
  one: CaseDocument,
  { fixtures = {}, agent, now }: SuiteDocument,
  presentMs: number,
  tell: Tell,
): Question {
  const nowMs = one.now ?? now ?? null;
  const session = one.session ?? DEFAULT_SESSION;
  const { steps = {}, histories = {}, targets = {} } = fixtures;

  function fixture<T>(
    what: string,
    all: Readonly<Record<string, T>>,
    name: string,
    path: PropertyKey[],
  ): T | undefined {
    if (Object.hasOwn(all, name)) return all[name];
    tell(path, `the fixtures have no ${what} ${name}${didYouMean(name, Object.keys(all))}`);
    return undefined;
  }

  /** Null if that was told. */
  function membersOf(given: string | StepMembers, path: PropertyKey[], depth = 0): JsonObject | null {
    if (typeof given === 'string') return membersOf({ from: given }, path, depth);
    const { from, ...own } = given;
    const members = own as JsonObject;
    if (from === undefined) return members;
    if (depth > MAX_FROM) {
      tell(path, `is made from more than ${MAX_FROM} other steps, or from itself`);
      return null;
    }
    const base = fixture('step', steps, from, path);
    const inner = base === undefined ? null : membersOf(base, path, depth + 1);
    return inner === null ? null : (merged(inner, members) as JsonObject);
  }

  function stepOf(given: string | StepMembers, path: PropertyKey[]): Step {
    const whole = membersOf(given, path);
    if (whole === null) return NO_STEP;
    const { type = 'tool', input = type === 'tool' ? {} : null, ...members } = whole;
    const read = stepSchema.safeParse({ ...members, type, input }, PARSE_OPTIONS);
    if (read.success) return read.data;
    for (const issue of read.error.issues as z.core.$ZodIssue[])
      tell([...path, ...issue.path], issue.message);
    return NO_STEP;
  }

  function earlier(entries: readonly EarlierMembers[], path: PropertyKey[]): EarlierStep[] {
    const endMs = nowMs ?? presentMs;
    let lastMs = Number.NEGATIVE_INFINITY;
    return entries.flatMap((entry, index) => {
      const { stage, at, ago = 0, repeat = 1, error, approval = null } = entry;
      const step = stepOf(entry.step, [...path, index, 'step']);
      const atMs = at ?? endMs - ago;
      if (atMs > endMs) tell([...path, index, 'at'], 'is after the time of the case');
      if (atMs < lastMs)
        tell([...path, index], 'is before the step in front of it: a history is in the order of time');
      lastMs = Math.max(lastMs, atMs);
      if (error !== undefined && stage === 'pre') {
        tell([...path, index, 'error'], 'is only possible after the step ran, at the stage post');
      }
      const sessionId = entry.session ?? session;
      return Array.from({ length: repeat }, (_, round) => {
        const stepId = entry.step_id ?? `earlier-${index + 1}-${round + 1}`;
        const base = { step, sessionId, stepId, approval, atMs, follows: false };
        const before: EarlierStep = { ...base, stage: 'pre', error: null };
        const after: EarlierStep = {
          ...base,
          stage: 'post',
          error: error ?? null,
          follows: stage === undefined,
        };
        if (stage === undefined) return [before, after];
        return [stage === 'pre' ? before : after];
      }).flat();
    });
  }

  function historyOf(given: CaseDocument['history']): EarlierStep[] {
    if (given === undefined) return [];
    if (typeof given !== 'string') return earlier(given, ['history']);
    const entries = fixture('history', histories, given, ['history']);
    return entries === undefined ? [] : earlier(entries, ['history']);
  }

  function targetOf(given: CaseDocument['target']): SuiteTarget | null {
    if (given === undefined) return null;
    const found = typeof given === 'string' ? fixture('target', targets, given, ['target']) : given;
    return found === undefined ? null : { ...found, controls: found.controls ?? [] };
  }

  const asked = one.agent ?? agent;
  if (one.error !== undefined && one.stage !== 'post') {
    tell(['error'], 'is only possible after the step ran, at the stage post');
  }
  return {
    agent: asked === undefined ? null : subjectOf(asked),
    target: targetOf(one.target),
    step: stepOf(one.step, ['step']),
    stage: one.stage ?? 'pre',
    sessionId: session,
    stepId: one.step_id ?? DEFAULT_STEP_ID,
    error: one.error ?? null,
    approval: one.approval ?? null,
    accepts: one.accepts ?? OUTCOME_WORDS,
    nowMs,
    history: historyOf(one.history),
  };
}

const NO_STEP: Step = { type: 'tool', name: 'unreadable', input: {}, output: null, context: null };

/** RFC 7396, without removing members: null is a value of a step. */
function merged(base: JsonValue, own: JsonValue): JsonValue {
  if (!isObject(base) || !isObject(own)) return own;
  const changed = Object.entries(own).map(([name, member]) => [
    name,
    Object.hasOwn(base, name) ? merged(base[name] ?? null, member) : member,
  ]);
  return Object.fromEntries([...Object.entries(base), ...changed]) as JsonObject;
}
