import { converted, inMs, integerIn, MIB, numberIn, type Reader, secret, wordOf } from './config-readers.js';
import { setting } from './setting.js';

const SCHEME = /^(?:redis|rediss|valkey|valkeys):\/\/[^\s/]\S*$/i;
const DATABASE = /^(?:\/\d{0,5})?$/;
const QUERIES = ['', '?cluster=true', '?cluster=false'];

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a URL names a server, and a database by its number; clusters have one database only. */
function isServer({ username, password, pathname, search, hash }: URL): boolean {
  if (!DATABASE.test(pathname) || !QUERIES.includes(search) || hash !== '') return false;
  if (!decodes(username) || !decodes(password)) return false;
  return search !== '?cluster=true' || Number(pathname.slice(1)) === 0;
}

/** `database`, or the address of a server of Redis or Valkey. Null stands for the database of the controls. */
const MEMORY_STORE: Reader<string | null> = {
  read(text) {
    if (text.toLowerCase() === 'database') return null;
    if (!SCHEME.test(text)) return undefined;
    const url = text.replace(/^\w+/, (scheme) => scheme.toLowerCase().replace('valkey', 'redis'));
    return URL.canParse(url) && isServer(new URL(url)) ? url : undefined;
  },
  expected:
    'database, or redis://user:password@host:port/number, or rediss:// for TLS, with ?cluster=true for a cluster; special characters of the password must be %-encoded',
  example: 'redis://localhost:6379/0',
};

/** What controls with memory keep, and where. */
export const MEMORY = {
  memory: {
    /** Null for the database of the controls. */
    store: setting('SERVICE_MEMORY_STORE', 'database', secret(MEMORY_STORE)).help(
      'Where controls with memory keep what they know: `database`, with the controls, or `redis://user:password@host:6379/0` (Redis 6.2 or Valkey; `rediss://` with TLS; `?cluster=true` for a node of a cluster). It is opened when a control first needs it.',
    ),
    volatile: setting('SERVICE_MEMORY_VOLATILE', 'refuse', wordOf('refuse', 'accept')).help(
      'A Redis that keeps nothing on disk, or long after its answer (`appendfsync no`), or that may evict keys: refuse fails the checks of controls with memory, accept uses it, with a warning: limits begin anew whenever it restarts.',
    ),
    maxWindowMs: setting(
      'SERVICE_MEMORY_WINDOW_HOURS',
      24,
      converted(numberIn(0.01, 8_784), (hours) => hours * 3_600_000),
    ).help(
      'Longest window of a control with memory, and how long its entries are kept. Each step that counts keeps some 100 to 300 bytes for as long.',
    ),
    timeoutMs: setting('SERVICE_MEMORY_TIMEOUT_SECONDS', 2, inMs(numberIn(0.01, 60))).help(
      'Longest time that an evaluation waits for the store of memory. After it, each control decides by its `on_store_error`.',
    ),
    maxKeys: setting('SERVICE_MEMORY_KEYS', 1_000_000, integerIn(1_000, 1_000_000_000)).help(
      'Most keys that controls with memory keep in a namespace; an agent begins at most a quarter of them. Beyond it, steps that need a new key fail closed until keys expire.',
    ),
    maxBytes: setting('SERVICE_MEMORY_BYTES', 1024 * MIB, integerIn(MIB, 1_048_576 * MIB)).help(
      'Most bytes that controls with memory keep in a namespace. Beyond it, steps that need a new key fail closed until keys expire.',
    ),
  },
};
