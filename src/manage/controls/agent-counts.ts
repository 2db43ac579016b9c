import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';

/** Numbers of agents by control; a control without any is absent. */
export type AgentCounts = ReadonlyMap<number, number>;

interface KnownCounts {
  readonly revision: bigint;
  readonly counts: AgentCounts;
}

/** Namespaces whose counts are kept, of each database. */
const MAX_NAMESPACES = 100;
/** The counts of each database at a revision, by namespace: they change with it only. */
const known = new WeakMap<object, BoundedMap<string, KnownCounts>>();

interface Pair {
  readonly owner: number;
  readonly member: number;
}

/**
 * The number of agents of every control of a namespace, linked or in their policies, each agent once. In sets of bits: a database would
 * list all pairs of agents and controls first, which are millions where policies are large.
 */
export async function agentCounts(scope: Scoped): Promise<AgentCounts> {
  const { client, namespace } = scope;
  const ofDatabase = known.get(client) ?? new BoundedMap({ entries: MAX_NAMESPACES });
  known.set(client, ofDatabase);
  const { revision } = await client.serviceState.findUniqueOrThrow({ where: { id: 1 } });
  const found = ofDatabase.get(namespace.name);
  if (found?.revision === revision) return found.counts;
  const counts = await counted(scope);
  ofDatabase.set(namespace.name, { revision, counts });
  return counts;
}

async function counted(scope: Scoped): Promise<AgentCounts> {
  const { client } = scope;
  const ofPolicies = await client.$queryRaw<Pair[]>(Prisma.sql`
    SELECT g."policy_id" AS "owner", g."agent_id" AS "member"
    FROM "agent_policies" g JOIN "policies" p ON p."id" = g."policy_id" WHERE ${inNamespace('p', scope)}`);
  const direct = await client.$queryRaw<Pair[]>(Prisma.sql`
    SELECT l."control_id" AS "owner", l."agent_id" AS "member"
    FROM "agent_controls" l JOIN "controls" c ON c."id" = l."control_id" WHERE ${inNamespace('c', scope)}`);
  const inPolicies = await client.$queryRaw<Pair[]>(Prisma.sql`
    SELECT o."control_id" AS "owner", o."policy_id" AS "member"
    FROM "policy_controls" o JOIN "policies" p ON p."id" = o."policy_id" WHERE ${inNamespace('p', scope)}`);
  const bits = new Map<number, number>();
  for (const { member } of [...ofPolicies, ...direct]) if (!bits.has(member)) bits.set(member, bits.size);
  const words = Math.ceil(bits.size / 32);
  const agents = bitSets(ofPolicies, bits, words);
  const controls = bitSets(direct, bits, words);
  for (const { owner, member } of inPolicies) {
    const ofPolicy = agents.get(member);
    if (ofPolicy === undefined) continue;
    const set = setOf(controls, owner, words);
    for (let word = 0; word < words; word += 1) set[word] = (set[word] ?? 0) | (ofPolicy[word] ?? 0);
  }
  return new Map([...controls].map(([id, set]) => [id, size(set)]));
}

function bitSets(
  pairs: readonly Pair[],
  bits: ReadonlyMap<number, number>,
  words: number,
): Map<number, Uint32Array> {
  const sets = new Map<number, Uint32Array>();
  for (const { owner, member } of pairs) {
    const bit = bits.get(member) ?? 0;
    const set = setOf(sets, owner, words);
    set[bit >>> 5] = (set[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  return sets;
}

function setOf(sets: Map<number, Uint32Array>, owner: number, words: number): Uint32Array {
  const known = sets.get(owner);
  if (known !== undefined) return known;
  const set = new Uint32Array(words);
  sets.set(owner, set);
  return set;
}

function size(set: Uint32Array): number {
  let count = 0;
  for (let word of set) {
    for (; word !== 0; word &= word - 1) count += 1;
  }
  return count;
}
