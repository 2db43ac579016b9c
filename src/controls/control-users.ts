import type { Database } from '../database/database.js';
import { existing } from './control-service.js';
import { createControlUsersStore } from './control-users-store.js';

export type ControlUsers = ReturnType<typeof createControlUsers>;

/** Lists what has a control. Every method throws CONTROL_NOT_FOUND. */
export function createControlUsers({ database }: { readonly database: Pick<Database, 'client'> }) {
  const { client } = database;
  return {
    /** One page of the agents, linked or by a policy. */
    async agents(controlId: number, page: { readonly cursor: string | null; readonly limit: number }) {
      await existing(client, controlId);
      const { rows, total, hasMore } = await createControlUsersStore(client).agents(controlId, page);
      return {
        agents: rows.map(({ name, direct, policyIds }) => ({
          agent_name: name,
          direct,
          policy_ids: policyIds,
        })),
        pagination: {
          limit: page.limit,
          total,
          next_cursor: hasMore ? (rows.at(-1)?.name ?? null) : null,
          has_more: hasMore,
        },
      };
    },

    /** One page of the policies. */
    async policies(controlId: number, page: { readonly cursor: number | null; readonly limit: number }) {
      await existing(client, controlId);
      const { rows, total, hasMore } = await createControlUsersStore(client).policies(controlId, page);
      const last = rows.at(-1);
      return {
        policies: rows,
        pagination: {
          limit: page.limit,
          total,
          next_cursor: hasMore && last !== undefined ? String(last.id) : null,
          has_more: hasMore,
        },
      };
    },
  };
}
