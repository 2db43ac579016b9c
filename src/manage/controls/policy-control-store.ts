import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

/** Controls of policies of a namespace. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createPolicyControlStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  return {
    /** False when the policy already had the control, or one of them does not exist in the namespace. */
    add: (policyId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const added = await client.$executeRaw`
          INSERT INTO "policy_controls" ("policy_id", "control_id")
          SELECT p."id", c."id" FROM "policies" p, "controls" c
          WHERE p."id" = ${policyId} AND ${inNamespace('p', scope)}
            AND c."id" = ${controlId} AND ${inNamespace('c', scope)}
          ON CONFLICT DO NOTHING`;
        return added > 0;
      }),

    /** False when the policy did not have the control. */
    remove: (policyId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const where = { policyId, controlId, policy: of };
        const { count } = await client.policyControl.deleteMany({ where });
        return count > 0;
      }),

    /** Gives policies whose controls changed their next version. */
    touch: (policyIds: readonly number[], updatedAtMs: number): Promise<void> =>
      withServiceErrors(async () => {
        await inPortions(policyIds, async (portion) => {
          await client.policy.updateMany({
            where: { id: { in: portion }, ...of },
            data: { version: { increment: 1 }, updatedAtMs: BigInt(updatedAtMs) },
          });
          return [];
        });
      }),

    /** The ids of the controls of a policy, ascending. */
    controlIdsOf: (policyId: number): Promise<number[]> =>
      withServiceErrors(async () => {
        const rows = await client.policyControl.findMany({
          where: { policyId, policy: of },
          select: { controlId: true },
          orderBy: { controlId: 'asc' },
        });
        return rows.map(({ controlId }) => controlId);
      }),

    /** The controls of a policy, by id ascending. */
    controlsOf: (policyId: number): Promise<StoredDefinition[]> =>
      withServiceErrors(() =>
        client.control.findMany({
          where: { policies: { some: { policyId } }, ...of },
          select: { id: true, name: true, data: true },
          orderBy: { id: 'asc' },
        }),
      ),

    /** The ids of the policies that have a control, ascending. */
    policyIdsOf: (controlId: number): Promise<number[]> =>
      withServiceErrors(async () => {
        const rows = await client.policyControl.findMany({
          where: { controlId, policy: of },
          select: { policyId: true },
          orderBy: { policyId: 'asc' },
        });
        return rows.map(({ policyId }) => policyId);
      }),

    /** Whether a policy of the agent has the control. */
    bringsTo: (agentId: number, controlId: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const where = { controlId, policy: { agents: { some: { agentId } }, ...of } };
        return (await client.policyControl.findFirst({ where, select: { policyId: true } })) !== null;
      }),
  };
}
