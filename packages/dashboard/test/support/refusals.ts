import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema } from '@gen/google/rpc/error_details_pb.js';

/** That the service does not accept a member of a request. */
export function refusalOf(field: string, description: string): ConnectError {
  const fieldViolations = [{ field, description }];
  const details = [{ desc: BadRequestSchema, value: { fieldViolations } }];
  return new ConnectError(description, Code.InvalidArgument, undefined, details);
}

/** That something was changed in the meantime. */
export function versionMismatch(current: bigint): ConnectError {
  const info = { reason: 'VERSION_MISMATCH', metadata: { current_version: String(current) } };
  const details = [{ desc: ErrorInfoSchema, value: info }];
  return new ConnectError('it was changed', Code.FailedPrecondition, undefined, details);
}
