import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { roleNamed, scopesOf } from '../../contract/call/scopes.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import {
  columns,
  flag,
  from,
  json,
  mapped,
  nullable,
  number,
  type ReadRow,
  text,
} from '../../storage/database/rows.js';
import { readStoredRegistration } from '../agents/agent-schemas.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';

const FINGERPRINT_DIGITS = 12;

/** One record of an exported namespace: as the JSON routes print what it is about. */
export interface NamespaceRecord {
  readonly kind:
    | 'namespace'
    | 'agent'
    | 'control'
    | 'policy'
    | 'control_binding'
    | 'pack_installation'
    | 'notification_destination'
    | 'key';
  readonly record: JsonObject;
}

type Grouped = ReadonlyMap<number, number[]>;

/** A time of a column with milliseconds since 1970. */
function time(column: Prisma.Sql) {
  return from(column, nullable(mapped(number, (ms) => new Date(ms).toISOString())));
}

/** The sorted texts of a list; none for null. */
function texts(name: 'recipients' | 'kinds' | 'scopes' | 'agents') {
  const column = Prisma.raw(`COALESCE("${name}", '[]')`);
  return from(
    column,
    mapped(json<string[]>(), (list) => list.sort()),
  );
}

const CREATED_AT = time(Prisma.sql`"created_at_ms"`);
const UPDATED_AT = time(Prisma.sql`"updated_at_ms"`);

export const NAMESPACE = columns({
  name: text,
  display_name: text,
  created_at: CREATED_AT,
  revision: from(Prisma.sql`(SELECT "revision" FROM "service_state" WHERE "id" = 1)`, number),
});

export const AGENT = columns({
  id: number,
  name: text,
  data: text,
  version: number,
  stepSchemas: nullable(text),
});

/** A registration that cannot be read is exported as its text. */
export function agentRecord(
  { id, name, data, version, stepSchemas }: ReadRow<typeof AGENT>,
  links: Grouped,
  policies: Grouped,
): JsonObject {
  const registration = readStoredRegistration(data);
  const content: JsonObject =
    registration === undefined
      ? { agent: { agent_name: nameOfKey(name) }, unreadable: data }
      : { ...registration };
  return {
    ...content,
    version,
    linked_control_ids: links.get(id) ?? [],
    policy_ids: policies.get(id) ?? [],
    step_schemas: stepSchemas ?? 'default',
  };
}

/** Of the table with the alias `c`. */
export const CONTROL = columns({
  id: number,
  name: text,
  data: text,
  clonedFromId: nullable(number),
  version: from(
    Prisma.sql`COALESCE((SELECT MAX(v."version_num") FROM "control_versions" v WHERE v."control_id" = c."id"), 0)`,
    number,
  ),
});

/** A definition that cannot be read is exported as its text. */
export function controlRecord(
  { id, name, data, clonedFromId, version }: ReadRow<typeof CONTROL>,
  registry: EvaluatorRegistry,
): JsonObject {
  const stored = readStoredDefinition(data, registry);
  const definition = stored.ok ? stored.definition : null;
  return {
    id,
    name,
    data: definition as JsonValue,
    ...(stored.ok ? {} : { unreadable: data }),
    cloned_from_control_id: clonedFromId,
    version,
  };
}

/** Of the table with the alias `p`. */
export const POLICY = columns({
  id: number,
  name: mapped(text, nameOfKey),
  version: number,
  update_time: time(Prisma.sql`COALESCE("updated_at_ms", "created_at_ms")`),
  agent_count: from(
    Prisma.sql`(SELECT COUNT(*) FROM "agent_policies" g WHERE g."policy_id" = p."id")`,
    number,
  ),
  create_time: CREATED_AT,
  every_agent: flag,
});

export const BINDING = columns({
  id: number,
  namespace_key: from(Prisma.sql`"namespace"`, text),
  target_type: text,
  target_id: text,
  control_id: number,
  enabled: flag,
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
});

export const INSTALLATION = columns({
  id: number,
  pack_name: from(Prisma.sql`"pack"`, text),
  version: text,
  policy_id: number,
  installed_at: time(Prisma.sql`"installed_at_ms"`),
  updated_at: UPDATED_AT,
});

/** Neither its URL nor its secret, with which messages could be sent. */
export const DESTINATION = columns({
  id: number,
  name: text,
  type: text,
  recipients: texts('recipients'),
  kinds: texts('kinds'),
  enabled: flag,
  created_at: CREATED_AT,
  created_by: nullable(text),
});

/** Neither a secret nor its hash, but for the fingerprint that all lists show. */
export const KEY = columns({
  id: number,
  name: text,
  prefix: text,
  fingerprint: from(
    Prisma.sql`"hash"`,
    mapped(text, (hash) => hash.slice(0, FINGERPRINT_DIGITS)),
  ),
  owner: nullable(text),
  role: nullable(text),
  scopes: texts('scopes'),
  namespace: text,
  agents: texts('agents'),
  created_at: CREATED_AT,
  created_by: nullable(text),
  expires_at: time(Prisma.sql`"expires_at_ms"`),
  last_used_at: time(Prisma.sql`"last_used_s" * 1000`),
  rotated_at: time(Prisma.sql`"rotated_at_ms"`),
  previous_secret_until: time(Prisma.sql`"previous_until_ms"`),
  revoked_at: time(Prisma.sql`"revoked_at_ms"`),
});

export function keyRecord(key: ReadRow<typeof KEY>): JsonObject {
  const { role, scopes } = key;
  return { ...key, scopes: role === null ? scopes : scopesOf(roleNamed(role)?.scopes ?? 0n) };
}
