import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { CallContext } from '../../contract/call/handler.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { paginationOf } from '../../contract/call/page.js';
import { readAgentName } from '../../contract/input/names.js';
import { agentFact } from '../../manage/agents/agent-audit.js';
import { existingAgent } from '../../manage/agents/existing-agent.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { findPage } from '../../storage/database/page.js';
import { inNamespace, plainName, type Scoped, scopeOf } from '../../storage/database/scoped.js';
import { nameContains, TRUE } from '../../storage/database/text.js';
import { printedCoverage, printedExpectation, printedSteps, registeredSteps } from './coverage-reply.js';
import type { CoverageInputs } from './coverage-schemas.js';
import type { CoverageStore } from './coverage-store.js';
import { createExpectationStore, type Expectation } from './expectation-store.js';
import { grouped } from './grouped.js';

export interface CoverageServiceOptions {
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly store: Pick<CoverageStore, 'stepsOf'>;
  /** Stores what this process has seen, if that was not done just before. Never rejects. */
  readonly flushSoon: () => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const NEVER_SEEN = Prisma.sql`NOT EXISTS (SELECT 1 FROM "agent_coverage" c WHERE c."agent_id" = a."id")`;
const OVERDUE = Prisma.sql`EXISTS (
  SELECT 1 FROM "agent_expectations" e WHERE e."agent_id" = a."id" AND e."overdue_s" IS NOT NULL)`;
const STATES = { never_seen: NEVER_SEEN, overdue: OVERDUE } as const;

/** Tells the coverage of agents, and sets what is expected of them. */
export function createCoverageService({ database, mutate, store, flushSoon, now }: CoverageServiceOptions) {
  return {
    /** One page of agents, by name. Throws VALIDATION_ERROR for a cursor that is no name. */
    async list(context: CallContext, { cursor, limit, name, state }: CoverageInputs['listCoverage']) {
      const scope = scopeOf(context, database.client);
      const { client, namespace } = scope;
      await flushSoon();
      const key = Prisma.sql`a."name"`;
      const after = cursor === undefined || cursor === '' ? null : readAgentName(cursor, 'cursor');
      const page = await withServiceErrors(() =>
        findPage(
          client,
          {
            from: Prisma.sql`"agents" a`,
            id: Prisma.sql`a."id"`,
            filters: [
              inNamespace('a', scope),
              nameContains(plainName(key, scope), name ?? ''),
              state === undefined ? TRUE : STATES[state],
            ],
            after: after === null ? null : Prisma.sql`${key} > ${namespace.agentKey(after)}`,
            orderBy: key,
            limit,
          },
          (ids) => client.agent.findMany({ where: { id: { in: ids }, namespace: namespace.name } }),
        ),
      );
      const ids = page.rows.map(({ id }) => id);
      const steps = grouped(await store.stepsOf(ids), ({ agentId }) => agentId);
      const expectations = await createExpectationStore(scope).find(ids);
      return {
        agents: page.rows.map(({ id, name: row, data }) =>
          printedCoverage({ name: nameOfKey(row), data }, steps.get(id) ?? [], expectations.get(id) ?? []),
        ),
        pagination: paginationOf(page, limit, (last) => nameOfKey(last.name)),
        summary: await summaryOf(scope),
      };
    },

    /** Throws AGENT_NOT_FOUND. */
    async get(context: CallContext, agentName: string) {
      const scope = scopeOf(context, database.client);
      const agent = await existingAgent(scope, agentName);
      await flushSoon();
      const rows = await store.stepsOf([agent.id]);
      const expectations = (await createExpectationStore(scope).find([agent.id])).get(agent.id) ?? [];
      return {
        coverage: printedCoverage(agent, rows, expectations),
        steps: printedSteps(rows, registeredSteps(agent.data)),
      };
    },

    /** Throws AGENT_NOT_FOUND. */
    async expect(context: CallContext, input: CoverageInputs['setExpectations']) {
      const wanted = input.expectations.map(({ point, interval_seconds: intervalS }) => ({
        point: point ?? '',
        intervalS,
      }));
      const stored = await mutate(context, async (scope) => {
        const { id, name } = await existingAgent(scope, input.agent_name);
        const expectations = createExpectationStore(scope);
        const ofAgent = async () => (await expectations.find([id])).get(id) ?? [];
        const before = await ofAgent();
        const known = new Map(before.map(({ point, intervalS }) => [point, intervalS]));
        const changed = wanted.filter(({ point, intervalS }) => known.get(point) !== intervalS);
        const gone = before
          .map(({ point }) => point)
          .filter((point) => !wanted.some((one) => one.point === point));
        if (changed.length + gone.length === 0) return { value: before, change: null };
        await expectations.remove(id, gone);
        for (const one of changed) await expectations.set(id, one, Math.floor(now() / 1_000));
        const value = await ofAgent();
        const audit = agentFact('agent.expect', name, factsOf(before), factsOf(value));
        return { value, change: {}, audit };
      });
      return { expectations: stored.map(printedExpectation) };
    },
  };
}

function factsOf(expectations: readonly Expectation[]) {
  return {
    expectations: expectations.map(({ point, intervalS }) => ({
      ...(point === '' ? {} : { point }),
      interval_seconds: intervalS,
    })),
  };
}

function summaryOf(scope: Scoped) {
  return withServiceErrors(async () => {
    const [row] = await scope.client.$queryRaw<
      { agents: bigint; never: bigint; overdue: bigint }[]
    >(Prisma.sql`
      SELECT COUNT(*) AS "agents", COUNT(*) FILTER (WHERE ${NEVER_SEEN}) AS "never",
        COUNT(*) FILTER (WHERE ${OVERDUE}) AS "overdue" FROM "agents" a WHERE ${inNamespace('a', scope)}`);
    const { agents = 0, never = 0, overdue = 0 } = row ?? {};
    return { agents: Number(agents), never_seen: Number(never), overdue: Number(overdue) };
  });
}
