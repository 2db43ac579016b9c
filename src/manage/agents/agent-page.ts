import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { effectivePairs, hasEnabledControl } from '../../decide/agent-state/effective-controls.js';
import type { PageAsked, PageQuery } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { inNamespace, plainName, type Scoped } from '../../storage/database/scoped.js';
import { FALSE, isStorable, nameContains } from '../../storage/database/text.js';
import { afterTimed, timedOrder } from '../../storage/database/timed-order.js';
import type { WantedLabel } from './agent-labels.js';

/** Orders of a list of agents. */
export const AGENT_ORDERS = ['name', 'last_evaluated', 'last_denied'] as const;
export type AgentOrder = (typeof AGENT_ORDERS)[number] | 'newest';

/** Filters of an agent list. A cursor that is no name of an agent means the first page. */
export interface AgentFilters extends PageAsked<string> {
  /** Part of the name, ignoring case. */
  readonly nameContains: string | null;
  /** Whether they have an enabled control; null for all. */
  readonly hasActiveControls: boolean | null;
  /** Labels that they must have, all of them. */
  readonly labels: readonly WantedLabel[];
  /** A control that they must have, linked or in their policies; any number, null for all. */
  readonly controlId: number | null;
  /** A policy that they must have; any number, null for all. */
  readonly policyId: number | null;
  readonly orderBy: AgentOrder;
  readonly reverse: boolean;
}

/** Keys of agents, which within a namespace are in the order of their names. */
const KEY = Prisma.sql`a."name"`;
const CREATED = Prisma.sql`a."created_at_ms"`;
const TIMES = {
  last_evaluated: Prisma.sql`t."last_evaluated_s"`,
  last_denied: Prisma.sql`t."last_denied_s"`,
} as const;

/** The last agent already listed. */
interface CursorRow {
  readonly key: string;
  readonly createdAtMs: bigint;
  /** What the list is sorted by, if it is a time of activity. */
  readonly timeS: bigint | null;
}

/** The query of a page of agents. A cursor that names no agent begins at the first page. */
export async function agentPageQuery(scope: Scoped, filters: AgentFilters): Promise<PageQuery> {
  const last = await findCursor(scope, filters);
  return {
    from:
      filters.orderBy === 'last_evaluated' || filters.orderBy === 'last_denied'
        ? Prisma.sql`"agents" a LEFT JOIN "agent_activity" t ON t."agent_name" = a."name"`
        : Prisma.sql`"agents" a`,
    id: Prisma.sql`a."id"`,
    filters: conditions(scope, filters),
    after: last === null ? null : after(filters, last),
    orderBy: order(filters),
    limit: filters.limit,
  };
}

function conditions(scope: Scoped, { nameContains: part, ...filters }: AgentFilters): Prisma.Sql[] {
  const { hasActiveControls, labels, controlId, policyId } = filters;
  const found = [
    inNamespace('a', scope),
    nameContains(plainName(KEY, scope), part ?? ''),
    ...labels.map(hasLabel),
  ];
  if (hasActiveControls !== null) {
    const has = hasEnabledControl(Prisma.sql`a."id"`, scope);
    found.push(hasActiveControls ? has : Prisma.sql`NOT ${has}`);
  }
  if (controlId !== null) {
    const pairs = () => effectivePairs({ controlIds: [controlId] });
    found.push(isRowId(controlId) ? Prisma.sql`a."id" IN (SELECT e."agent_id" FROM (${pairs()}) e)` : FALSE);
  }
  if (policyId !== null) {
    const owners = Prisma.sql`SELECT g."agent_id" FROM "agent_policies" g WHERE g."policy_id" = ${policyId}`;
    found.push(isRowId(policyId) ? Prisma.sql`a."id" IN (${owners})` : FALSE);
  }
  return found;
}

function hasLabel({ name, value }: WantedLabel): Prisma.Sql {
  const ofValue = value === null ? Prisma.empty : Prisma.sql` AND h."value" = ${value}`;
  return Prisma.sql`a."id" IN (SELECT h."agent_id" FROM "agent_labels" h WHERE h."name" = ${name}${ofValue})`;
}

function order({ orderBy, reverse }: AgentFilters): Prisma.Sql {
  if (orderBy === 'name') return reverse ? Prisma.sql`${KEY} DESC` : KEY;
  // Agents with equal times by name: by the same direction as the time, so that one index has the order.
  if (orderBy === 'newest') {
    return reverse ? Prisma.sql`${CREATED}, ${KEY}` : Prisma.sql`${CREATED} DESC, ${KEY} DESC`;
  }
  return Prisma.sql`${timedOrder(TIMES[orderBy], reverse)}, ${KEY}`;
}

function after({ orderBy, reverse }: AgentFilters, last: CursorRow): Prisma.Sql {
  const { key, createdAtMs, timeS } = last;
  if (orderBy === 'name') return reverse ? Prisma.sql`${KEY} < ${key}` : Prisma.sql`${KEY} > ${key}`;
  if (orderBy === 'newest') {
    return reverse
      ? Prisma.sql`(${CREATED}, ${KEY}) > (${createdAtMs}, ${key})`
      : Prisma.sql`(${CREATED}, ${KEY}) < (${createdAtMs}, ${key})`;
  }
  return afterTimed(TIMES[orderBy], timeS, Prisma.sql`${KEY} > ${key}`, reverse);
}

async function findCursor(
  { client, namespace }: Scoped,
  { cursor: name, orderBy }: AgentFilters,
): Promise<CursorRow | null> {
  if (name === null || !isStorable(name)) return null;
  const key = namespace.agentKey(name);
  const where = { name: key, namespace: namespace.name };
  const row = await client.agent.findUnique({ where, select: { createdAtMs: true } });
  if (row === null) return null;
  if (orderBy === 'newest' || orderBy === 'name') return { key, ...row, timeS: null };
  const activity = await client.agentActivity.findUnique({ where: { agentName: key } });
  const timeS = orderBy === 'last_evaluated' ? activity?.lastEvaluatedS : activity?.lastDeniedS;
  return { key, ...row, timeS: timeS ?? null };
}
