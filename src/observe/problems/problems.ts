import { z } from 'zod';
import type { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { Namespace } from '../../contract/call/namespace.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { FactsLog } from '../../contract/runtime/repeat-log.js';
import type { ActiveHalt } from '../../decide/halts/halt.js';
import type { MemoryTroubles } from '../../decide/memory/memory.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { SinkMeter } from '../events/sinks/sink-meter.js';
import type { EventTail } from '../events/store/event-tail.js';
import type { ServerState } from '../server-info/server-info.js';
import { createActivityFigures } from './activity-figures.js';
import { type Credentials, expiryProblems } from './expiry-problems.js';
import { haltProblems } from './halt-problems.js';
import { memoryProblems } from './memory-problems.js';
import { PROBLEM_KINDS, type Problem, type ProblemKind, type ProblemSeverity } from './problem.js';
import { createProblemList, type ProblemList } from './problem-list.js';
import { type AgentActivity, createProblemStore, type ProblemStore } from './problem-store.js';
import { serviceProblems } from './service-problems.js';
import { createSinkWatch } from './sink-problems.js';
import { createStoredProblems } from './stored-problems.js';

/** Most namespaces whose lists are kept. Those of others are determined when they are asked for. */
const MAX_LISTS = 1_000;

export interface ProblemsOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly registry: EvaluatorRegistry;
  readonly state: () => ServerState;
  /** Whether steps of agents without controls are denied. */
  readonly emptyDenies: boolean;
  /** The halts in force. */
  readonly halts: { active(): readonly ActiveHalt[] };
  /** What of the memory of controls needs attention. */
  readonly memory: () => MemoryTroubles;
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
  /** Looks at certificates and keys as well from now on. */
  watch(credentials: Credentials): void;
  /** Agents of the installation by when they were last evaluated, in the same way; undefined before the first time. */
  activity(): AgentActivity | undefined;
  /**
   * All kinds of the installation as they were determined last, and has them determined anew meanwhile: a scrape waits for no database.
   * Empty before the first time.
   */
  figures(): ProblemFigure[];
}

export function createProblems(options: ProblemsOptions): Problems {
  const { database, registry, state, emptyDenies, halts, memory, sinks, log, now, monotonic } = options;
  const { bulk } = database;
  const sinkWatch = createSinkWatch(sinks.meter);
  let credentials: Credentials | undefined;

  async function lookAtSinks(store: Pick<ProblemStore, 'sinkPositions'>): Promise<void> {
    if (sinks.meter.size === 0) return;
    const { head } = await sinks.tail.state();
    sinkWatch.saw(head, await store.sinkPositions(), monotonic());
  }

  /** Those of the installation, which are the same for all, and those of the objects of a namespace, or of all. */
  function listOf(of: Namespace | 'all', store = createProblemStore(bulk, of)): ProblemList {
    const stored = createStoredProblems({ store, registry, emptyDenies, now, monotonic });
    return createProblemList({
      known: (isMissed) => [
        ...serviceProblems(state(), isMissed),
        ...memoryProblems(memory()),
        ...sinkWatch.problems(monotonic()),
        ...haltProblems(halts.active(), of),
        ...(credentials === undefined ? [] : expiryProblems(credentials, now(), of)),
      ],
      async stored() {
        const problems = await stored();
        await lookAtSinks(store);
        return problems;
      },
      onFailure: (error) => log.debug({ err: error }, 'the database did not tell its problems'),
      now,
      monotonic,
    });
  }

  const all = createProblemStore(bulk, 'all');
  const ofAll = listOf('all', all);
  const activity = createActivityFigures({ store: all, now, monotonic });
  const lists = new BoundedMap<string, ProblemList>({ entries: MAX_LISTS });

  function listFor(namespace: Namespace): ProblemList {
    const known = lists.use(namespace.name);
    if (known !== undefined) return known;
    const made = listOf(namespace);
    lists.set(namespace.name, made);
    return made;
  }

  return {
    watch(given) {
      credentials = given;
    },
    handlers: {
      listProblems: handler(z.object({}), async (_, { principal }) => {
        const { problems, checkedAtMs } = await listFor(principal.namespace).current();
        return {
          working: problems.every(({ severity }) => severity === 'notice'),
          problems,
          checked_at: new Date(checkedAtMs).toISOString(),
        };
      }),
    },
    activity,
    figures() {
      const { last } = ofAll;
      void ofAll.current();
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
