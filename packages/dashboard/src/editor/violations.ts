import { Code, ConnectError } from '@connectrpc/connect';
import type { Warning } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { BadRequestSchema, ErrorInfoSchema } from '../../../../gen/proto/google/rpc/error_details_pb.js';
import type { DraftProblem } from './problem.js';

/** What the server refuses about members of a request. Null for another failure. */
export function violationsOf(error: unknown): readonly DraftProblem[] | null {
  const failure = ConnectError.from(error);
  if (failure.code !== Code.InvalidArgument) return null;
  const violations = failure.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
  if (violations.length === 0) return null;
  return violations.map(({ field, description }) => ({ field, message: description, severity: 'error' }));
}

export function warningProblems(warnings: readonly Warning[]): readonly DraftProblem[] {
  return warnings.map(({ field, message }) => ({ field, message, severity: 'warning' }));
}

/** The stable reason of a failed call, for example `VERSION_MISMATCH`, with its facts. */
export function errorInfoOf(error: unknown): {
  readonly reason: string;
  readonly facts: Readonly<Record<string, string>>;
} {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return { reason: info?.reason ?? '', facts: info?.metadata ?? {} };
}
