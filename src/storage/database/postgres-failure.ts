import type { DatabaseLocation } from './database-url.js';
import { asServiceError } from './errors.js';
import { errorChain, textCodesOf } from './storage-health/storage-failure.js';
import { StorageError } from './storage-health/storage-state.js';

/** What the codes of failed connections mean for the one who configured the address: SQLSTATEs, and those of Node.js. */
const MEANINGS: readonly (readonly [RegExp, (url: URL) => string])[] = [
  [/^28P01$/, ({ username }) => `refuses the password of the user ${username}; check both`],
  [
    /^28[0-9A-Z]{3}$/,
    ({ username }) => `does not let the user ${username} connect; check pg_hba.conf and TLS`,
  ],
  [/^3D000$/, ({ pathname }) => `has no database ${pathname.slice(1)}; create it, or correct its name`],
  [/^53300$/, () => 'has no connection left; raise max_connections, or end other programs'],
  [/^57P03$/, () => 'is starting or stopping; try again shortly'],
  [
    /^ECONNREFUSED$/,
    () => 'refuses connections: nothing listens at this port; check host and port, and start it',
  ],
  [/^(?:ENOTFOUND|EAI_[A-Z]+)$/, () => 'cannot be found: the name of the host is not known; check it'],
  [/^(?:ETIMEDOUT|EHOST[A-Z]+|ENET[A-Z]+)$/, () => 'does not answer; check host, port, network and firewall'],
];
/** Kinds of errors of the driver adapter, which replace the codes of PostgreSQL. */
const KINDS: Readonly<Record<string, string>> = {
  AuthenticationFailed: '28P01',
  DatabaseAccessDenied: '28000',
  DatabaseDoesNotExist: '3D000',
  TooManyConnections: '53300',
};

/** An error of connecting to PostgreSQL with the variable, the address without credentials, and a remedy. */
export function explainedConnection(
  error: unknown,
  { connectionString }: Extract<DatabaseLocation, { kind: 'postgresql' }>,
  variable: string,
): Error {
  const known = asServiceError(error);
  if (!(known instanceof StorageError) || known.state !== 'DOWN') return known;
  const url = new URL(connectionString);
  const meaning = meaningOf(error, url);
  if (meaning === null) return known;
  const detail = `${variable}: PostgreSQL at ${url.host} ${meaning}.`;
  return new StorageError('DOWN', { detail, cause: known.options.cause });
}

function meaningOf(error: unknown, url: URL): string | null {
  for (const each of errorChain(error)) {
    const kind = typeof each.kind === 'string' ? KINDS[each.kind] : undefined;
    for (const code of [...textCodesOf(each), ...(kind === undefined ? [] : [kind])]) {
      const found = MEANINGS.find(([pattern]) => pattern.test(code));
      if (found !== undefined) return found[1](url);
    }
  }
  return null;
}
