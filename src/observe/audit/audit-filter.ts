import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Namespace } from '../../contract/call/namespace.js';
import { FALSE, isStorable, nameContains } from '../../storage/database/text.js';
import type { AuditInputs } from './audit-schemas.js';

/** The entries to select; an absent member selects all. */
export interface AuditFilter {
  /** Name of a namespace; absent for the service itself, which reads all entries. */
  readonly namespace?: string | undefined;
  /** Milliseconds since 1970, both inclusive. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  /** Kind, name or key fingerprint of the actor. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly resource?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Part of the kind, name or key fingerprint of the actor, ignoring the case of ASCII letters. */
  readonly actorContains?: string | undefined;
  readonly actionContains?: string | undefined;
  /** Part of the id or name of the resource. */
  readonly resourceContains?: string | undefined;
  /** Both inclusive. */
  readonly minRevision?: number | undefined;
  readonly maxRevision?: number | undefined;
  readonly requestId?: string | undefined;
  /** Both exclusive. */
  readonly afterPosition?: number | undefined;
  readonly beforePosition?: number | undefined;
}

const ACTOR = ['"actor_kind"', '"actor_name"', '"key_fingerprint"'];

/** The filter of a request of a namespace. An empty text selects all. */
export function filterOf(input: AuditInputs['exportAuditEntries'], { name }: Namespace): AuditFilter {
  return {
    namespace: name,
    startMs: input.start_time,
    endMs: input.end_time,
    actor: input.actor || undefined,
    action: input.action || undefined,
    resource: input.resource || undefined,
    resourceId: input.resource_id || undefined,
    minRevision: input.min_revision,
    maxRevision: input.max_revision,
    requestId: input.request_id || undefined,
    actorContains: input.actor_contains || undefined,
    actionContains: input.action_contains || undefined,
    resourceContains: input.resource_contains || undefined,
  };
}

/** The conditions of a filter on the columns of audit_entries. */
export function conditionsOf(filter: AuditFilter): Prisma.Sql[] {
  const { actor } = filter;
  return [
    ...equal('"namespace"', filter.namespace),
    ...compared('"time_ms" >=', filter.startMs),
    ...compared('"time_ms" <=', filter.endMs),
    ...(actor === undefined ? [] : [anyOf(ACTOR, actor)]),
    ...equal('"action"', filter.action),
    ...equal('"resource"', filter.resource),
    ...equal('"resource_id"', filter.resourceId),
    ...compared('"revision" >=', filter.minRevision),
    ...compared('"revision" <=', filter.maxRevision),
    ...equal('"request_id"', filter.requestId),
    ...contained(ACTOR, filter.actorContains),
    ...contained(['"action"'], filter.actionContains),
    ...contained(['"resource_id"', '"resource_name"'], filter.resourceContains),
    ...compared('"position" >', filter.afterPosition),
    ...compared('"position" <', filter.beforePosition),
  ];
}

/** A column without a value contains nothing. */
function contained(columns: readonly string[], part: string | undefined): Prisma.Sql[] {
  if (part === undefined) return [];
  const conditions = columns.map((column) => nameContains(Prisma.raw(column), part));
  return [Prisma.sql`(${Prisma.join(conditions, ' OR ')})`];
}

function compared(comparison: string, value: number | undefined): Prisma.Sql[] {
  return value === undefined ? [] : [Prisma.sql`${Prisma.raw(comparison)} ${BigInt(value)}`];
}

function equal(column: string, value: string | undefined): Prisma.Sql[] {
  return value === undefined ? [] : [anyOf([column], value)];
}

function anyOf(columns: readonly string[], value: string): Prisma.Sql {
  if (!isStorable(value)) return FALSE;
  const conditions = columns.map((column) => Prisma.sql`${Prisma.raw(column)} = ${value}`);
  return Prisma.sql`(${Prisma.join(conditions, ' OR ')})`;
}
