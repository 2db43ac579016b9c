import { Counter, Gauge, type Registry } from 'prom-client';
import type { CoverageFigures } from '../../observe/coverage/coverage-figures.js';
import type { AgentActivity } from '../../observe/problems/problem-store.js';
import type { ProblemFigure } from '../../observe/problems/problems.js';
import type { StreamNames } from '../../serve/routing/open-streams.js';
import { STORAGE_STATES, type StorageHealth } from '../../storage/database/storage-health/storage-state.js';
import { createMetricKinds } from './metric-kinds.js';

/** Values that are only read on each scrape. */
export interface MetricSources {
  snapshotAgents(): number;
  snapshotControlSets(): number;
  revision(): number;
  /** Seconds since the oldest controls in use were last confirmed as current. */
  stalenessSeconds(): number;
  databaseUp(): boolean;
  storage(): Pick<StorageHealth, 'state' | 'transitions'>;
  /** Delay of the event loop, in seconds. */
  eventLoopDelaySeconds(): number;
  /** Running calls that count towards the limit of their API key. */
  countedCalls(): number;
  /** Open connections, and running calls without a key. */
  connections(): number;
  publicCalls(): number;
  /** Evaluations waiting for the revision that they require. */
  waitingForRevision(): number;
  /** Which running calls are streams. */
  streams(): StreamNames;
  /** What needs attention, as it was determined last; absent where nothing determines it. */
  problems?(): readonly ProblemFigure[];
  /** Agents by when they were last evaluated, as it was determined last. */
  agentActivity?(): AgentActivity | undefined;
  /** Which steps of agents were evaluated where. */
  coverage?(): CoverageFigures;
  /** Absent if no state is kept for use without the database. */
  lastKnownGood?(): LastKnownGoodFigures;
}

/** Values for the last known good file. */
export interface LastKnownGoodFigures {
  /** Whether the service started without its database, evaluates with the file, and is still waiting. */
  readonly isActive: boolean;
  /** Evaluations with controls from the file. */
  readonly evaluations: number;
  readonly saved: number;
  readonly superseded: number;
  readonly failed: number;
  /** State that was saved last. */
  readonly revision: number;
  readonly timeMs: number;
}

/** Adds metrics whose values are read on each scrape. */
export function addSources(prefix: string, sources: MetricSources, registers: Registry[]): void {
  const { gauge } = createMetricKinds(prefix, registers);
  // Every process loads the agents that it evaluates, usually the same ones.
  gauge('snapshot_agents', 'Agents whose compiled controls are in memory.', 'max', sources.snapshotAgents);
  gauge(
    'snapshot_control_sets',
    'Distinct sets of controls that the agents in memory share.',
    'max',
    sources.snapshotControlSets,
  );
  gauge('revision', 'Latest revision of the stored controls that is known.', 'min', sources.revision);
  gauge(
    'snapshot_staleness_seconds',
    'Seconds since the oldest controls that still decide were certainly the latest.',
    'max',
    sources.stalenessSeconds,
  );
  gauge(
    'event_loop_delay_seconds',
    'How late the event loop got to a timer last time; new calls are shed above a limit.',
    'max',
    sources.eventLoopDelaySeconds,
  );
  gauge(
    'counted_calls',
    'Running calls that count for the limit of their API key.',
    'sum',
    sources.countedCalls,
  );
  gauge('open_connections', 'Open connections.', 'sum', sources.connections);
  gauge('public_calls', 'Calls without a key that are running.', 'sum', sources.publicCalls);
  gauge(
    'waiting_for_revision',
    'Evaluations that wait for a revision which they demand.',
    'sum',
    sources.waitingForRevision,
  );
  new Gauge({
    name: `${prefix}_storage_state`,
    help: 'Whether what is stored is kept: 1 for the state that the storage is in, 0 for the others.',
    labelNames: ['state'],
    aggregator: 'max',
    registers,
    collect() {
      for (const state of STORAGE_STATES) this.set({ state }, sources.storage().state === state ? 1 : 0);
    },
  });
  new Counter({
    name: `${prefix}_storage_transitions_total`,
    help: 'How often the storage got into each state.',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset();
      for (const [state, count] of sources.storage().transitions) this.inc({ state }, count);
    },
  });
  const { problems, agentActivity, coverage, lastKnownGood } = sources;
  if (coverage !== undefined) addCoverage(prefix, coverage, registers);
  if (agentActivity !== undefined) addActivity(prefix, agentActivity, registers);
  if (problems !== undefined) addProblems(prefix, problems, registers);
  if (lastKnownGood !== undefined) addLastKnownGood(prefix, lastKnownGood, registers);
  gauge('database_up', 'Whether the database answered last time it was asked.', 'min', () =>
    sources.databaseUp() ? 1 : 0,
  );
}

/** The label of each number. */
const ACTIVITY: Readonly<Record<keyof AgentActivity, string>> = {
  quarterHour: '15m',
  day: '24h',
  week: '7d',
  older: 'older',
  never: 'never',
};

function addActivity(prefix: string, figures: () => AgentActivity | undefined, registers: Registry[]): void {
  new Gauge({
    name: `${prefix}_agents`,
    help: 'Registered agents by when they were last evaluated: within 15m, within 24h but not 15m, within 7d but not 24h, older, never.',
    labelNames: ['last_evaluated'],
    // Every process asks the same database.
    aggregator: 'max',
    registers,
    collect() {
      const activity = figures();
      if (activity === undefined) return;
      for (const [figure, label] of Object.entries(ACTIVITY) as [keyof AgentActivity, string][])
        this.set({ last_evaluated: label }, activity[figure]);
    },
  });
}

function addCoverage(prefix: string, figures: () => CoverageFigures, registers: Registry[]): void {
  new Gauge({
    name: `${prefix}_point_last_seen_timestamp_seconds`,
    help: 'When a step of any agent was last evaluated by the process, in seconds since 1970, by the point that it comes from: the adapter, or else the protocol.',
    labelNames: ['point'],
    aggregator: 'max',
    registers,
    collect() {
      for (const [point, lastSeenS] of figures().points) this.set({ point }, lastSeenS);
    },
  });
  new Gauge({
    name: `${prefix}_registered_steps_unchecked`,
    help: 'Registered steps of the 500 newest agents of which none was evaluated in the stage; at most 10 minutes old.',
    labelNames: ['stage'],
    // Every process asks the same database.
    aggregator: 'max',
    registers,
    collect() {
      const { unchecked } = figures();
      if (unchecked === undefined) return;
      for (const stage of ['pre', 'post'] as const) this.set({ stage }, unchecked[stage]);
    },
  });
  createMetricKinds(prefix, registers).counter(
    'coverage_lost_total',
    'Evaluations that the coverage of agents does not count, because too many agents and steps were evaluated within seconds.',
    () => figures().lost,
  );
}

function addProblems(prefix: string, figures: () => readonly ProblemFigure[], registers: Registry[]): void {
  new Gauge({
    name: `${prefix}_problems`,
    help: 'What needs attention, as ListProblems tells it: the number of subjects, or 1 for the service itself, by kind and severity.',
    labelNames: ['kind', 'severity'],
    // Every process determines them, and those of the database are the same for all.
    aggregator: 'max',
    registers,
    collect() {
      for (const { kind, severity, value } of figures()) this.set({ kind, severity }, value);
    },
  });
}

function addLastKnownGood(prefix: string, figures: () => LastKnownGoodFigures, registers: Registry[]): void {
  const { gauge, counter } = createMetricKinds(prefix, registers);
  gauge(
    'last_known_good_active',
    'Whether the service started without its database and evaluates by the last known good file.',
    'max',
    () => (figures().isActive ? 1 : 0),
  );
  counter(
    'last_known_good_evaluations_total',
    'Evaluations by controls of the last known good file.',
    () => figures().evaluations,
  );
  // Only one of several processes saves; the others report zeros.
  gauge(
    'last_known_good_revision',
    'Revision of the last known good file as it was saved last.',
    'max',
    () => figures().revision,
  );
  gauge(
    'last_known_good_timestamp_seconds',
    'When the last known good file was certainly the latest state, in seconds since 1970; 0 before it is saved.',
    'max',
    () => figures().timeMs / 1000,
  );
  new Counter({
    name: `${prefix}_last_known_good_saves_total`,
    help: 'Attempts to save the last known good file by result: saved, superseded by a later one, failed.',
    labelNames: ['result'],
    registers,
    collect() {
      const { saved, superseded, failed } = figures();
      this.reset();
      for (const [result, count] of Object.entries({ saved, superseded, failed }))
        this.inc({ result }, count);
    },
  });
}
