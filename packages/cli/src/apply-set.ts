import type { JsonObject } from '../../exact-json/src/index.js';
import type { Clients } from './clients.js';
import type { CommandContext } from './context.js';
import type { SourceDocument } from './files/documents-of.js';
import { FilesError, problemLine } from './files/problems.js';
import { placedInFiles, refusedInFiles } from './files/refused-documents.js';
import { objects } from './listing.js';

/** A request of ApplyConfiguration without its documents. */
export interface ApplyRequest {
  readonly owner: string;
  readonly dry_run: boolean;
  readonly prune: boolean;
  readonly overwrite?: readonly string[] | undefined;
  readonly revision?: number | undefined;
  readonly note?: string | undefined;
  readonly strict: boolean;
  readonly merge: boolean;
}

/** The options that `apply` and `diff` share. */
export const SET_OPTIONS = {
  owner: { type: 'string', demandOption: true, describe: 'Who applies the set, for example payments/main' },
  prune: {
    type: 'boolean',
    default: false,
    describe: 'Delete what the owner has applied and the files do not have',
  },
  overwrite: {
    type: 'string',
    array: true,
    describe: 'Conflicts to resolve by the files: KIND/NAME, or "*"',
  },
  merge: {
    type: 'boolean',
    default: false,
    describe: 'Keep what others changed in controls, where the files changed other members',
  },
} as const;

/** Sends a set. Problems and conflicts are thrown as a `FilesError` with the places in the files; warnings are printed. */
export async function applySet(
  context: CommandContext,
  { rest }: Clients,
  sources: readonly SourceDocument[],
  { overwrite, ...request }: ApplyRequest,
): Promise<JsonObject> {
  const { unknownInData } = await import('./offline/placed-problems.js');
  const unknown = sources.flatMap(unknownInData);
  if (unknown.length > 0) throw new FilesError(unknown);
  const body: JsonObject = { documents: sources.map(({ value }) => value) };
  for (const [name, value] of Object.entries(request)) if (value !== undefined) body[name] = value;
  if (overwrite !== undefined) body.overwrite = [...overwrite];
  await context.progress(`sending ${sources.length} documents`);
  try {
    const reply = await rest.send('POST', '/api/v1/configuration/apply', body);
    await context.progress('');
    for (const { field = '', message = '' } of objects(reply.warnings)) {
      const problem = placedInFiles(String(field), String(message), sources);
      if (problem !== undefined) {
        await context.warn(problemLine({ ...problem, message: `warning: ${problem.message}` }));
      }
    }
    return reply;
  } catch (error) {
    await context.progress('');
    throw refusedInFiles(error, sources);
  }
}

/** Changes as lines: each object, and below it the members that differ. */
export function changesText({ paint }: CommandContext, reply: JsonObject): string {
  const lines: string[] = [];
  for (const { kind, name, change, adopted, differences } of objects(reply.changes)) {
    const label = `${kind}/${name}${adopted === true ? ' (taken over)' : ''}`;
    if (change === 'create') lines.push(paint('green', `+ ${label}`));
    else if (change === 'delete') lines.push(paint('red', `- ${label}`));
    else if (change === 'update') lines.push(paint('yellow', `~ ${label}`));
    else if (adopted === true) lines.push(`  ${label}`);
    if (change !== 'update') continue;
    for (const { path, before_json: before, after_json: after } of objects(differences)) {
      lines.push(`    ${path}`);
      if (typeof before === 'string') lines.push(paint('red', `      - ${before}`));
      if (typeof after === 'string') lines.push(paint('green', `      + ${after}`));
    }
  }
  for (const { kind, name, reason, hint } of objects(reply.conflicts)) {
    lines.push(paint('red', `! ${kind}/${name}: ${String(reason).replaceAll('_', ' ')}. ${hint}`));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** How many objects become what. */
export function countsOf(reply: JsonObject): { create: number; update: number; delete: number } {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const { change } of objects(reply.changes)) {
    if (change === 'create' || change === 'update' || change === 'delete') counts[change] += 1;
  }
  return counts;
}
