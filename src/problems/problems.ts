import { z } from 'zod';
import type { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { type HandlersOf, handler } from '../contract/call/handler.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import type { Database } from '../database/database.js';
import type { SinkMeter } from '../events/sinks/sink-meter.js';
import type { EventTail } from '../events/store/event-tail.js';
import type { FactsLog } from '../process/repeat-log.js';
import type { ServerState } from '../server-info/server-info.js';
import { type Credentials, expiryProblems } from './expiry-problems.js';
import { PROBLEM_KINDS, type Problem, type ProblemKind, type ProblemSeverity } from './problem.js';
import { createProblemList } from './problem-list.js';
import { createProblemStore } from './problem-store.js';
import { createReplicaStore } from './replica-store.js';
import { createReplica, type Replica, replicaProblems } from './replicas.js';
import { serviceProblems } from './service-problems.js';
import { createSinkWatch } from './sink-problems.js';
import { createStoredProblems } from './stored-problems.js';

export interface ProblemsOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly registry: EvaluatorRegistry;
  readonly version: string;
  readonly state: () => ServerState;
  /** Whether steps of agents without controls are denied. */
  readonly emptyDenies: boolean;
  readonly sinks: { readonly meter: SinkMeter; readonly tail: Pick<EventTail, 'state'> };
  readonly log: FactsLog<'debug'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** Number of subjects of the problems of one kind and severity; 1 if they are of the service itself. */
export interface ProblemFigure {
  readonly kind: ProblemKind;
  readonly severity: ProblemSeverity;
  readonly value: number;
}

/** What needs attention: as an RPC and as metrics. */
export interface Problems {
  readonly handlers: Pick<HandlersOf<typeof ServerService>, 'listProblems'>;
  readonly replica: Replica;
  /** Looks at certificates and keys as well from now on. */
  watch(credentials: Credentials): void;
  /**
   * All kinds as they were determined last, and has them determined anew meanwhile: a scrape waits for no database.
   * Empty before the first time.
   */
  figures(): ProblemFigure[];
}

export function createProblems(options: ProblemsOptions): Problems {
  const { database, registry, version, state, emptyDenies, sinks, log, now, monotonic } = options;
  const { bulk } = database;
  const store = createProblemStore(bulk);
  const stored = createStoredProblems({ store, registry, emptyDenies, now, monotonic });
  const replicas = createReplicaStore(bulk);
  const replica = createReplica({ store: replicas, version, now });
  const sinkWatch = createSinkWatch(sinks.meter);
  let credentials: Credentials | undefined;

  async function ofDatabase(): Promise<Problem[]> {
    const told = await stored();
    const running = await replicas.running(now());
    if (sinks.meter.size > 0) await watchSinks();
    return [...told, ...replicaProblems(replica.row, running, now())];
  }

  async function watchSinks(): Promise<void> {
    const { head } = await sinks.tail.state();
    sinkWatch.saw(head, await store.sinkPositions(), monotonic());
  }

  const list = createProblemList({
    known: (isMissed) => [
      ...serviceProblems(state(), isMissed),
      ...sinkWatch.problems(monotonic()),
      ...(credentials === undefined ? [] : expiryProblems(credentials, now())),
    ],
    stored: ofDatabase,
    onFailure: (error) => log.debug({ err: error }, 'the database did not tell its problems'),
    now,
    monotonic,
  });
  return {
    replica,
    watch(given) {
      credentials = given;
    },
    handlers: {
      listProblems: handler(z.object({}), async () => {
        const { problems, checkedAtMs } = await list.current();
        return {
          working: problems.every(({ severity }) => severity === 'notice'),
          problems,
          checked_at: new Date(checkedAtMs).toISOString(),
        };
      }),
    },
    figures() {
      const { last } = list;
      void list.current();
      return last === undefined ? [] : figuresOf(last.problems);
    },
  };
}

/** Zeros as well: an alert must see a problem end. */
function figuresOf(problems: readonly Problem[]): ProblemFigure[] {
  const figures: ProblemFigure[] = [];
  for (const [kind, severities] of Object.entries(PROBLEM_KINDS) as [
    ProblemKind,
    readonly ProblemSeverity[],
  ][]) {
    for (const severity of severities) {
      const found = problems.filter((problem) => problem.kind === kind && problem.severity === severity);
      figures.push({ kind, severity, value: found.reduce((sum, { count }) => sum + Math.max(1, count), 0) });
    }
  }
  return figures;
}
