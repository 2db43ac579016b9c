import { Code } from '@connectrpc/connect';

/** Representation of one error code in each protocol. */
export interface ErrorTableEntry {
  readonly httpStatus: number;
  readonly grpcCode: Code;
  readonly title: string;
}

const entry = (httpStatus: number, grpcCode: Code, title: string): ErrorTableEntry => ({
  httpStatus,
  grpcCode,
  title,
});

/** The table of all error codes. Titles are the code in title case unless clients expect another one. */
export const ERROR_TABLE = {
  AUTH_MISSING_KEY: entry(401, Code.Unauthenticated, 'Authentication Required'),
  AUTH_INVALID_KEY: entry(401, Code.Unauthenticated, 'Invalid API Key'),
  AUTH_INSUFFICIENT_PRIVILEGES: entry(403, Code.PermissionDenied, 'Insufficient Privileges'),
  RESOURCE_NOT_FOUND: entry(404, Code.NotFound, 'Resource Not Found'),
  METHOD_NOT_ALLOWED: entry(405, Code.Unimplemented, 'Method Not Allowed'),
  AGENT_NOT_FOUND: entry(404, Code.NotFound, 'Agent Not Found'),
  POLICY_NOT_FOUND: entry(404, Code.NotFound, 'Policy Not Found'),
  CONTROL_NOT_FOUND: entry(404, Code.NotFound, 'Control Not Found'),
  CONTROL_VERSION_NOT_FOUND: entry(404, Code.NotFound, 'Control Version Not Found'),
  EVALUATOR_NOT_FOUND: entry(422, Code.InvalidArgument, 'Evaluator Not Found'),
  CONTROL_NAME_CONFLICT: entry(409, Code.AlreadyExists, 'Control Name Already Exists'),
  POLICY_NAME_CONFLICT: entry(409, Code.AlreadyExists, 'Policy Name Already Exists'),
  EVALUATOR_NAME_CONFLICT: entry(409, Code.AlreadyExists, 'Evaluator Name Conflict'),
  SCHEMA_INCOMPATIBLE: entry(409, Code.FailedPrecondition, 'Schema Incompatible'),
  EVALUATOR_IN_USE: entry(409, Code.FailedPrecondition, 'Evaluator In Use'),
  CONTROL_TEMPLATE_CONFLICT: entry(409, Code.FailedPrecondition, 'Control Template Conflict'),
  CONTROL_IN_USE: entry(409, Code.FailedPrecondition, 'Control In Use'),
  POLICY_CONTROL_INCOMPATIBLE: entry(400, Code.FailedPrecondition, 'Policy Control Incompatible'),
  VALIDATION_ERROR: entry(422, Code.InvalidArgument, 'Validation Error'),
  INVALID_CONFIG: entry(422, Code.InvalidArgument, 'Invalid Configuration'),
  TEMPLATE_PARAMETER_INVALID: entry(422, Code.InvalidArgument, 'Template Parameter Invalid'),
  TEMPLATE_RENDER_ERROR: entry(422, Code.InvalidArgument, 'Template Render Error'),
  CORRUPTED_DATA: entry(422, Code.DataLoss, 'Corrupted Data'),
  TLS_REQUIRED: entry(400, Code.FailedPrecondition, 'TLS Required'),
  PAYLOAD_TOO_LARGE: entry(413, Code.ResourceExhausted, 'Payload Too Large'),
  RATE_LIMITED: entry(429, Code.ResourceExhausted, 'Rate Limited'),
  SERVICE_UNAVAILABLE: entry(503, Code.Unavailable, 'Service Unavailable'),
  DEADLINE_EXCEEDED: entry(504, Code.DeadlineExceeded, 'Deadline Exceeded'),
  DATABASE_ERROR: entry(500, Code.Internal, 'Database Error'),
  INTERNAL_ERROR: entry(500, Code.Internal, 'Internal Server Error'),
} as const satisfies Record<string, ErrorTableEntry>;

/** Stable error codes; they never change meaning once released. */
export type ErrorCode = keyof typeof ERROR_TABLE;
