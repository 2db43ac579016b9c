import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, type Page, type PageAsked } from '../../storage/database/page.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { FALSE, isStorable } from '../../storage/database/text.js';

/** An agent that has a control. */
export interface ControlAgentRow {
  readonly id: number;
  readonly name: string;
  /** Whether the control is linked to it. */
  readonly direct: boolean;
  /** Its policies with the control, ascending. */
  readonly policyIds: readonly number[];
}

/** A policy that contains a control. */
export interface ControlPolicyRow {
  readonly id: number;
  readonly name: string;
}

/** Reads what has a control of a namespace. Ids have 32 bits. Rejects with a `ServiceError` only. */
export function createControlUsersStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    /** One page, by name; only names after the cursor. */
    agents: (controlId: number, { cursor, limit }: PageAsked<string>): Promise<Page<ControlAgentRow>> =>
      withServiceErrors(() => {
        const pairs = effectivePairs({ controlIds: [controlId] });
        const query = {
          from: Prisma.sql`(${pairs}) e JOIN "agents" a ON a."id" = e."agent_id"`,
          id: Prisma.sql`a."id"`,
          filters: [inNamespace('a', scope)],
          after: afterName(cursor, scope),
          orderBy: Prisma.sql`a."name"`,
          limit,
        };
        return findPage(client, query, async (ids) => {
          const rows = await client.agent.findMany({
            where: { id: { in: ids }, ...of },
            select: {
              id: true,
              name: true,
              controls: { where: { controlId }, select: { controlId: true } },
              policies: {
                where: { policy: { controls: { some: { controlId } } } },
                select: { policyId: true },
                orderBy: { policyId: 'asc' },
              },
            },
          });
          return rows.map(({ id, name, controls, policies }) => ({
            id,
            name: nameOfKey(name),
            direct: controls.length > 0,
            policyIds: policies.map(({ policyId }) => policyId),
          }));
        });
      }),

    /** One page, by id; only ids after the cursor. */
    policies: (controlId: number, { cursor, limit }: PageAsked<number>): Promise<Page<ControlPolicyRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"policy_controls" p JOIN "policies" o ON o."id" = p."policy_id"`,
          id: Prisma.sql`p."policy_id"`,
          filters: [Prisma.sql`p."control_id" = ${controlId}`, inNamespace('o', scope)],
          after: cursor === null ? null : Prisma.sql`p."policy_id" > ${cursor}`,
          orderBy: Prisma.sql`p."policy_id"`,
          limit,
        };
        return findPage(client, query, async (ids) => {
          const where = { id: { in: ids }, ...of };
          const rows = await client.policy.findMany({ where, select: { id: true, name: true } });
          return rows.map(({ id, name }) => ({ id, name: nameOfKey(name) }));
        });
      }),
  };
}

/** Rows of agents `a` of the namespace with a name after the cursor; null for all. */
export function afterName(cursor: string | null, { namespace }: Scoped): Prisma.Sql | null {
  if (cursor === null) return null;
  return isStorable(cursor) ? Prisma.sql`a."name" > ${namespace.agentKey(cursor)}` : FALSE;
}
