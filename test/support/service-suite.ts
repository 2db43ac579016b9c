import { afterAll, beforeAll } from 'vitest';
import { describeOnEachDatabase, describeOnSqlite } from './databases.js';
import { type RestClient, restClient } from './http.js';
import { seeder } from './seed.js';
import { startService, type TestService } from './service.js';

/** A service on an empty database, from before the first test of a suite to after its last. */
export interface ServiceSuite {
  /** Calls the service; to be used in tests and hooks only. */
  readonly call: RestClient;
  readonly seed: ReturnType<typeof seeder>;
  readonly service: () => TestService;
  readonly databaseUrl: () => string;
}

type Define = (suite: ServiceSuite) => void;
type Variables = Readonly<Record<string, string>>;

/** Defines a suite once for each database, with one running service for all its tests. */
export function describeService(name: string, define: Define, variables: Variables = {}): void {
  describeOnEachDatabase(name, withService(define, variables));
}

/** The same once, about what does not depend on the database. */
export function describeServiceOnSqlite(name: string, define: Define, variables: Variables = {}): void {
  describeOnSqlite(name, withService(define, variables));
}

function withService(
  define: Define,
  variables: Variables,
): (freshDatabaseUrl: () => Promise<string>) => void {
  return (freshDatabaseUrl) => {
    let databaseUrl: string | undefined;
    let service: TestService | undefined;
    let client: RestClient | undefined;
    beforeAll(async () => {
      databaseUrl = await freshDatabaseUrl();
      service = await startService({ DATABASE_URL: databaseUrl, ...variables });
      client = restClient(service.url);
    });
    afterAll(() => service?.stop());
    const call: RestClient = (...request) => started(client)(...request);
    define({
      call,
      seed: seeder(call),
      service: () => started(service),
      databaseUrl: () => started(databaseUrl),
    });
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the service is not started yet: only tests and hooks may use it');
  return value;
}
