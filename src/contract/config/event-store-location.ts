import type { ClickHouseLocation } from '../../../packages/clickhouse-tables/src/index.js';
import type { Reader } from './config-readers.js';

const SCHEME = /^clickhouse:\/\//i;
const NAME = /^\w{1,64}$/;
const PARAMETERS: ReadonlySet<string> = new Set(['tls', 'replicated']);
const SWITCHES = new Map([
  ['true', true],
  ['false', false],
]);

/** Undefined when it is no valid address. */
function readLocation(text: string): ClickHouseLocation | undefined {
  if (!SCHEME.test(text)) return undefined;
  let url: URL;
  try {
    // Other schemes than http have no default host, port and path rules in the URL standard.
    url = new URL(text.replace(SCHEME, 'http://'));
  } catch {
    return undefined;
  }
  const { hostname, username, password, pathname, searchParams, hash } = url;
  const unknown = [...searchParams.keys()].some((name) => !PARAMETERS.has(name));
  if (unknown || hash !== '') return undefined;
  const tls = SWITCHES.get(searchParams.get('tls') ?? 'false');
  const isReplicated = SWITCHES.get(searchParams.get('replicated') ?? 'false');
  const database = pathname.replace(/^\//, '') || 'default';
  if (tls === undefined || isReplicated === undefined || !NAME.test(database)) return undefined;
  const port = /:\/\/(?:[^/@]*@)?[^/?]*:(\d+)(?:[/?]|$)/.exec(text)?.[1] ?? (tls ? '8443' : '8123');
  try {
    return {
      url: `${tls ? 'https' : 'http'}://${hostname}:${port}`,
      username: decodeURIComponent(username) || 'default',
      password: decodeURIComponent(password),
      database,
      isReplicated,
    };
  } catch {
    return undefined;
  }
}

/** `database`, or the address of a ClickHouse server. Null stands for the database of the controls. */
export const EVENT_STORE: Reader<ClickHouseLocation | null> = {
  read: (text) => (text.toLowerCase() === 'database' ? null : readLocation(text)),
  expected:
    'database, or clickhouse://user:password@host:port/database with the parameters tls and replicated, each true or false; special characters of the password must be %-encoded',
  example: 'clickhouse://service:secret@localhost:8123/events?tls=false',
};
