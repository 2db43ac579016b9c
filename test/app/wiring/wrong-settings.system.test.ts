import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkStart } from '../../../src/app/wiring/start-checks.js';
import { ConfigError, readConfig } from '../../../src/contract/config/config.js';
import { parseDatabaseUrl } from '../../../src/storage/database/database-url.js';
import { openedInSuite } from '../../support/opened.js';
import { compiledTree, type ServiceProcess, spawnCommand } from '../../support/service-process.js';

const ON = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'a-key-that-is-long' };
const SECRET = 'planted-s3cret';

/** A mistake of one word, and what the message says of it. */
type Row = readonly [mistake: string, environment: Record<string, string>, told: RegExp];

/** Without the mistake, each of these services would require keys, or keep its data elsewhere. */
const MISSPELLED: readonly Row[] = (
  [
    ['SERVICE_API_KEYS_ENABLED', 'SERVICE_API_KEY_ENABLED'],
    ['SERVICE_API_KEY_ENABLE', 'SERVICE_API_KEY_ENABLED'],
    ['SERVICE_APIKEY_ENABLED', 'SERVICE_API_KEY_ENABLED'],
    ['SERVICE_API_KEY_ENABELD', 'SERVICE_API_KEY_ENABLED'],
    ['SERVCE_API_KEY_ENABLED', 'SERVICE_API_KEY_ENABLED'],
    ['SERIVCE_API_KEY_ENABLED', 'SERVICE_API_KEY_ENABLED'],
    ['service_api_key_enabled', 'SERVICE_API_KEY_ENABLED'],
    ['SERVICE_API_KEY', 'SERVICE_API_KEYS'],
    ['SERVICE_API_KEYES', 'SERVICE_API_KEYS'],
    ['SERVICE_ADMIN_API_KEY', 'SERVICE_ADMIN_API_KEYS'],
    ['SERVICE_ADMIN_APIKEYS', 'SERVICE_ADMIN_API_KEYS'],
    ['SERVICE_KEY_FILE', 'SERVICE_KEYS_FILE'],
    ['SERVICE_KEYS_FLIE', 'SERVICE_KEYS_FILE'],
    ['SERVICE_API_KEY_FILE', 'SERVICE_API_KEYS_FILE'],
    ['SERVICE_ADMIN_API_KEY_FILE', 'SERVICE_ADMIN_API_KEYS_FILE'],
    ['SERVICE_HOTS', 'SERVICE_HOST'],
    ['SERVICE_PROT', 'SERVICE_PORT'],
    ['SERVICE_TLS_CERTFILE', 'SERVICE_TLS_CERT_FILE'],
    ['SERVICE_TLS_CLIENT_CERTIFICATE', 'SERVICE_TLS_CLIENT_CERTIFICATES'],
    ['SERVICE_TLS_CLIENTS_CA_FILE', 'SERVICE_TLS_CLIENT_CA_FILE'],
    ['SERVICE_OIDC_ISUERS', 'SERVICE_OIDC_ISSUERS'],
    ['SERVICE_SESSION_SECRETS', 'SERVICE_SESSION_SECRET'],
    ['SERVICE_DB_HOTS', 'SERVICE_DB_HOST'],
    ['SERVICE_DB_PASWORD', 'SERVICE_DB_PASSWORD'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['SERVICE_DATABASE_EXPECT', 'SERVICE_DATABASE_EXPECTED'],
    ['SERVICE_AUDIT_RETENTION_DAY', 'SERVICE_AUDIT_RETENTION_DAYS'],
    ['SERVICE_STRICT_DEFINITION', 'SERVICE_STRICT_DEFINITIONS'],
    ['SERVICE_MAX_STALENESS_SECOND', 'SERVICE_MAX_STALENESS_SECONDS'],
  ] as const
).map(([wrong, right]) => [
  wrong,
  { [wrong]: `true-${SECRET}` },
  new RegExp(`^${wrong}: no such variable; did you mean ${right}\\?`),
]);

const database = (DATABASE_URL: string) => ({ DATABASE_URL });
const NO_DATABASE =
  /^DATABASE_URL: only PostgreSQL and SQLite are supported.+ for example DATABASE_URL=postgresql:/;

const WRONG: readonly Row[] = [
  [
    'keys without the switch',
    { SERVICE_API_KEYS: SECRET },
    /^SERVICE_API_KEY_ENABLED: keys are configured but not/,
  ],
  [
    'admin keys without it',
    { SERVICE_ADMIN_API_KEYS: SECRET },
    /^SERVICE_API_KEY_ENABLED: keys are configured but/,
  ],
  [
    'a keys file without it',
    { SERVICE_KEYS_FILE: '/keys.json' },
    /^SERVICE_API_KEY_ENABLED: keys are configured but/,
  ],
  [
    'a blank switch',
    { ...ON, SERVICE_API_KEY_ENABLED: ' ' },
    /^SERVICE_API_KEY_ENABLED: keys are configured but/,
  ],
  [
    'a misspelled switch word',
    { ...ON, SERVICE_API_KEY_ENABLED: 'ture' },
    /^SERVICE_API_KEY_ENABLED: must be true or/,
  ],
  [
    'no key',
    { SERVICE_API_KEY_ENABLED: 'true' },
    /^SERVICE_API_KEY_ENABLED: it is on but no key is configured/,
  ],
  ['an issuer without the switch', { SERVICE_OIDC_ISSUER: 'https://login.example' }, /^SERVICE_OIDC_/],
  ['no audience', { ...ON, SERVICE_OIDC_ISSUER: 'https://login.example' }, /^SERVICE_OIDC_AUDIENCE: /],
  ['a certificate without a key', { SERVICE_TLS_CERT_FILE: 'c.pem' }, /^SERVICE_TLS_KEY_FILE: /],
  ['authorities without TLS', { SERVICE_TLS_CLIENT_CA_FILE: 'c.pem' }, /^SERVICE_TLS_CLIENT_CA_FILE: /],
  ['an address without its colon', database(`postgres//u:${SECRET}@h/d`), NO_DATABASE],
  ['an address with one slash', database(`postgresql:/u:${SECRET}@h/d`), NO_DATABASE],
  ['an address with another scheme', database(`mysql://u:${SECRET}@h/d`), NO_DATABASE],
  ['an address with a misspelled scheme', database(`postgers://u:${SECRET}@h/d`), NO_DATABASE],
  ['an address without a scheme', database(`u:${SECRET}@db.example/controls`), NO_DATABASE],
  ['a host and a database', database('db.example/controls'), NO_DATABASE],
  ['a name that is no file', database('controls'), NO_DATABASE],
  [
    'the port of a database',
    { SERVICE_DB_HOST: 'h', SERVICE_DB_PORT: '5432a' },
    /^SERVICE_DB_PORT: must be a port/,
  ],
  [
    'a port that is a word',
    { SERVICE_PORT: 'http' },
    /^SERVICE_PORT: must be a whole number from 0 to 65535/,
  ],
  [
    'a port that is too large',
    { SERVICE_PORT: '80000' },
    /^SERVICE_PORT: must be a whole number from 0 to 65535/,
  ],
  ['a time with a unit', { SERVICE_DRAIN_SECONDS: '10s' }, /^SERVICE_DRAIN_SECONDS: must be /],
  [
    'a negative time',
    { SERVICE_REQUEST_TIMEOUT_SECONDS: '-1' },
    /^SERVICE_REQUEST_TIMEOUT_SECONDS: must be /,
  ],
  ['a level that is none', { SERVICE_LOG_LEVEL: 'verbose' }, /^SERVICE_LOG_LEVEL: must be /],
  [
    'reflection without its port',
    { SERVICE_REFLECTION: 'operations' },
    /^SERVICE_REFLECTION: operations needs SERVICE_/,
  ],
];

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').flatMap((line) => (line.startsWith('  - ') ? [line.slice(4)] : []));
  }
  return [];
}

describe('a wrong setting stops the start', () => {
  it.each([...MISSPELLED, ...WRONG])('%s', (_mistake, environment, told) => {
    const problems = problemsOf(environment);
    expect(problems).toContainEqual(expect.stringMatching(told));
    expect(problems.join()).not.toContain(SECRET);
  });

  it.each([
    ['postgresql://u:12/s3cret@h/d', /%-encoded/],
    ['postgresql://u:1?s3cret@h/d', /%-encoded/],
    ['postgresql://u:1#s3cret@h/d', /%-encoded/],
    ['postgresql://u:p%@h/d', /%-encoded/],
  ])('a password that is not escaped, without repeating it: %s', (url, told) => {
    expect(() => parseDatabaseUrl(url)).toThrow(told);
    expect(() => parseDatabaseUrl(url)).not.toThrow(/s3cret/);
  });

  it.each([
    ['keys that are off on purpose', { SERVICE_API_KEYS: 'k', SERVICE_API_KEY_ENABLED: 'false' }],
    [
      'variables of other programs',
      { SERVICE_NAME: 'x', SERVICES_MESH: 'y', DB_HOSTS: 'h', PORTS: '1', HOSTNAME: 'h' },
    ],
    [
      'variables of a cluster',
      { SERVICE_SERVICE_HOST: '10.0.0.1', SERVICE_PORT_8000_TCP: 'tcp://10.0.0.1:8000' },
    ],
    ['a file by its ending', database('service.db')],
    ['a file by its folder', database('./controls')],
    ['a file with a scheme', database('file:controls')],
    ['a file in a folder of Windows', database('C:\\data\\service')],
  ])('but not %s', (_what, environment) => {
    expect(problemsOf(environment)).toEqual([]);
  });
});

describe('a wrong condition stops the start before a database is created', () => {
  let folder: string;
  let taken: net.Server;
  let port: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'wrong-start-'));
    await writeFile(path.join(folder, 'empty'), '');
    await writeFile(path.join(folder, 'text'), 'not what it should be');
    await writeFile(path.join(folder, 'twice.json'), '{"keys":[],"keys":[]}');
    taken = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    port = String((taken.address() as net.AddressInfo).port);
  });
  afterAll(async () => {
    taken.close();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (name: string) => path.join(folder, name);
  const local = { SERVICE_HOST: '127.0.0.1', SERVICE_PORT: '0' };
  const keysFile = (name: string) => ({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_KEYS_FILE: file(name) });
  const tls = (cert: string, key: string) => ({
    SERVICE_TLS_CERT_FILE: file(cert),
    SERVICE_TLS_KEY_FILE: file(key),
  });

  it.each<[string, () => Record<string, string>, RegExp]>([
    ['a keys file that is missing', () => keysFile('none'), /SERVICE_KEYS_FILE: the file .*none cannot be/],
    ['a keys file that is empty', () => keysFile('empty'), /SERVICE_KEYS_FILE=.*empty cannot be used/],
    ['a keys file that is text', () => keysFile('text'), /SERVICE_KEYS_FILE=.*text cannot be used/],
    ['a keys file with a member twice', () => keysFile('twice.json'), /SERVICE_KEYS_FILE=.* cannot be used/],
    [
      'a certificate that is missing',
      () => tls('none', 'text'),
      /SERVICE_TLS_CERT_FILE: the file .* cannot be read/,
    ],
    ['a key that is missing', () => tls('text', 'none'), /SERVICE_TLS_KEY_FILE: the file .* cannot be read/],
    ['a certificate that is text', () => tls('text', 'text'), /SERVICE_TLS_CERT_FILE=.* cannot be used/],
    [
      'a port that is taken',
      () => ({ SERVICE_PORT: port }),
      /SERVICE_PORT: port \d+ of 127.0.0.1 is in use .*EADDRINUSE/,
    ],
    [
      'an operations port that is taken',
      () => ({ SERVICE_OPERATIONS_PORT: port, SERVICE_OPERATIONS_HOST: '127.0.0.1' }),
      /SERVICE_OPERATIONS_PORT: port \d+ of 127.0.0.1 is in use .* for example SERVICE_OPERATIONS_PORT=\d+$/,
    ],
    [
      'an address of another machine',
      () => ({ SERVICE_HOST: '192.0.2.77' }),
      /SERVICE_HOST: 192.0.2.77 is no address/,
    ],
  ])('%s', async (_condition, environment, told) => {
    const config = readConfig({ ...local, DATABASE_URL: `file:${file('new.db')}`, ...environment() });
    await expect(checkStart(config)).rejects.toThrow(told);
    expect(existsSync(file('new.db'))).toBe(false);
  });

  it('checks a port without keeping it', async () => {
    const config = readConfig({ ...local });
    await Promise.all(Array.from({ length: availableParallelism() }, () => checkStart(config)));
  });
});

describe('a Node.js that is too old', () => {
  const processes = openedInSuite<ServiceProcess>((one) => one.dispose());
  /** The version, as every module sees it. */
  const pretending = (version: string) =>
    `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;
  const demandNode = path.resolve(import.meta.dirname, '../../../scripts/demand-node.mjs');

  it.each(['18.20.8', '20.18.3', '16.0.0'])(
    '%s is told in one line, by the service and by the installation',
    async (version) => {
      for (const program of [compiledTree.main, demandNode]) {
        const directory = await mkdtemp(path.join(tmpdir(), 'old-node-'));
        const one = spawnCommand(process.execPath, ['--import', pretending(version), program], {}, directory);
        processes.push(one);
        expect(await one.ended).toEqual({ code: 1, signal: null });
        expect(one.stdout()).toBe('');
        expect(one.stderr()).toBe(
          `The service needs Node.js 20.19 or later, and this is ${version}: install a later one, or run the image.\n`,
        );
        expect(existsSync(path.join(directory, 'data'))).toBe(false);
      }
    },
  );
});

describe('a limit of few open files', () => {
  const processes = openedInSuite<ServiceProcess>((one) => one.dispose());

  it.runIf(existsSync('/proc/self/limits'))(
    'is named where a start fails, whatever the error says',
    async () => {
      const directory = await mkdtemp(path.join(tmpdir(), 'few-files-'));
      const words = ['-c', 'ulimit -n 256 && exec "$0" "$1"', process.execPath, compiledTree.main];
      const one = spawnCommand('sh', words, {}, directory);
      processes.push(one);
      expect(await one.ended).toEqual({ code: 1, signal: null });
      expect(one.stdout()).toMatch(/cannot start: .+\. The process may open 256 files, .+ulimit -n/);
    },
  );
});
