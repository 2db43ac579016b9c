import { z } from 'zod';
import { AGENT_PATTERN } from '../../contract/call/agent-limit.js';
import { NAMESPACE_NAME } from '../../contract/call/namespace.js';
import { type RoleTable, SCOPES } from '../../contract/call/scopes.js';
import {
  boolean,
  field,
  list,
  nullable,
  oneOf,
  refuse,
  refuseTyped,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { integer } from '../../contract/input/numbers.js';
import { futureTime } from '../../contract/input/times.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';
import { within32Bits } from '../../storage/database/row-id.js';

const MAX_AGENTS = 1_000;
const MAX_NAME_LENGTH = 255;
/** Longest time that two secrets of a key are valid, in seconds: 30 days. */
const MAX_OVERLAP_SECONDS = 30 * 24 * 60 * 60;
const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;
const PAGE_SIZE = { min: 1, max: 100, default: 20 } as const;
/** No control characters, line breaks and halves of surrogate pairs: names appear in logs. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** Any integer: a number that is no id is simply not found. */
const id = integer();

/** A name for people. */
const plainName = () =>
  field<string>(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      const name = value.trim();
      if (name === '') return refuse(sink, 'string_too_short', 'must have at least 1 character', value);
      if (name.length <= MAX_NAME_LENGTH && NAME.test(name)) return name;
      const rule = `must have 1 to ${MAX_NAME_LENGTH} characters, without line breaks and control characters`;
      return refuseTyped(sink, 'value_error', rule, value);
    },
    { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH },
  );

/** The name of an agent, or one with a single `*`, in lower case. */
const agentPattern = field<string>(
  (value, sink) => {
    const pattern = typeof value === 'string' ? value.toLowerCase() : '';
    if (pattern !== '' && pattern.length <= MAX_NAME_LENGTH && AGENT_PATTERN.test(pattern)) return pattern;
    return refuse(sink, 'value_error', 'must be the name of an agent, or one with a single *', value);
  },
  { type: 'string' },
);

const namespaceName = field<string>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (NAMESPACE_NAME.test(value)) return value;
    const rule = 'must be 1 to 63 lower-case letters, digits and inner hyphens';
    return refuseTyped(sink, 'string_pattern_mismatch', rule, value);
  },
  { type: 'string', pattern: NAMESPACE_NAME.source },
);

/** Input schemas of KeyService, by RPC. Members are in the order of the messages. `now`: milliseconds since 1970. */
export function createKeySchemas(roles: RoleTable, now: () => number) {
  const created = z
    .object({
      name: plainName(),
      role: nullable(oneOf([...roles.keys()], 'enum')),
      scopes: nullable(list(oneOf(SCOPES, 'enum'), { max: SCOPES.length })),
      agents: nullable(list(agentPattern, { max: MAX_AGENTS })),
      owner: nullable(plainName()),
      expires_at: nullable(futureTime(now)),
      namespace: nullable(namespaceName),
      idempotency_key: nullable(idempotencyKey()),
    })
    .superRefine(({ role, scopes = [] }, sink) => {
      if (role === undefined && scopes.length === 0)
        report(sink, 'missing', 'Field required: role or scopes', undefined, ['role']);
      if (role !== undefined && scopes.length > 0)
        report(sink, 'value_error', 'must not be sent with a role, which has scopes', undefined, ['scopes']);
    });
  const ofKey = z.object({ key_id: id });
  const overlap = integer({ min: 0, max: MAX_OVERLAP_SECONDS });
  return {
    createKey: withExample(created, { name: 'billing service', role: 'agent', agents: ['billing-*'] }),
    listKeys: z.object({
      cursor: nullable(integer().transform(within32Bits)),
      limit: withDefault(integer(PAGE_SIZE), PAGE_SIZE.default),
      include_ended: nullable(boolean()),
      name: nullable(text()),
    }),
    getKey: ofKey,
    rotateKey: withExample(
      z.object({
        key_id: id,
        overlap_seconds: nullable(overlap).transform((seconds) => seconds ?? DEFAULT_OVERLAP_SECONDS),
      }),
      { overlap_seconds: 3_600 },
    ),
    revokeKey: ofKey,
    listRoles: z.object({}),
  };
}

/** Outputs of the schemas of KeyService, by RPC. */
export type KeyInputs = {
  [Rpc in keyof ReturnType<typeof createKeySchemas>]: z.output<ReturnType<typeof createKeySchemas>[Rpc]>;
};
