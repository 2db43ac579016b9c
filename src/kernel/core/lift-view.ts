import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ApprovalBinding, ApprovalReuse, ApprovalRule, LiftView, StepChange } from './lift.js';
import { isSelectorPath } from './selector.js';
import {
  booleanIn,
  check,
  listIn,
  objectIn,
  objectOf,
  strictMember,
  textIn,
  wordIn,
} from './strict-reader.js';
import type { Decision, Execution, Stage } from './types.js';

/** Limits of `action.approval`. Durations in seconds. */
export const APPROVAL_LIMITS = {
  approvers: 20,
  approverLength: 255,
  quorum: 10,
  leastExpiry: 10,
  expiry: 604_800,
  paths: 20,
  reuse: 86_400,
  questionLength: 500,
} as const;
/** Most changes of `action.modify`, and the longest replacement, in UTF-16 code units. */
export const MAX_CHANGES = 20;
export const MAX_REPLACEMENT_LENGTH = 1_000;
/** What an absent member of `action.approval` means. */
export const APPROVAL_DEFAULTS = {
  quorum: 1,
  expiresSeconds: 3_600,
  bind: 'step',
  reuse: 'once',
  question: null,
  separate: true,
} as const;
/** An approver: a caller with a role, or with a name. */
export const APPROVER = /^(?:role|name):\S(?:.*\S)?$/su;

/** What of a definition decides whether it may have a lift. */
export interface LiftFrame {
  readonly decision: Decision;
  readonly execution: Execution;
  readonly stages: readonly Stage[] | null;
}

/** Why a definition must not have `action.approval`; null if it may. */
export function approvalProblem({ decision, execution, stages }: LiftFrame): string | null {
  if (decision !== 'deny') return 'approval needs action.decision deny';
  if (execution !== 'server') return 'approval needs execution server';
  const isPre = stages !== null && stages.length > 0 && stages.every((stage) => stage === 'pre');
  return isPre ? null : 'approval needs scope.stages ["pre"]: a step that has run cannot wait for a person';
}

/** Why a definition must not have `action.modify`; null if it may. */
export function modifyProblem({ decision, execution }: LiftFrame): string | null {
  if (decision !== 'deny') return 'modify needs action.decision deny';
  return execution === 'server' ? null : 'modify needs execution server';
}

/** What is wrong with the path of a change; null if nothing is. */
export function changePathProblem(
  path: string,
  isRemoval: boolean,
  stages: LiftFrame['stages'],
): string | null {
  const [root = '', ...keys] = path.split('.');
  if (root !== 'input' && root !== 'output' && root !== 'context')
    return 'must be below input, context or output';
  if (root === 'output' && (stages === null || stages.length === 0 || stages.some((one) => one !== 'post')))
    return 'output needs scope.stages ["post"]: before a step there is none';
  if (keys.length > 0) return null;
  if (isRemoval) return `must be below ${root}: all of it cannot be removed`;
  return root === 'context' ? 'must be below context' : null;
}

/** Whether all approvers are names, fewer than must approve. */
export function lacksApprovers(approvers: readonly string[], quorum: number): boolean {
  return approvers.every((one) => one.startsWith('name:')) && new Set(approvers).size < quorum;
}

/** Reads `approval` and `modify` of a stored action; null without them. Throws unless they are as accepted on input. */
export function readLift(action: JsonObject, frame: LiftFrame): LiftView | null {
  const hasApproval = isThere(action, 'approval');
  const hasChanges = isThere(action, 'modify');
  if (!hasApproval && !hasChanges) return null;
  check(!(hasApproval && hasChanges), 'action has approval and modify');
  const problem = hasApproval ? approvalProblem(frame) : modifyProblem(frame);
  check(problem === null, `action.${problem}`);
  if (hasApproval) return { approval: readApproval(objectIn(action, 'approval')), changes: [] };
  const changes = listIn(action, 'modify').map((change) => readChange(change, frame.stages));
  check(changes.length > 0 && changes.length <= MAX_CHANGES, 'action.modify has no changes, or too many');
  return { approval: null, changes };
}

function isThere(data: JsonObject, name: string): boolean {
  return (strictMember(data, name) ?? null) !== null;
}

function readApproval(data: JsonObject): ApprovalRule {
  const {
    approvers: most,
    approverLength,
    quorum: mostPeople,
    leastExpiry,
    expiry,
    questionLength,
  } = APPROVAL_LIMITS;
  const approvers = textItems(data, 'approvers', most);
  for (const one of approvers)
    check(APPROVER.test(one) && one.length <= approverLength, 'approval.approvers has an item of no kind');
  const has = (name: string) => isThere(data, name);
  const question = has('question') ? textIn(data, 'question') : APPROVAL_DEFAULTS.question;
  check(
    question === null || (question !== '' && question.length <= questionLength),
    'approval.question is empty or too long',
  );
  const quorum = has('quorum') ? integerIn(data, 'quorum', 1, mostPeople) : APPROVAL_DEFAULTS.quorum;
  check(!lacksApprovers(approvers, quorum), 'approval.quorum exceeds the approvers');
  return {
    approvers,
    quorum,
    expiresSeconds: has('expires_seconds')
      ? integerIn(data, 'expires_seconds', leastExpiry, expiry)
      : APPROVAL_DEFAULTS.expiresSeconds,
    bind: has('bind') ? readBinding(data) : APPROVAL_DEFAULTS.bind,
    reuse: has('reuse') ? readReuse(data) : APPROVAL_DEFAULTS.reuse,
    question,
    separate: has('separate') ? booleanIn(data, 'separate') : APPROVAL_DEFAULTS.separate,
  };
}

function readBinding(data: JsonObject): ApprovalBinding {
  if (strictMember(data, 'bind') === 'step') return 'step';
  const paths = textItems(data, 'bind', APPROVAL_LIMITS.paths);
  check(paths.every(isSelectorPath), 'approval.bind has an item that is not a path');
  return paths;
}

function readReuse(data: JsonObject): ApprovalReuse {
  const reuse = strictMember(data, 'reuse');
  if (!isObject(reuse)) return wordIn(data, 'reuse', ['once', 'session'] as const);
  return { seconds: integerIn(reuse, 'seconds', 1, APPROVAL_LIMITS.reuse) };
}

function readChange(value: JsonValue, stages: LiftFrame['stages']): StepChange {
  const change = objectOf(value, 'an item of modify');
  const path = textIn(change, 'path');
  const isRemoval = isThere(change, 'remove') && booleanIn(change, 'remove');
  const problem = changePathProblem(path, isRemoval, stages);
  check(problem === null, `modify.path ${problem}`);
  if (isRemoval) {
    check(!isThere(change, 'replace') && !isThere(change, 'with'), 'modify has remove and replace');
    return { path, remove: true };
  }
  const text = textIn(change, 'with');
  check(text.length <= MAX_REPLACEMENT_LENGTH, 'modify.with is too long');
  return { path, replace: wordIn(change, 'replace', ['matches', 'value']), with: text };
}

function textItems(data: JsonObject, name: string, most: number): string[] {
  const items = listIn(data, name);
  check(items.length > 0 && items.length <= most, `approval.${name} is empty or too long`);
  return items.map((item) => {
    check(typeof item === 'string', `approval.${name} has an item that is not a text`);
    return item;
  });
}

function integerIn(data: JsonObject, name: string, least: number, most: number): number {
  const value = strictMember(data, name);
  const isInRange = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
  check(isInRange, `${name} is no integer from ${least} to ${most}`);
  return value as number;
}
