import { z } from 'zod';
import type { ConfigProblem, JsonObject, JsonValue } from './types.js';

const METRICS = [
  'input_toxicity',
  'output_toxicity',
  'input_sexism',
  'output_sexism',
  'prompt_injection',
  'pii_detection',
  'hallucination',
  'tone',
] as const;

const configSchema = z
  .object({
    stage_type: z.enum(['local', 'central']).default('local'),
    metric: z.enum(METRICS).nullable().default(null).meta({ description: 'Required for local.' }),
    operator: z
      .enum(['gt', 'lt', 'gte', 'lte', 'eq', 'contains', 'any'])
      .nullable()
      .default(null)
      .meta({ description: 'How the score is compared with target_value. Required for local.' }),
    target_value: z
      .union([z.string(), z.number()])
      .nullable()
      .default(null)
      .meta({ description: 'Required for local. A numeric text is taken as a number.' }),
    stage_name: z.string().nullable().default(null).meta({ description: 'Required for central.' }),
    stage_version: z.int().nullable().default(null),
    vendor_project: z.string().nullable().default(null),
    timeout_ms: z
      .int()
      .min(1_000)
      .max(60_000)
      .default(10_000)
      .meta({ description: 'Longest time of a check, retries included, in milliseconds.' }),
    on_error: z.enum(['allow', 'deny']).default('allow').meta({
      description: 'What a check says when the model cannot be asked: deny matches, allow does not.',
    }),
    payload_field: z
      .enum(['input', 'output'])
      .nullable()
      .default(null)
      .meta({ description: 'What the data are; by default output when the metric is one of outputs.' }),
    metadata: z.record(z.string(), z.unknown()).nullable().default(null),
  })
  .superRefine((config, context) => {
    const required = config.stage_type === 'local' ? LOCAL : CENTRAL;
    const missing = required.filter((name) => config[name] === null);
    if (missing.length === 0) return;
    context.addIssue({
      code: 'custom',
      message: `stage_type ${config.stage_type} requires ${missing.join(', ')}`,
      path: [],
    });
  });

const LOCAL = ['metric', 'operator', 'target_value'] as const;
const CENTRAL = ['stage_name'] as const;

/** A configuration with all its defaults. */
export type VendorConfig = z.infer<typeof configSchema>;

/** JSON Schema of the configuration, as shown to clients. */
export const configJsonSchema: JsonObject = shownSchema();

function shownSchema(): JsonObject {
  const { $schema: _, ...shown } = z.toJSONSchema(configSchema, { io: 'input' });
  return shown as JsonObject;
}

/** Reads a configuration: all members, or what is wrong with it. Members that it does not know are ignored. */
export function readConfig(config: JsonObject): VendorConfig | readonly ConfigProblem[] {
  const lax = {
    ...config,
    ...withInteger(config, 'timeout_ms'),
    ...withInteger(config, 'stage_version'),
    ...(typeof config.target_value === 'bigint' ? { target_value: Number(config.target_value) } : {}),
  };
  const read = configSchema.safeParse(lax, { reportInput: true });
  return read.success ? read.data : read.error.issues.map(problemOf);
}

/** Deployed clients may send integers as text, as `5.0` and as true, like everywhere in this service. */
function withInteger(config: JsonObject, name: string): JsonObject {
  if (!Object.hasOwn(config, name)) return {};
  const sent = config[name] ?? null;
  if (typeof sent === 'boolean' || typeof sent === 'bigint') return { [name]: Number(sent) };
  if (typeof sent === 'string' && /^[+-]?\d{1,20}(?:\.0+)?$/.test(sent.trim())) {
    return { [name]: Number(sent.trim()) };
  }
  return { [name]: sent };
}

function problemOf(issue: z.core.$ZodIssue): ConfigProblem {
  const input = issue.input as JsonValue | undefined;
  return { code: codeOf(issue), message: issue.message, path: issue.path, input };
}

/** The codes that deployed clients know. */
function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeCode(issue.expected, issue.input);
    case 'invalid_value':
      return 'literal_error';
    case 'too_small':
      return 'greater_than_equal';
    case 'too_big':
      return 'less_than_equal';
    default:
      return 'value_error';
  }
}

function typeCode(expected: string, input: unknown): string {
  if (expected === 'record') return 'dict_type';
  if (expected !== 'int' && expected !== 'number') return 'string_type';
  if (typeof input === 'number') return 'int_from_float';
  return typeof input === 'string' ? 'int_parsing' : 'int_type';
}
