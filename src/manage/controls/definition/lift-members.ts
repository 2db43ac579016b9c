import { z } from 'zod';
import { isObject } from '../../../../packages/exact-json/src/index.js';
import {
  boolean,
  field,
  type IssueSink,
  jsonSchemaOf,
  list,
  nullable,
  oneOf,
  readWith,
  refuse,
  refuseTyped,
  report,
  text,
} from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';
import { withoutUndefined } from '../../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import {
  APPROVAL_DEFAULTS,
  APPROVAL_LIMITS,
  APPROVER,
  approvalProblem,
  changePathProblem,
  lacksApprovers,
  MAX_CHANGES,
  MAX_REPLACEMENT_LENGTH,
  modifyProblem,
} from '../../../kernel/core/lift-view.js';
import { isSelectorPath, SELECTOR_PATH_PATTERN } from '../../../kernel/core/selector.js';
import { type Approval, type Change, type ControlDefinition, leavesOf } from './definition.js';

const approver: z.ZodType<string> = text({ max: APPROVAL_LIMITS.approverLength })
  .superRefine((value, sink) => {
    if (APPROVER.test(value)) return;
    refuseTyped(
      sink,
      'value_error',
      'must be "role:" with a role or "name:" with a name, such as "role:approver"',
      value,
    );
  })
  .meta({ pattern: '^(role|name):' });

const boundPath: z.ZodType<string> = text()
  .superRefine((value, sink) => {
    if (!isSelectorPath(value))
      refuseTyped(sink, 'value_error', 'must be a path as in selectors, such as input.amount', value);
  })
  .meta({ pattern: SELECTOR_PATH_PATTERN });
const boundPaths = list(boundPath, { min: 1, max: APPROVAL_LIMITS.paths });

const binding = field<Exclude<Approval['bind'], undefined>>(
  (value, sink) => {
    if (value === 'step') return value;
    if (Array.isArray(value)) return readWith(boundPaths, value, sink) ?? z.NEVER;
    return refuse(sink, 'value_error', 'must be "step" or a list of paths, such as ["input.amount"]', value);
  },
  { anyOf: [{ const: 'step' }, jsonSchemaOf(boundPaths)] },
);

const reuseSeconds = z.object({ seconds: integer({ min: 1, max: APPROVAL_LIMITS.reuse }) });
const reuse = field<Exclude<Approval['reuse'], undefined>>(
  (value, sink) => {
    if (value === 'once' || value === 'session') return value;
    if (isObject(value)) return readWith(reuseSeconds, value, sink) ?? z.NEVER;
    return refuse(
      sink,
      'value_error',
      'must be "once", "session" or an object such as {"seconds": 600}',
      value,
    );
  },
  { anyOf: [{ enum: ['once', 'session'] }, jsonSchemaOf(reuseSeconds)] },
);

const approvalMembers: z.ZodType<Approval> = z
  .object({
    approvers: list(approver, { min: 1, max: APPROVAL_LIMITS.approvers }),
    quorum: nullable(integer({ min: 1, max: APPROVAL_LIMITS.quorum })),
    expires_seconds: nullable(integer({ min: APPROVAL_LIMITS.leastExpiry, max: APPROVAL_LIMITS.expiry })),
    bind: nullable(binding),
    reuse: nullable(reuse),
    question: nullable(text({ min: 1, max: APPROVAL_LIMITS.questionLength })),
    separate: nullable(boolean()),
  })
  .transform((read, sink): Approval => {
    const { approvers, ...optional } = read;
    const { quorum = APPROVAL_DEFAULTS.quorum } = read;
    if (lacksApprovers(approvers, quorum)) {
      const message = `must not be greater than the number of approvers, who are all named: ${new Set(approvers).size}`;
      report(sink, 'value_error', message, quorum, ['quorum']);
    }
    return { approvers, ...withoutUndefined(optional) };
  });

const replacement: z.ZodType<string> = text({ max: MAX_REPLACEMENT_LENGTH }).superRefine((value, sink) => {
  if (!value.isWellFormed()) refuse(sink, 'value_error', 'must not contain half of a surrogate pair', value);
});

const changeMembers: z.ZodType<Change> = z
  .object({
    path: text(),
    replace: nullable(oneOf(['matches', 'value'], 'value_error')),
    with: nullable(replacement),
    remove: nullable(boolean()),
  })
  .transform(({ path, replace, with: replaced, remove = false }, sink): Change => {
    if (remove) {
      if (replace === undefined && replaced === undefined) return { path, remove };
      const extra = replace === undefined ? 'with' : 'replace';
      report(
        sink,
        'value_error',
        'must be absent beside remove: data are replaced or removed',
        replace ?? replaced,
        [extra],
      );
      return z.NEVER;
    }
    if (replace === undefined)
      report(sink, 'missing', 'required, unless remove is true: "matches" or "value"', undefined, [
        'replace',
      ]);
    if (replaced === undefined) report(sink, 'missing', 'required with replace', undefined, ['with']);
    if (replace === undefined || replaced === undefined) return z.NEVER;
    return { path, replace, with: replaced };
  });

/** An object of an action, `model_type` for anything else. */
function model<T>(members: z.ZodType<T>): z.ZodType<T> {
  return field((value, sink) => {
    if (!isObject(value)) return refuse(sink, 'model_type', 'must be an object', value);
    return readWith(members, value, sink) ?? z.NEVER;
  }, jsonSchemaOf(members));
}

/** Reads `action.approval`. */
export const approvalSchema: z.ZodType<Approval> = model(approvalMembers);
/** Reads `action.modify`. */
export const changesSchema: z.ZodType<Change[]> = list(model(changeMembers), { min: 1, max: MAX_CHANGES });

/** Reports what of `action.approval` and `action.modify` the rest of a definition does not allow. */
export function checkLift(
  { action, execution, scope, condition }: ControlDefinition,
  registry: EvaluatorRegistry,
  sink: IssueSink,
): void {
  const { decision, approval, modify } = action;
  const stages = scope?.stages ?? null;
  const frame = { decision, execution, stages };
  const refuseAt = (path: PropertyKey[], message: string, input: unknown): void =>
    report(sink, 'value_error', message, input, ['action', ...path]);
  if (approval !== undefined) {
    const problem = modify === undefined ? approvalProblem(frame) : 'cannot stand beside modify';
    if (problem !== null) refuseAt(['approval'], problem, approval);
    return;
  }
  if (modify === undefined) return;
  const problem = modifyProblem(frame);
  if (problem !== null) refuseAt(['modify'], problem, modify);
  for (const [index, change] of modify.entries()) {
    const wrong = changePathProblem(change.path, 'remove' in change, stages);
    if (wrong !== null) refuseAt(['modify', index, 'path'], wrong, change.path);
  }
  const asked = modify.findIndex((change) => 'replace' in change && change.replace === 'matches');
  if (asked >= 0 && !canLocate(condition, registry)) {
    const message =
      'no check of the condition can say where it matches: a check by regex, list or a custom evaluator can, unless it is below "not"';
    refuseAt(['modify', asked, 'replace'], message, 'matches');
  }
}

function canLocate(condition: ControlDefinition['condition'], registry: EvaluatorRegistry): boolean {
  for (const { leaf, positive } of leavesOf(condition, ''))
    if (positive && registry.get(leaf.evaluator.name)?.locates === true) return true;
  return false;
}
