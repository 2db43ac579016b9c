import type { CallContext } from '../../contract/call/handler.js';
import { type PageAsked, paginationOf } from '../../contract/call/page.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { createControlUsersStore } from './control-users-store.js';
import { existingControl } from './existing-control.js';

export type ControlUsers = ReturnType<typeof createControlUsers>;

/** Lists what has a control. Every method throws CONTROL_NOT_FOUND. */
export function createControlUsers({ database }: { readonly database: Pick<Database, 'client'> }) {
  const { client } = database;
  return {
    /** One page of the agents, linked or by a policy. */
    async agents(context: CallContext, controlId: number, asked: PageAsked<string>) {
      const scope = scopeOf(context, client);
      await existingControl(scope, controlId);
      const page = await createControlUsersStore(scope).agents(controlId, asked);
      return {
        agents: page.rows.map(({ name, direct, policyIds }) => ({
          agent_name: name,
          direct,
          policy_ids: policyIds,
        })),
        pagination: paginationOf(page, asked.limit, ({ name }) => name),
      };
    },

    /** One page of the policies. */
    async policies(context: CallContext, controlId: number, asked: PageAsked<number>) {
      const scope = scopeOf(context, client);
      await existingControl(scope, controlId);
      const page = await createControlUsersStore(scope).policies(controlId, asked);
      return { policies: page.rows, pagination: paginationOf(page, asked.limit) };
    },
  };
}
