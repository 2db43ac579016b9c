import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { describeAboveStores, describeOnSqlite } from './databases.js';
import { type RestClient, restClient } from './http.js';
import { PROTOCOLS, type ProtocolClient, type ProtocolName } from './protocol-clients.js';
import { seeder } from './seed.js';
import { type StartOptions, startService, type TestService } from './service.js';

type Variables = Readonly<Record<string, string>>;

/** A service that runs from before the first test of a suite to after its last; only tests and hooks may use it. */
export interface SuiteService extends TestService {
  /** Calls its JSON routes. */
  readonly call: RestClient;
  readonly seed: ReturnType<typeof seeder>;
}

interface SuiteOptions extends StartOptions {
  /** Headers of every `call`. */
  readonly headers?: Record<string, string>;
}

/** Starts a service before the tests of the suite that calls this, and stops it after them. */
export function suiteService(
  variables: Variables | (() => Variables | Promise<Variables>) = {},
  { headers, ...options }: SuiteOptions = {},
): SuiteService {
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await startService(typeof variables === 'function' ? await variables() : variables, options);
  });
  afterAll(() => service?.stop());
  const call: RestClient = (...request) => restClient(started(service).url, headers)(...request);
  const late = { call, seed: seeder(call) };
  // Its members are those of the service once it runs.
  return new Proxy(late as SuiteService, {
    get: (own, name) => Reflect.get(name in own ? own : started(service), name),
  });
}

/** Starts a service for one test, and stops it after it. */
export async function testService(...given: Parameters<typeof startService>): Promise<TestService> {
  const service = await startService(...given);
  onTestFinished(() => service.stop());
  return service;
}

/** A client over a protocol of a service of a suite, which is closed after the tests. */
export function suiteClient(service: SuiteService, protocol: ProtocolName): ProtocolClient {
  let client: ProtocolClient | undefined;
  beforeAll(() => {
    client = PROTOCOLS[protocol](service.url);
  });
  afterAll(() => client?.close());
  return {
    call: (...request) => started(client).call(...request),
    stream: (...request) => started(client).stream(...request),
    close: () => started(client).close(),
  };
}

/** What the tests of a suite share. */
export interface ServiceSuite extends Pick<SuiteService, 'call' | 'seed'> {
  readonly service: SuiteService;
}

type Define = (suite: ServiceSuite) => void;

/** Defines a suite about what uses the stores, with one running service for all its tests. */
export function describeService(name: string, define: Define, variables: Variables = {}): void {
  describeAboveStores(name, withService(define, variables));
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
    const service = suiteService(async () => ({ DATABASE_URL: await freshDatabaseUrl(), ...variables }));
    define({ call: service.call, seed: service.seed, service });
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the service is not started yet: only tests and hooks may use it');
  return value;
}
