import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '@gen/google/rpc/error_details_pb.js';

/** What the server says about a member of a request. */
export interface FieldViolation {
  /** Path of the member, for example `data.condition.selector.path`. Empty: the whole request. */
  readonly path: string;
  readonly message: string;
}

/** What the server refuses about members of a request; null for any other failure. */
export function fieldViolations(error: unknown): readonly FieldViolation[] | null {
  const failure = ConnectError.from(error);
  if (failure.code !== Code.InvalidArgument) return null;
  const found = failure.findDetails(BadRequestSchema).flatMap((detail) => detail.fieldViolations);
  if (found.length === 0) return null;
  return found.map(({ field, description }) => ({ path: field, message: description }));
}

/** The violations at or below a path, with paths relative to it. */
export function violationsBelow(violations: readonly FieldViolation[], prefix: string): FieldViolation[] {
  return violations.flatMap(({ path, message }) => {
    if (path === prefix) return [{ path: '', message }];
    if (path.startsWith(`${prefix}.`)) return [{ path: path.slice(prefix.length + 1), message }];
    return path.startsWith(`${prefix}[`) ? [{ path: path.slice(prefix.length), message }] : [];
  });
}
