/** Where a server of Redis or Valkey is, and how to log in. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly credentials: { readonly username?: string; readonly password?: string };
  readonly database: number;
  /** Whether it is a node of a cluster, from which the others are known. */
  readonly isCluster: boolean;
  /** Names it in messages, without credentials. */
  readonly place: string;
}

const DEFAULT_PORT = 6379;

/** Reads the address of a URL that `SERVICE_MEMORY_STORE` takes. */
export function redisAddress(text: string): RedisAddress {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(text);
  const database = Number(pathname.slice(1));
  const isCluster = searchParams.get('cluster') === 'true';
  const address = {
    // IPv6 addresses are in brackets in URLs alone.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? DEFAULT_PORT : Number(port),
    isTls: protocol === 'rediss:',
    credentials: {
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
    },
    database,
    isCluster,
  };
  const kind = isCluster ? 'the cluster of Redis' : 'Redis';
  return {
    ...address,
    place: `${kind} at ${hostname}:${address.port}${database === 0 ? '' : `/${database}`}`,
  };
}
