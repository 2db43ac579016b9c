import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
import { assertStorable, isStorable } from '../database/text.js';

/** A stored policy. */
export interface PolicyRow {
  readonly id: number;
  readonly name: string;
}

/** Largest id a policy can have: ids are 32-bit in storage. */
const MAX_POLICY_ID = 2 ** 31 - 1;
const SHOWN = { id: true, name: true } as const;

/** Stored policies. Writing needs the client of a mutation. Every method rejects with a `ServiceError` only. */
export function createPolicyStore(client: DbClient) {
  return {
    /** Null also for a number that cannot be the id of a policy. */
    find: (id: number): Promise<PolicyRow | null> =>
      withServiceErrors(async () => {
        if (!Number.isInteger(id) || id < 1 || id > MAX_POLICY_ID) return null;
        return client.policy.findUnique({ where: { id }, select: SHOWN });
      }),

    findByName: (name: string): Promise<PolicyRow | null> =>
      withServiceErrors(async () => {
        if (!isStorable(name)) return null;
        return client.policy.findUnique({ where: { name }, select: SHOWN });
      }),

    /** The name must be free. */
    insert: ({ name, createdAtMs }: { name: string; createdAtMs: number }): Promise<PolicyRow> =>
      withServiceErrors(async () => {
        assertStorable(name);
        return client.policy.create({ data: { name, createdAtMs: BigInt(createdAtMs) }, select: SHOWN });
      }),
  };
}
