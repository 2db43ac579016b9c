import { z } from 'zod';
import { LIMITS } from '../../../../gen/limits/limits.js';
import {
  field,
  freeObject,
  jsonSchemaOf,
  list,
  nullable,
  oneOf,
  readWith,
  refuse,
  text,
  withExample,
} from '../../../../src/contract/input/fields.js';
import { parseInput } from '../../../../src/contract/input/parse-input.js';
import {
  foldedName,
  inOtherCase,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../exact-json/src/index.js';
import { AUTHZEN_NAMES } from '../steps/protocol-names.js';

const MAX_ID_LENGTH = 1024;
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

const name = () => text({ min: 1, max: MAX_ID_LENGTH });
const entity = () => z.object({ type: name(), id: name(), properties: nullable(freeObject()) });
const action = () => z.object({ name: name(), properties: nullable(freeObject()) });
/** A part of accesses that is read once they are whole: one that is wrong does not affect the others. */
const part = (whole: z.ZodObject) => nullable(freeObject().meta(jsonSchemaOf(whole.partial())));
const parts = () => ({
  subject: part(entity()),
  action: part(action()),
  resource: part(entity()),
  context: nullable(freeObject()),
});

const EXAMPLE = {
  subject: { type: 'agent', id: 'billing-bot-01' },
  action: { name: 'tools/call' },
  resource: { type: 'tool', id: 'read_invoice' },
  context: { arguments: { number: 7 } },
};

/** Members that are not known are not read: one that others take for a part would be checked without it. */
function withExactNames<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return field((value, sink) => {
    const found = foldedName(value, AUTHZEN_NAMES);
    if (found !== undefined) return refuse(sink, 'value_error', `${found.path} ${inOtherCase(found)}`, value);
    return readWith(schema, value, sink) ?? z.NEVER;
  }, jsonSchemaOf(schema));
}

/** Input schemas of AuthzenService. Members are in the order of the messages. */
export const schemas = {
  evaluateAccess: withExample(
    withExactNames(
      z.object({
        subject: entity(),
        action: action(),
        resource: entity(),
        context: nullable(freeObject()),
      }),
    ),
    EXAMPLE,
  ),
  evaluateAccesses: withExample(
    withExactNames(
      z.object({
        ...parts(),
        evaluations: nullable(list(z.object(parts()), LIMITS.EvaluateAccessesRequest.evaluations)),
        options: nullable(z.object({ evaluations_semantic: nullable(oneOf(SEMANTICS)) })),
      }),
    ),
    { ...EXAMPLE, evaluations: [{ action: { name: 'tools/list' } }, {}] },
  ),
  getAuthzenConfiguration: z.object({}),
};

export type Access = z.output<typeof schemas.evaluateAccess>;
export type Accesses = z.output<typeof schemas.evaluateAccesses>;
type Parts = { readonly [Name in 'subject' | 'action' | 'resource' | 'context']?: JsonObject | undefined };

/**
 * An access of several: its parts replace those of the request, which are their defaults. A part keeps the type, the id or the name
 * of its default if it has none. Throws a VALIDATION_ERROR that names what is missing or invalid.
 */
export function wholeAccess(own: Parts, defaults: Parts): Access {
  const { subject, action, resource } = own;
  return parseInput(schemas.evaluateAccess, {
    subject: withRequired(subject, defaults.subject),
    action: withRequired(action, defaults.action),
    resource: withRequired(resource, defaults.resource),
    context: own.context ?? defaults.context,
  });
}

function withRequired(own: JsonObject | undefined, base: JsonObject | undefined): JsonValue | undefined {
  if (own === undefined || !isObject(base)) return own ?? base;
  const kept = ['type', 'id', 'name'].filter((one) => isAbsent(own[one]) && !isAbsent(base[one]));
  return { ...own, ...Object.fromEntries(kept.map((one) => [one, base[one] as JsonValue])) };
}

/** Texts that are absent are empty in the messages of RPCs. */
function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}
