import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { ERROR_TABLE } from '../../src/contract/errors/error-table.js';
import { MEDIA_TYPES } from '../../src/serve/wire/media-types.js';
import { ERROR_TYPE_BASE } from '../../src/serve/wire/problem.js';
import type { SchemaPool } from './schema-pool.js';

const TEXT: JsonObject = { type: 'string' };
const VALUE: JsonObject = {
  description: 'The offending value when it is a number or a boolean; any other is redacted.',
  type: ['boolean', 'number', 'string'],
};

const ITEM: JsonObject = {
  type: 'object',
  description: 'One problem of a request.',
  properties: {
    resource: { ...TEXT, description: 'What it is about, for example "Control" or "Request".' },
    field: { ...TEXT, description: 'Path of the offending member, for example "data.scope.stages[0]".' },
    code: { ...TEXT, description: 'Stable code, for example "missing" or "string_type".' },
    message: { ...TEXT, description: 'Explanation for people.' },
    value: VALUE,
    parameter: { ...TEXT, description: 'The template parameter to blame.' },
    parameter_label: { ...TEXT, description: 'Its name for people.' },
    rendered_field: { ...TEXT, description: 'Path inside the definition that a template gives.' },
  },
  required: ['resource', 'code', 'message'],
};

/** A reference to the schema of problem bodies. */
export function problemSchema(pool: SchemaPool): JsonObject {
  const items: JsonObject = { type: 'array', items: pool.define('ProblemItem', () => ITEM) };
  return pool.define('Problem', () => ({
    type: 'object',
    description: 'What went wrong. Members without a value are left out.',
    properties: {
      type: { ...TEXT, description: `${ERROR_TYPE_BASE} and the code in lower case.` },
      title: { ...TEXT, description: 'Name of the code for people.' },
      status: { type: 'integer', description: 'HTTP status.' },
      detail: { ...TEXT, description: 'Explanation of this case for people.' },
      instance: { ...TEXT, description: 'Path of the request.' },
      error_code: { ...TEXT, description: 'Stable code.', enum: Object.keys(ERROR_TABLE) },
      kind: { const: 'Status' },
      api_version: { const: 'v1' },
      reason: { ...TEXT, description: 'Name of the status, for example "NotFound".' },
      metadata: {
        type: 'object',
        properties: {
          request_id: { ...TEXT, description: 'Names the request in the log of the service.' },
          timestamp: { ...TEXT, description: 'When, ISO 8601 with zone.' },
        },
        required: ['timestamp'],
      },
      errors: { ...items, description: 'Every problem of the request.' },
      details: {
        type: 'object',
        description: 'What the problem is about.',
        properties: {
          name: { ...TEXT, description: 'Id or name of the resource.' },
          kind: { ...TEXT, description: 'Kind of the resource.' },
          causes: { ...items, description: 'Same as errors.' },
          retry_after_seconds: { type: 'number', description: 'When a retry makes sense.' },
        },
      },
      hint: { ...TEXT, description: 'What to do about it.' },
    },
    required: [
      'type',
      'title',
      'status',
      'detail',
      'instance',
      'error_code',
      'kind',
      'api_version',
      'reason',
      'metadata',
    ],
  }));
}

/** The schema of the host's reply to a request that cannot be read. */
function failureSchema(pool: SchemaPool): JsonObject {
  return pool.define('Failure', () => ({
    description: 'A problem; of a request that cannot even be decoded the detail alone.',
    anyOf: [
      problemSchema(pool),
      { type: 'object', properties: { detail: TEXT }, required: ['detail'], additionalProperties: false },
    ],
  }));
}

/** The responses shared by operations, for the components of a document. */
export function failureResponses(pool: SchemaPool): JsonObject {
  const problem = problemSchema(pool);
  return {
    Unauthenticated: response('There is no key, or an unknown one.', problem),
    Forbidden: response('The key is known but lacks the right.', problem),
    Invalid: response(
      'The request is well-formed JSON, or nearly, but not valid. `errors` tells where.',
      problem,
    ),
    Undecodable: response('The request cannot be decoded, or does not fit what exists.', failureSchema(pool)),
    NotFound: response('Something that the request names does not exist.', problem),
    Conflict: response('The request conflicts with what exists.', problem),
    VersionMismatch: response(
      'The resource does not have the version that if_version, or If-Match, demands. Nothing is changed.',
      problem,
    ),
    TooLarge: response('The body is larger than the limit.', failureSchema(pool)),
    RateLimited: response('A limit of the caller is reached. Retry-After tells when to try again.', problem),
    Unavailable: response(
      'The service cannot answer at present. Retry-After tells when to try again.',
      problem,
    ),
    Timeout: response('The call was not complete within its time limit.', problem),
    Failure: response(
      'Any other failure, for example 404 when something does not exist, 409 for a conflict, or 503 when the ' +
        'service cannot answer now. `error_code` tells which.',
      failureSchema(pool),
    ),
  };
}

/** A response of `failureResponses`. */
export type FailureName =
  | 'Unauthenticated'
  | 'Forbidden'
  | 'Invalid'
  | 'Undecodable'
  | 'NotFound'
  | 'Conflict'
  | 'VersionMismatch'
  | 'TooLarge'
  | 'RateLimited'
  | 'Unavailable'
  | 'Timeout'
  | 'Failure';

/** A reference to one of `failureResponses`. */
export function failure(name: FailureName): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

/** A JSON response. */
export function response(description: string, schema: JsonObject): JsonObject {
  return { description, content: { [MEDIA_TYPES.json]: { schema } } };
}
