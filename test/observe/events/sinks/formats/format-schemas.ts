import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Without control characters, halves of surrogate pairs and noncharacters. */
const TEXT = '^[^\\p{Cc}\\p{Cs}\\p{Noncharacter_Code_Point}]+$';
const TEXT_OF_OCSF = { type: 'string', minLength: 1 };
const ENUM = { type: 'integer', minimum: 0 };

/** Of the specification of CloudEvents 1.0.2: the attributes, and the rules for names and texts of extensions. */
const CLOUD_EVENT = {
  type: 'object',
  required: ['id', 'source', 'specversion', 'type'],
  properties: {
    id: { type: 'string', pattern: TEXT },
    source: { type: 'string', pattern: TEXT, format: 'uri-reference' },
    specversion: { const: '1.0' },
    type: { type: 'string', pattern: TEXT },
    subject: { type: 'string', pattern: TEXT },
    time: { type: 'string', format: 'date-time' },
    datacontenttype: { const: 'application/json' },
    dataschema: { type: 'string', format: 'uri' },
    traceparent: { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$' },
    data: { $ref: 'urn:control-enforcement:decision:v1' },
  },
  propertyNames: { pattern: '^[a-z0-9]{1,20}$' },
  additionalProperties: {
    anyOf: [{ type: 'boolean' }, { type: 'integer' }, { type: 'string', pattern: TEXT }],
  },
};

/** What OCSF 1.8 requires of every event here; `metadata`, `product` and the profile `security_control` included. */
const OCSF_BASE = {
  type: 'object',
  required: [
    ...['activity_id', 'category_uid', 'class_uid', 'type_uid', 'severity_id', 'time', 'metadata'],
    ...['action_id', 'disposition_id', 'message', 'is_alert', 'policy'],
  ],
  properties: {
    time: { type: 'integer' },
    severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
    action_id: { enum: [0, 1, 2, 3, 4, 99] },
    disposition_id: { type: 'integer', minimum: 0, maximum: 27 },
    is_alert: { type: 'boolean' },
    message: TEXT_OF_OCSF,
    status_detail: { type: 'string' },
    policy: {
      type: 'object',
      required: ['uid', 'name'],
      properties: { uid: TEXT_OF_OCSF, name: TEXT_OF_OCSF },
    },
    metadata: {
      type: 'object',
      required: ['version', 'product', 'uid', 'tenant_uid', 'profiles'],
      properties: {
        version: { const: '1.8.0' },
        uid: { type: 'string' },
        tenant_uid: TEXT_OF_OCSF,
        sequence: { type: 'integer' },
        profiles: { type: 'array', contains: { const: 'security_control' } },
        product: {
          type: 'object',
          required: ['name', 'vendor_name'],
          properties: { name: TEXT_OF_OCSF, vendor_name: TEXT_OF_OCSF, version: TEXT_OF_OCSF },
        },
      },
    },
    resources: { type: 'array', items: { type: 'object', required: ['name'] } },
    unmapped: { type: 'object' },
  },
};

/** Attributes that both classes have: of the base event and of the profile. */
const OCSF_ATTRIBUTES = [
  ...['activity_id', 'activity_name', 'category_uid', 'category_name', 'class_uid', 'class_name'],
  ...['type_uid', 'type_name', 'time', 'severity_id', 'severity', 'status_id', 'status', 'status_detail'],
  ...['message', 'metadata', 'resources', 'unmapped'],
  ...['action_id', 'action', 'disposition_id', 'disposition', 'is_alert', 'policy'],
];

const DETECTION_FINDING = {
  propertyNames: {
    enum: [...OCSF_ATTRIBUTES, 'finding_info', 'confidence_id', 'confidence', 'confidence_score'],
  },
  required: ['finding_info'],
  properties: {
    category_uid: { const: 2 },
    class_uid: { const: 2004 },
    type_uid: { const: 200_401 },
    activity_id: { const: 1 },
    status_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
    confidence_id: { enum: [0, 1, 2, 3, 99] },
    confidence_score: { type: 'integer', minimum: 0, maximum: 100 },
    finding_info: {
      type: 'object',
      required: ['uid', 'title', 'analytic'],
      properties: {
        uid: { type: 'string' },
        title: TEXT_OF_OCSF,
        created_time: { type: 'integer' },
        analytic: { type: 'object', required: ['type_id'], properties: { type_id: { const: 1 } } },
      },
    },
  },
};

const API_ACTIVITY = {
  propertyNames: { enum: [...OCSF_ATTRIBUTES, 'actor', 'api', 'src_endpoint', 'trace'] },
  required: ['actor', 'api', 'src_endpoint'],
  properties: {
    category_uid: { const: 6 },
    class_uid: { const: 6003 },
    type_uid: { const: 600_399 },
    activity_id: { const: 99 },
    activity_name: TEXT_OF_OCSF,
    status_id: { enum: [0, 1, 2, 99] },
    actor: { type: 'object', required: ['app_name'] },
    api: { type: 'object', required: ['operation'], properties: { operation: TEXT_OF_OCSF } },
    src_endpoint: { type: 'object', required: ['name'], properties: { name: TEXT_OF_OCSF } },
    trace: { type: 'object', required: ['uid'], properties: { uid: TEXT_OF_OCSF } },
  },
};

const OCSF = {
  ...OCSF_BASE,
  // Each number of an enumeration has its caption beside it.
  allOf: ['activity', 'severity', 'action', 'disposition'].map((name) => ({
    required: [name === 'activity' ? 'activity_name' : name],
    properties: { [`${name}_id`]: ENUM },
  })),
  oneOf: [DETECTION_FINDING, API_ACTIVITY],
};

/** As OPA writes an event of its decision log. */
const OPA = {
  type: 'object',
  required: ['labels', 'decision_id', 'path', 'input', 'result', 'requested_by', 'timestamp'],
  properties: {
    labels: { type: 'object', additionalProperties: { type: 'string' }, required: ['id', 'version'] },
    decision_id: { type: 'string' },
    batch_decision_id: { type: 'string' },
    trace_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    span_id: { type: 'string', pattern: '^[0-9a-f]{16}$' },
    bundles: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { revision: { type: 'string' } } },
    },
    path: { type: 'string', minLength: 1 },
    input: { type: 'object' },
    result: { type: 'object' },
    error: { type: 'object' },
    erased: { type: 'array', items: { type: 'string', pattern: '^/(?:input|result)' } },
    requested_by: { type: 'string', minLength: 1 },
    timestamp: { type: 'string', format: 'date-time' },
    metrics: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  additionalProperties: false,
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('uri', (text) => URL.canParse(text));
ajv.addFormat('uri-reference', (text) => URL.canParse(text, 'https://example.com'));
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/);
const page = path.join(import.meta.dirname, '../../../../../docs/decision.v1.schema.json');
ajv.addSchema(JSON.parse(readFileSync(page, 'utf8')));

export const SCHEMAS = {
  cloudevents: ajv.compile(CLOUD_EVENT),
  ocsf: ajv.compile(OCSF),
  opa: ajv.compile(OPA),
};
