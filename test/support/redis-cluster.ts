import { createClient } from '@redis/client';
import { type RedisServer, startRedisServer } from '../../scripts/redis-server.mjs';
import { until } from './until.js';

const SLOTS = 16_384;

/** A command to one server, over a connection of its own. */
export async function redisCommand(url: string, ...args: string[]): Promise<unknown> {
  const client = createClient({ url });
  // A lost connection fails the command as well.
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

/** Starts nodes of a cluster, each with its share of the slots, see https://redis.io/docs/latest/operate/oss_and_stack/management/scaling/. */
export async function startRedisCluster(count: number): Promise<RedisServer[]> {
  // A busy machine is late with its heartbeats.
  const flags = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000'];
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedisServer({ flags })));
  const [first] = nodes;
  if (first === undefined) throw new Error('a cluster has at least one node');
  for (const [index, { url }] of nodes.entries()) {
    const from = Math.floor((index * SLOTS) / count);
    const slots = Math.floor(((index + 1) * SLOTS) / count) - from;
    const own = Array.from({ length: slots }, (_, slot) => String(from + slot));
    await redisCommand(url, 'CLUSTER', 'ADDSLOTS', ...own);
    if (index > 0) await redisCommand(url, 'CLUSTER', 'MEET', first.host, String(first.port));
  }
  const isComplete = (info: unknown) =>
    /cluster_state:ok/.test(String(info)) && String(info).includes(`cluster_size:${count}`);
  for (const { url } of nodes) await until(() => redisCommand(url, 'CLUSTER', 'INFO'), isComplete);
  return nodes;
}
