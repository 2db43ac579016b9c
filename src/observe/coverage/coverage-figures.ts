import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Stage } from '../../kernel/core/types.js';
import type { Database } from '../../storage/database/database.js';
import { columns, from, number, select, text } from '../../storage/database/rows.js';
import { registeredSteps, uncheckedSteps } from './coverage-reply.js';
import type { CoverageStore } from './coverage-store.js';
import { grouped } from './grouped.js';
import type { Sightings } from './sightings.js';

/** How long a number counts, in milliseconds: registrations are read for it. */
const FRESH_MS = 600_000;
/** The newest agents are looked at, without those whose registration is longer than so many characters. */
const MAX_AGENTS = 500;
const MAX_LENGTH = 65_536;

const AGENT = columns({
  id: number,
  data: from(Prisma.sql`CASE WHEN LENGTH("data") <= ${MAX_LENGTH} THEN "data" ELSE '' END`, text),
});

/** Values for metrics. */
export interface CoverageFigures {
  /** When an agent was last heard at each point, in seconds since 1970: by this process, or else before its first figures. */
  readonly points: ReadonlyMap<string, number>;
  /** Evaluations that are counted nowhere. */
  readonly lost: number;
  /** Registered steps that were not evaluated in a stage, as determined last; undefined before the first time. */
  readonly unchecked: Readonly<Record<Stage, number>> | undefined;
}

/** The figures as they were determined last. They are determined anew meanwhile: a scrape waits for no database. */
export function createCoverageFigures(options: {
  readonly database: Pick<Database, 'bulk'>;
  readonly sightings: Pick<Sightings, 'points' | 'lost'>;
  readonly store: Pick<CoverageStore, 'stepsOf' | 'points'>;
  readonly monotonic: () => number;
}): () => CoverageFigures {
  const { database, sightings, store, monotonic } = options;
  let unchecked: CoverageFigures['unchecked'];
  let askedAtMs = Number.NEGATIVE_INFINITY;
  /** Read once: a point that is silent since before a restart has a time as well. */
  let before: ReadonlyMap<string, number> | undefined;

  async function determine(): Promise<Record<Stage, number>> {
    before ??= await store.points();
    const agents = await select(AGENT, database.bulk, 'statistics')`
      FROM "agents" ORDER BY "created_at_ms" DESC, "name" DESC LIMIT ${MAX_AGENTS}`;
    const rows = grouped(await store.stepsOf(agents.map(({ id }) => id)), ({ agentId }) => agentId);
    const found = { pre: 0, post: 0 };
    for (const { id, data } of agents) {
      for (const { stages } of uncheckedSteps(registeredSteps(data), rows.get(id) ?? []))
        for (const stage of stages) found[stage] += 1;
    }
    return found;
  }

  return () => {
    if (monotonic() - askedAtMs >= FRESH_MS) {
      askedAtMs = monotonic();
      determine().then(
        (found) => {
          unchecked = found;
        },
        // The problems tell that the database does not answer.
        () => {
          askedAtMs = Number.NEGATIVE_INFINITY;
        },
      );
    }
    return { points: new Map([...(before ?? []), ...sightings.points]), lost: sightings.lost, unchecked };
  };
}
