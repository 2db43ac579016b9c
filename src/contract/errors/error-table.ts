import { GrpcCode } from './grpc-code.js';

/** Representation of one error code in each protocol. */
export interface ErrorTableEntry {
  readonly httpStatus: number;
  readonly grpcCode: GrpcCode;
  readonly title: string;
}

const entry = (httpStatus: number, grpcCode: GrpcCode, title: string): ErrorTableEntry => ({
  httpStatus,
  grpcCode,
  title,
});

/** The table of all error codes. Titles are the code in title case unless clients expect another one. */
export const ERROR_TABLE = {
  AUTH_MISSING_KEY: entry(401, GrpcCode.Unauthenticated, 'Authentication Required'),
  AUTH_INVALID_KEY: entry(401, GrpcCode.Unauthenticated, 'Invalid API Key'),
  AUTH_INSUFFICIENT_PRIVILEGES: entry(403, GrpcCode.PermissionDenied, 'Insufficient Privileges'),
  RESOURCE_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Resource Not Found'),
  METHOD_NOT_ALLOWED: entry(405, GrpcCode.Unimplemented, 'Method Not Allowed'),
  AGENT_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Agent Not Found'),
  POLICY_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Policy Not Found'),
  CONTROL_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Control Not Found'),
  CONTROL_VERSION_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Control Version Not Found'),
  EVALUATOR_NOT_FOUND: entry(422, GrpcCode.InvalidArgument, 'Evaluator Not Found'),
  CONTROL_NAME_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Control Name Already Exists'),
  POLICY_NAME_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Policy Name Already Exists'),
  EVALUATOR_NAME_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Evaluator Name Conflict'),
  SCHEMA_INCOMPATIBLE: entry(409, GrpcCode.FailedPrecondition, 'Schema Incompatible'),
  EVALUATOR_IN_USE: entry(409, GrpcCode.FailedPrecondition, 'Evaluator In Use'),
  CONTROL_TEMPLATE_CONFLICT: entry(409, GrpcCode.FailedPrecondition, 'Control Template Conflict'),
  CONTROL_IN_USE: entry(409, GrpcCode.FailedPrecondition, 'Control In Use'),
  POLICY_IN_USE: entry(409, GrpcCode.FailedPrecondition, 'Policy In Use'),
  VERSION_MISMATCH: entry(412, GrpcCode.Aborted, 'Version Mismatch'),
  POLICY_CONTROL_INCOMPATIBLE: entry(400, GrpcCode.FailedPrecondition, 'Policy Control Incompatible'),
  VALIDATION_ERROR: entry(422, GrpcCode.InvalidArgument, 'Validation Error'),
  INVALID_CONFIG: entry(422, GrpcCode.InvalidArgument, 'Invalid Configuration'),
  TEMPLATE_PARAMETER_INVALID: entry(422, GrpcCode.InvalidArgument, 'Template Parameter Invalid'),
  TEMPLATE_RENDER_ERROR: entry(422, GrpcCode.InvalidArgument, 'Template Render Error'),
  CORRUPTED_DATA: entry(422, GrpcCode.DataLoss, 'Corrupted Data'),
  TLS_REQUIRED: entry(400, GrpcCode.FailedPrecondition, 'TLS Required'),
  PAYLOAD_TOO_LARGE: entry(413, GrpcCode.ResourceExhausted, 'Payload Too Large'),
  RATE_LIMITED: entry(429, GrpcCode.ResourceExhausted, 'Rate Limited'),
  SERVICE_UNAVAILABLE: entry(503, GrpcCode.Unavailable, 'Service Unavailable'),
  DRAINING: entry(503, GrpcCode.Unavailable, 'Draining'),
  AUTH_MISCONFIGURED: entry(503, GrpcCode.Unavailable, 'Authentication Misconfigured'),
  AUTH_UPSTREAM_REJECTED: entry(502, GrpcCode.Unavailable, 'Upstream Rejected'),
  CONTROL_BINDING_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Control Binding Not Found'),
  CONTROL_BINDING_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Control Binding Already Exists'),
  CONTROL_BINDING_INCOMPATIBLE: entry(400, GrpcCode.FailedPrecondition, 'Control Binding Incompatible'),
  NAMESPACE_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Namespace Not Found'),
  NAMESPACE_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Namespace Already Exists'),
  NAMESPACE_IN_USE: entry(409, GrpcCode.FailedPrecondition, 'Namespace In Use'),
  KEY_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Key Not Found'),
  IDEMPOTENCY_CONFLICT: entry(409, GrpcCode.FailedPrecondition, 'Idempotency Conflict'),
  PACK_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Pack Not Found'),
  PACK_INSTALLATION_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Pack Installation Not Found'),
  PACK_ALREADY_INSTALLED: entry(409, GrpcCode.AlreadyExists, 'Pack Already Installed'),
  CONFIGURATION_CONFLICT: entry(409, GrpcCode.Aborted, 'Configuration Conflict'),
  CONFIGURATION_REVISION_CHANGED: entry(409, GrpcCode.Aborted, 'Configuration Revision Changed'),
  SAMPLING_RULE_CONFLICT: entry(409, GrpcCode.AlreadyExists, 'Sampling Rule Conflict'),
  SAMPLING_RULE_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Sampling Rule Not Found'),
  SAMPLE_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Sample Not Found'),
  SHADOW_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Shadow Not Found'),
  EVENT_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Event Not Found'),
  SHADOW_CHANGED: entry(409, GrpcCode.Aborted, 'Shadow Changed'),
  PACK_VERSION_CHANGED: entry(409, GrpcCode.Aborted, 'Pack Version Changed'),
  HALT_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Halt Not Found'),
  MEMORY_KEY_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Memory Key Not Found'),
  APPROVAL_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Approval Not Found'),
  APPROVAL_CONFLICT: entry(409, GrpcCode.FailedPrecondition, 'Approval Conflict'),
  DESTINATION_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Destination Not Found'),
  DELIVERY_NOT_FOUND: entry(404, GrpcCode.NotFound, 'Delivery Not Found'),
  ADAPTER_OFF: entry(404, GrpcCode.Unimplemented, 'Adapter Off'),
  ACCESS_REQUEST_INVALID: entry(422, GrpcCode.InvalidArgument, 'Access Request Invalid'),
  DEADLINE_EXCEEDED: entry(504, GrpcCode.DeadlineExceeded, 'Deadline Exceeded'),
  DATABASE_ERROR: entry(500, GrpcCode.Internal, 'Database Error'),
  INTERNAL_ERROR: entry(500, GrpcCode.Internal, 'Internal Server Error'),
} as const satisfies Record<string, ErrorTableEntry>;

/** Stable error codes; they never change meaning once released. */
export type ErrorCode = keyof typeof ERROR_TABLE;
