import type { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { isNumber, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { ServiceError } from '../errors/service-error.js';
import { field, refuse, refuseTyped, shownText, text } from './fields.js';

/** At most as long as the database column. */
const LENGTH = LIMITS.Agent.agent_name;
const AGENT_NAME = /^[a-z0-9:_-]+$/;
const AGENT_NAME_RULE = `an agent name has ${LENGTH.min} to ${LENGTH.max} characters: letters, digits, ":", "_" and "-"`;

/**
 * The normalised form of an agent name: as text, without surrounding blanks, in lower case. Undefined when it
 * is invalid.
 */
export function normaliseAgentName(value: JsonValue | undefined): string | undefined {
  const given = isNumber(value) ? String(value) : value;
  if (typeof given !== 'string') return undefined;
  const name = given.trim().toLowerCase();
  if (name.length < LENGTH.min || name.length > LENGTH.max) return undefined;
  return AGENT_NAME.test(name) ? name : undefined;
}

/** The agent name in a request body, normalised. */
export function agentName(): z.ZodType<string> {
  return field(
    (value, sink) => normaliseAgentName(value) ?? refuseTyped(sink, 'value_error', AGENT_NAME_RULE, value),
    shownText(LENGTH),
  );
}

/** The agent name in a path: any text; the service normalises it, because it is validated after the body. */
export const unreadAgentName = text();

/** The agent name in a path, a query or a cursor, normalised. Throws a VALIDATION_ERROR when it is invalid. */
export function readAgentName(raw: string, member: 'agent_name' | 'cursor'): string {
  const name = normaliseAgentName(raw);
  if (name !== undefined) return name;
  throw new ServiceError('VALIDATION_ERROR', {
    detail: member === 'cursor' ? 'the cursor is not an agent name' : 'the agent name is invalid',
    hint: AGENT_NAME_RULE,
    kind: 'Agent',
    items: [
      {
        resource: 'Agent',
        field: member,
        code: 'invalid_format',
        message: AGENT_NAME_RULE,
        value: raw,
        quotable: true,
      },
    ],
  });
}

/** The unique name of a control: case-sensitive, surrounding blanks removed. */
export function slugName(): z.ZodType<string> {
  return text({
    ...LIMITS.CreateControlRequest.name,
    trim: true,
    tooShort: 'too_short',
    tooLong: 'too_long',
  });
}

/** No control characters, line breaks and halves of surrogate pairs: names appear in logs and notifications. */
const LINE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;
/** The same, but for invisible characters, of which emojis are composed. */
export const FREE_LINE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;

/** A line for people, surrounding blanks removed: 1 to `max` UTF-16 code units that match `pattern`. */
export function line(limits: { readonly min: 1; readonly max: number }, pattern = LINE): z.ZodType<string> {
  const { max } = limits;
  return field((value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const read = value.trim();
    if (read === '') return refuse(sink, 'string_too_short', 'must have at least 1 character', value);
    if (read.length <= max && pattern.test(read)) return read;
    const rule = `must have 1 to ${max} characters, without line breaks and control characters`;
    return refuseTyped(sink, 'value_error', rule, value);
  }, shownText(limits));
}
