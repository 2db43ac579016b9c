import { z } from 'zod';
import type { Model } from './models.js';
import type { ConfigProblem, JsonObject, JsonValue } from './types.js';

const configSchema = z.object({
  model: z.string().min(1).meta({ description: 'Name of a model of SERVICE_ONNX_MODELS.' }),
  label: z
    .string()
    .min(1)
    .meta({ description: 'Label of the model (id2label of its config.json) that matches.' }),
  threshold: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .meta({ description: 'Lowest score of the label, above 0 and at most 1. Default 0.5.' }),
});

export type OnnxConfig = z.output<typeof configSchema>;

/** JSON Schema of the configuration, as shown to clients. */
export const configJsonSchema: JsonObject = (() => {
  const { $schema: _, ...shown } = z.toJSONSchema(configSchema, { io: 'input' });
  return shown as JsonObject;
})();

/** Reads a configuration for these models: all members, or what is wrong with it. Without models, any name is accepted. */
export function readConfig(
  config: JsonObject,
  models: ReadonlyMap<string, Model>,
): OnnxConfig | readonly ConfigProblem[] {
  const read = configSchema.safeParse(config, { reportInput: true });
  if (!read.success) return read.error.issues.map(problemOf);
  if (models.size === 0) return read.data;
  const { model, label } = read.data;
  const found = models.get(model);
  if (found === undefined) return [unknownName('model', model, [...models.keys()])];
  return found.labels.includes(label) ? read.data : [unknownName('label', label, found.labels)];
}

const unknownName = (member: string, given: string, known: readonly string[]): ConfigProblem => ({
  code: 'value_error',
  message: `must be one of: ${known.join(', ')}`,
  path: [member],
  input: given,
});

function problemOf(issue: z.core.$ZodIssue): ConfigProblem {
  const input = issue.input as JsonValue | undefined;
  return { code: codeOf(issue, input), message: issue.message, path: issue.path, input };
}

/** The codes that deployed clients know. */
function codeOf(issue: z.core.$ZodIssue, input: JsonValue | undefined): string {
  if (issue.code !== 'invalid_type') return 'value_error';
  if (input === undefined) return 'missing';
  return issue.expected === 'number' ? 'float_type' : 'string_type';
}
