import type { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem, ErrorResource } from '../errors/service-error.js';

const RESOURCES: Readonly<Record<string, ErrorResource>> = {
  agent: 'Agent',
  steps: 'Step',
  evaluators: 'Evaluator',
  data: 'Control',
  policy: 'Policy',
};

/** Most items reported to a caller, or created at all: a hostile list has millions of mistakes. */
export const MAX_ERROR_ITEMS = 1_000;

/** `['data', 'and', 0, 'x']` → `data.and[0].x`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}

/**
 * The issues of a failed parse (made with `reportInput: true`) as error items, in the order of the schema; at most
 * MAX_ERROR_ITEMS of them.
 */
export function errorItems(error: z.ZodError): ErrorItem[] {
  return error.issues.slice(0, MAX_ERROR_ITEMS).flatMap(issueItems).slice(0, MAX_ERROR_ITEMS);
}

/** One item, or one for each superfluous member. */
function issueItems(issue: z.core.$ZodIssue): ErrorItem[] {
  if (issue.code !== 'unrecognized_keys') return [errorItem(issue)];
  const { path, input } = issue;
  const enclosing = (input ?? {}) as JsonObject;
  return issue.keys.slice(0, MAX_ERROR_ITEMS).map((key) =>
    errorItem({
      code: 'custom',
      path: [...path, key],
      message: 'there is no such member here',
      input: Object.hasOwn(enclosing, key) ? enclosing[key] : undefined,
      params: { code: 'extra_forbidden' },
    }),
  );
}

function errorItem(issue: z.core.$ZodIssue): ErrorItem {
  const field = fieldPath(issue.path);
  const first = issue.path[0];
  const resource = (typeof first === 'string' ? RESOURCES[first] : undefined) ?? 'Request';
  const input = issue.input as JsonValue | undefined;
  return {
    resource,
    ...(field === '' ? {} : { field }),
    code: issueCode(issue),
    message: issue.message,
    // The parent of a missing member is an object, which is redacted like any other.
    value: input === undefined ? {} : input,
    ...(issue.code === 'custom' && issue.params?.quotable === true ? { quotable: true } : {}),
  };
}

function issueCode(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'custom': {
      const code = issue.params?.code as unknown;
      return typeof code === 'string' ? code : 'value_error';
    }
    case 'invalid_type':
      // A request with the body null has no body.
      if (issue.input === undefined || (issue.input === null && issue.path.length === 0)) return 'missing';
      if (issue.expected === 'array') return 'list_type';
      if (issue.expected === 'record') return 'dict_type';
      return issue.expected === 'object' ? 'model_attributes_type' : `${issue.expected}_type`;
    case 'too_small':
      return 'too_short';
    case 'too_big':
      return 'too_long';
    default:
      return 'value_error';
  }
}
