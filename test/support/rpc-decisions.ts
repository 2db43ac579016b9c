import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The file in which a review sees who may call each RPC, and how; `npm run generate` writes it. */
export const DECISIONS_FILE = path.resolve(import.meta.dirname, '../contract/rpcs.golden.txt');

/** What the file says of an RPC. */
export interface RpcDecision {
  readonly access: 'public' | 'key' | 'admin';
  readonly agents: 'free' | 'by_agent' | 'by_evaluation' | 'beyond';
  /** Any one of these, separated by commas. */
  readonly scopes: string;
}

function readDecisions(): ReadonlyMap<string, RpcDecision> {
  const lines = readFileSync(DECISIONS_FILE, 'utf8').trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [name = '', ...words] = line.split(' ');
      const members = words.map((word) => word.split('=') as [string, string]);
      return [name, Object.fromEntries(members) as unknown as RpcDecision];
    }),
  );
}

let decisions: ReadonlyMap<string, RpcDecision> | undefined;

/**
 * What was decided about an RPC, given as `Service.Method`: taken from the reviewed file, not from the descriptors that
 * the service itself uses.
 */
export function decisionOf(rpc: string): RpcDecision {
  decisions ??= readDecisions();
  const found = decisions.get(rpc);
  if (found === undefined) throw new Error(`${DECISIONS_FILE} has no ${rpc}: run "npm run generate"`);
  return found;
}
