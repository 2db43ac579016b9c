/** What a server says of itself with `INFO`, by member. */
export type ServerInfo = ReadonlyMap<string, string>;

/** The members of a reply of `INFO`, see https://redis.io/docs/latest/commands/info/. */
export function readInfo(text: string): ServerInfo {
  const members = text.matchAll(/^([^#:\s][^:\r\n]*):([^\r\n]*)/gm);
  return new Map([...members].map(([, name = '', value = '']) => [name, value]));
}

const OLDEST = [6, 2] as const;

/** What is wrong with a server, and what to do. */
export interface ServerProblems {
  /** Why it cannot be used. */
  readonly refused: string | null;
  /** Why it forgets what it acknowledged. */
  readonly volatile: string | null;
}

/** Whether a server can keep the memory. Valkey states the version of Redis that it is compatible with. */
export function checkServer(info: ServerInfo, isCluster: boolean): ServerProblems {
  const version = info.get('redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = !(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]));
  const refusals = [
    isOld && `its version is ${version}; Redis ${OLDEST.join('.')} or Valkey is needed`,
    info.get('role') !== 'master' && 'it is a replica; name the server that takes writes',
    info.get('cluster_enabled') === '1' &&
      !isCluster &&
      'it is a node of a cluster; add ?cluster=true to SERVICE_MEMORY_STORE',
  ];
  const policy = info.get('maxmemory_policy');
  const losses = [
    info.get('aof_enabled') !== '1' && 'it keeps nothing on disk; set `appendonly yes`',
    policy !== 'noeviction' &&
      `it may evict keys (maxmemory-policy ${policy ?? 'unknown'}); set \`maxmemory-policy noeviction\``,
  ];
  return { refused: joined(refusals), volatile: joined(losses) };
}

function joined(problems: readonly (string | false)[]): string | null {
  return problems.filter((problem) => problem !== false).join(', and ') || null;
}
