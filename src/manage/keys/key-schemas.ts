import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
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
  shownText,
  text,
  withExample,
} from '../../contract/input/fields.js';
import { line } from '../../contract/input/names.js';
import { rowId } from '../../contract/input/numbers.js';
import { idPage } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { futureTime, overlapSeconds } from '../../contract/input/times.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';

const limits = LIMITS.CreateKeyRequest;
/** As of the names of agents. */
const MAX_PATTERN_LENGTH = LIMITS.Agent.agent_name.max;

/** The name of an agent, or one with a single `*`, in lower case. */
const agentPattern = field<string>(
  (value, sink) => {
    const pattern = typeof value === 'string' ? value.toLowerCase() : '';
    if (pattern !== '' && pattern.length <= MAX_PATTERN_LENGTH && AGENT_PATTERN.test(pattern)) return pattern;
    return refuse(sink, 'value_error', 'must be the name of an agent, or one with a single *', value);
  },
  { type: 'string' },
);

const namespaceName = field<string>((value, sink) => {
  if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
  if (NAMESPACE_NAME.test(value)) return value;
  const rule = 'must be 1 to 63 lower-case letters, digits and inner hyphens';
  return refuseTyped(sink, 'string_pattern_mismatch', rule, value);
}, shownText(limits.namespace));

/** Input schemas of KeyService, by RPC. Members are in the order of the messages. `now`: milliseconds since 1970. */
export function createKeySchemas(roles: RoleTable, now: () => number) {
  const created = z
    .object({
      name: line(limits.name),
      role: nullable(oneOf([...roles.keys()], 'enum')),
      scopes: nullable(list(oneOf(SCOPES, 'enum'), { max: SCOPES.length })),
      agents: nullable(list(agentPattern, limits.agents)),
      owner: nullable(line(limits.owner)),
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
  const ofKey = z.object({ key_id: rowId });
  return {
    createKey: withExample(created, { name: 'billing service', role: 'agent', agents: ['billing-*'] }),
    listKeys: z.object({
      ...idPage,
      include_ended: nullable(boolean()),
      name: nullable(text()),
    }),
    getKey: ofKey,
    rotateKey: withExample(z.object({ key_id: rowId, overlap_seconds: overlapSeconds() }), {
      overlap_seconds: 3_600,
    }),
    revokeKey: ofKey,
    listRoles: z.object({}),
  };
}

/** Outputs of the schemas of KeyService, by RPC. */
export type KeyInputs = InputsOf<ReturnType<typeof createKeySchemas>>;
