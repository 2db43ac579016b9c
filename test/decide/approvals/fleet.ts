import { startPostgresServer } from '../../../scripts/postgres-server.mjs';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { killIfThere, workersOf } from '../../app/cluster/support/workers.js';
import { createTestDatabase, type DatabaseKind } from '../../support/databases.js';
import { type RestReply, restClient } from '../../support/http.js';
import { createKeysFile } from '../../support/keys-file.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';

export const APPROVERS = ['ann', 'bob', 'cid'] as const;
export type Who = 'boss' | 'bot' | (typeof APPROVERS)[number];

const ROLES: Record<Who, string> = {
  boss: 'admin',
  bot: 'agent',
  ann: 'approver',
  bob: 'approver',
  cid: 'approver',
};

/** Processes of the service that share a database, with a key for each caller. */
export interface ApprovalFleet {
  readonly processes: number;
  /** Calls a JSON route of the process of this number. Rejects when the connection breaks. */
  call(number: number, who: Who, method: string, path: string, body?: object): Promise<RestReply>;
  /** Ends a process at once; another one takes its place. */
  kill(index: number): Promise<void>;
  /** Ends the server of the database at once, and starts it again. Null for a fleet without one of its own. */
  readonly crashStore: (() => Promise<void>) | null;
  /** The database itself. */
  open(): Promise<Database>;
  stop(): Promise<void>;
}

/**
 * Starts `processes` processes: on SQLite those of one service, else services on one database, which has a server of its own
 * that may be ended if `ownsServer` says so.
 */
export async function startApprovalFleet(
  kind: DatabaseKind,
  processes: number,
  ownsServer = false,
): Promise<ApprovalFleet> {
  const cleanUps: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  try {
    return { ...(await begin(kind, processes, ownsServer, cleanUps)), processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function begin(
  kind: DatabaseKind,
  processes: number,
  ownsServer: boolean,
  cleanUps: (() => Promise<void> | void)[],
): Promise<Omit<ApprovalFleet, 'stop' | 'processes'>> {
  const server = ownsServer ? await startPostgresServer({ survivesCrash: true }) : null;
  if (server !== null) cleanUps.push(() => server.stop());
  const database = server === null ? await createTestDatabase(kind) : null;
  if (database !== null) cleanUps.push(() => database.drop());
  const url = server?.url ?? database?.url ?? '';
  const keys = createKeysFile(
    Object.entries(ROLES).map(([name, role]) => ({ name, key: `${name}-key`, role })),
  );
  cleanUps.push(() => keys.remove());
  const environment = {
    ...keys.environment,
    DATABASE_URL: url,
    SERVICE_APPROVALS_FATIGUE_LIMIT: '1000000',
    SERVICE_APPROVALS_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...(kind === 'sqlite' && { SERVICE_WORKERS: String(processes) }),
  };

  const spawned = async (): Promise<{ service: ServiceProcess; url: string }> => {
    const service = await spawnService(compiled, { environment });
    cleanUps.push(() => service.dispose());
    return { service, url: await service.listening() };
  };
  // Before the others: it migrates the database.
  const services = [await spawned()];
  if (kind !== 'sqlite') {
    services.push(...(await Promise.all(Array.from({ length: processes - 1 }, () => spawned()))));
  }
  const at = (number: number) => services[number % services.length] as (typeof services)[number];
  return {
    call: (number, who, method, path, body) =>
      restClient(at(number).url, { 'x-api-key': `${who}-key` })(method, `/api/v1${path}`, body),
    async kill(index) {
      const { service } = at(index);
      if (kind === 'sqlite') {
        // The service starts another one.
        const workers = await workersOf(service);
        const worker = workers[index % workers.length];
        // There is none while the service starts another one.
        if (worker !== undefined) killIfThere(worker);
        return;
      }
      service.process.kill('SIGKILL');
      await service.ended;
      services[index % services.length] = await spawned();
    },
    crashStore:
      server === null
        ? null
        : async () => {
            await server.crash();
            await server.resume();
          },
    open: () => openDatabase({ url }),
  };
}
