import type { CallContext } from '../../contract/call/handler.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { existing } from './control-service.js';
import { createControlUsersStore } from './control-users-store.js';

export type ControlUsers = ReturnType<typeof createControlUsers>;

/** Lists what has a control. Every method throws CONTROL_NOT_FOUND. */
export function createControlUsers({ database }: { readonly database: Pick<Database, 'client'> }) {
  const { client } = database;
  return {
    /** One page of the agents, linked or by a policy. */
    async agents(
      context: CallContext,
      controlId: number,
      page: { readonly cursor: string | null; readonly limit: number },
    ) {
      const scope = scopeOf(context, client);
      await existing(scope, controlId);
      const { rows, total, hasMore } = await createControlUsersStore(scope).agents(controlId, page);
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
    async policies(
      context: CallContext,
      controlId: number,
      page: { readonly cursor: number | null; readonly limit: number },
    ) {
      const scope = scopeOf(context, client);
      await existing(scope, controlId);
      const { rows, total, hasMore } = await createControlUsersStore(scope).policies(controlId, page);
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
