import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import { MAX_READ_REVISIONS } from '../../storage/database/change-log.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';

interface LogRow {
  readonly revision: bigint;
  /** 1 when the change lists the agent, or does not tell what changed. */
  readonly concerned: number | bigint;
  readonly controls: string;
  readonly policies: string | null;
  readonly targets: string | null;
}

/** An agent, and what it works on. */
interface Watched {
  readonly key: AgentKey;
  readonly target: TargetKey | null;
}

/** The controls and policies of an agent. */
interface Had {
  has(controlId: number): boolean;
  hasPolicy(policyId: number): boolean;
}

/**
 * Reads the log of changes backwards from `revision`, at which the agent has the controls and policies of `had`.
 * Returns the earliest revision since which they are certainly the same; `revision` itself when the log does
 * not show it.
 */
export async function unchangedSince(
  client: DbClient,
  { key, target }: Watched,
  revision: number,
  had: Had,
): Promise<number> {
  return withServiceErrors(async () => {
    // Keys of agents are unchanged in JSON. `replace` is the substring search that both databases have.
    const rows = await client.$queryRaw<LogRow[]>(Prisma.sql`
      SELECT "revision", "controls", "policies", "targets",
        CASE WHEN "policies" IS NULL OR replace("agents", ${`"${key}"`}, '') <> "agents"
          THEN 1 ELSE 0 END AS "concerned"
      FROM "changes" WHERE "revision" <= ${revision} AND "revision" > ${revision - MAX_READ_REVISIONS}
      ORDER BY "revision" DESC`);
    const logged = rows.map((row) => ({
      ...row,
      controls: JSON.parse(row.controls) as number[],
      policies: JSON.parse(row.policies ?? '[]') as number[],
      targets: JSON.parse(row.targets ?? '[]') as TargetKey[],
    }));
    const others = logged.flatMap(({ controls }) => controls).filter((id) => !had.has(id));
    const gone = await deletedOf(client, [...new Set(others)]);
    let earliest = revision;
    for (const row of logged) {
      const concerned =
        Number(row.concerned) === 1 ||
        row.controls.some((id) => had.has(id) || gone.has(id)) ||
        row.policies.some((id) => had.hasPolicy(id)) ||
        row.targets.some((one) => one === target);
      if (Number(row.revision) !== earliest || concerned) break;
      earliest -= 1;
    }
    return earliest;
  });
}

/** Which of these controls are deleted. The agents that had them are not recorded. */
async function deletedOf(client: DbClient, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await client.control.findMany({
    where: { id: { in: [...ids] }, deletedAtMs: null },
    select: { id: true },
  });
  const alive = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !alive.has(id)));
}
