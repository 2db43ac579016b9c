/** What a server says of itself with `INFO`, by member. */
export type ServerInfo = ReadonlyMap<string, string>;

/** The members of a reply of `INFO`, see https://redis.io/docs/latest/commands/info/. */
export function readInfo(text: string): ServerInfo {
  const members = text.matchAll(/^([^#:\s][^:\r\n]*):([^\r\n]*)/gm);
  return new Map([...members].map(([, name = '', value = '']) => [name, value]));
}

const SET_ALWAYS = 'set `appendfsync always` for limits that hold whatever happens';
const LATE = new Map<string | null, string>([
  [
    'everysec',
    `a crash of the server can lose the last two seconds (appendfsync everysec), and limits then let that many more steps pass; ${SET_ALWAYS}`,
  ],
  [
    null,
    `it does not tell its appendfsync (CONFIG GET is not allowed), without which a crash can lose what it acknowledged last; ${SET_ALWAYS}, and allow +config|get`,
  ],
]);

const OLDEST = [6, 2] as const;

/** What is wrong with a server, and what to do. */
export interface ServerProblems {
  /** Why it cannot be used. */
  readonly refused: string | null;
  /** Why it forgets what it acknowledged: it is used only if that is accepted. */
  readonly volatile: string | null;
  /** What may be lost when it crashes although it keeps everything on disk. */
  readonly late: string | null;
}

/**
 * Whether a server can keep the memory. Valkey states the version of Redis that it is compatible with. `appendfsync` is that of its
 * configuration; null if the server does not tell it.
 */
export function checkServer(
  info: ServerInfo,
  appendfsync: string | null,
  isCluster: boolean,
): ServerProblems {
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
    appendfsync === 'no' &&
      'it answers long before it writes to its disk (appendfsync no); set `appendfsync always`',
    policy !== 'noeviction' &&
      `it may evict keys (maxmemory-policy ${policy ?? 'unknown'}); set \`maxmemory-policy noeviction\``,
  ];
  return { refused: joined(refusals), volatile: joined(losses), late: LATE.get(appendfsync) ?? null };
}

function joined(problems: readonly (string | false)[]): string | null {
  return problems.filter((problem) => problem !== false).join(', and ') || null;
}
