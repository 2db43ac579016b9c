import { ApprovalRequiredError, NotEvaluatedError, SteerError, StepDataError } from '../errors.js';
import type { Refused } from './framework-options.js';

/** What a model is told instead of the result of a tool. It says what to do differently, and never how a control decides. */
export interface ToolRefusal {
  /** `output_withheld`: the tool ran, and its effects have happened; what it returned is not shown. */
  readonly status: 'not_executed' | 'output_withheld';
  /** `unavailable`: the step could not be checked. */
  readonly reason: 'denied' | 'steered' | 'approval_required' | 'unavailable';
  readonly message: string;
  /** Names of the controls that decided. */
  readonly controls: readonly string[];
  /** What must be done before the call is repeated; with the reason `steered`. */
  readonly required_actions?: readonly string[];
  /** With the reason `approval_required`. */
  readonly approval_id?: number;
  /** Milliseconds after which the call may be repeated with a chance to pass. */
  readonly retry_after_ms?: number;
}

const STATUSES: readonly unknown[] = ['not_executed', 'output_withheld'];
const REASONS: readonly unknown[] = ['denied', 'steered', 'approval_required', 'unavailable'];

/** What a model is told of a call that does not proceed. */
export function refusalOf(error: Refused): ToolRefusal {
  const status = error.stage === 'pre' ? 'not_executed' : 'output_withheld';
  const { message } = error;
  if (error instanceof StepDataError) return { status, reason: 'unavailable', message, controls: [] };
  const { controls, retryAfterMs } = error;
  return {
    status,
    reason: reasonOf(error),
    message,
    controls,
    ...(error instanceof SteerError && error.requiredActions.length > 0
      ? { required_actions: error.requiredActions }
      : {}),
    ...(error instanceof ApprovalRequiredError ? { approval_id: error.approval.id } : {}),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  };
}

function reasonOf(error: Refused): ToolRefusal['reason'] {
  if (error instanceof SteerError) return 'steered';
  if (error instanceof ApprovalRequiredError) return 'approval_required';
  return error instanceof NotEvaluatedError ? 'unavailable' : 'denied';
}

/** Whether what a tool returned is a refusal. */
export function isToolRefusal(value: unknown): value is ToolRefusal {
  if (typeof value !== 'object' || value === null) return false;
  const { status, reason, message } = value as Partial<ToolRefusal>;
  return STATUSES.includes(status) && REASONS.includes(reason) && typeof message === 'string';
}
