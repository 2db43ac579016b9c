import { setTimeout as pause } from 'node:timers/promises';
import {
  type CompiledService,
  type Exit,
  type ServiceProcess,
  signalGroup,
  spawnService,
} from '../../../support/service-process.js';
import { until } from '../../../support/until.js';
import { killIfThere, workersOf } from './workers.js';

/** Waits until a service has come to where a signal is to reach it. */
type Reach = (service: ServiceProcess) => Promise<unknown>;

/** Where a service may be when it is told to stop. */
export const MOMENTS = {
  'while it serves': (service) => service.listening(),
  'as soon as it says anything': (service) => service.output(/./),
  'while its workers are started': (service) => newWorkers(service, []),
  'when its first worker is connected to the database': (service) => service.output(/the database answers/),
  'while a worker that was killed is replaced': (service) => replaced(service, 'SIGKILL'),
  'while a worker that was told to stop is replaced': (service) => replaced(service, 'SIGTERM'),
} satisfies Record<string, Reach>;

export type Moment = keyof typeof MOMENTS;

async function replaced(service: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  await service.listening();
  const before = await workersOf(service);
  killIfThere(before[0] ?? 0, signal);
  await newWorkers(service, before);
}

/** Waits for a worker that was not there. */
function newWorkers(service: ServiceProcess, before: readonly number[]): Promise<number[]> {
  return until(
    () => workersOf(service),
    (pids) => pids.some((pid) => !before.includes(pid)),
  );
}

export interface GroupStop {
  readonly compiled: CompiledService;
  readonly moment: Moment;
  /** Sent one right after the other. Of equal ones the kernel may keep one only. */
  readonly signals: readonly NodeJS.Signals[];
  /** Time after the moment, in milliseconds. */
  readonly delayMs?: number;
}

/** How a group of processes ended. */
export interface GroupEnd extends Exit {
  /** Whether a process of the group is left. */
  readonly isLeft: boolean;
  readonly stderr: string;
  /** Log lines about errors. */
  readonly errors: readonly string[];
}

/**
 * What the driver of SQLite says when its process ends while a thread is loading it, which it cannot prevent: the end is
 * clean all the same.
 */
const DRIVER_ENDED_EARLY =
  /thread '<unnamed>' panicked at .*neon-.*\n.*assertion `left == right` failed\n +left: PendingException\n +right: Ok\nnote: .*\n/g;

/** An end as it should be. */
export const CLEAN_END: GroupEnd = { code: 0, signal: null, isLeft: false, stderr: '', errors: [] };

/** Starts a service of two workers and sends signals to all its processes at once. */
export async function stopGroup(options: GroupStop): Promise<GroupEnd> {
  const { compiled, moment, signals, delayMs = 0 } = options;
  const service = await spawnService(compiled, {
    environment: { SERVICE_WORKERS: '2', SERVICE_LOG_JSON: 'true', SERVICE_DRAIN_SECONDS: '600' },
    ownGroup: true,
  });
  try {
    await MOMENTS[moment](service);
    await pause(delayMs);
    for (const signal of signals) signalGroup(service.process, signal);
    const exit = await service.ended;
    const errors = service
      .stdout()
      .split('\n')
      // That a worker was killed is told, and right.
      .filter((line) => /"level":[56]0/.test(line) && !/a worker ended; another takes its place/.test(line));
    return {
      ...exit,
      isLeft: signalGroup(service.process, 0),
      stderr: service.stderr().replace(DRIVER_ENDED_EARLY, ''),
      errors,
    };
  } finally {
    await service.dispose();
  }
}
