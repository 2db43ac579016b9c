import type { CommandContext } from './context.js';
import { LISTINGS, objectIn, printItems } from './listing.js';

/** The arguments of `approvals approve` and `approvals deny`. */
export const DECISION_ARGS = {
  positionals: { id: { type: 'number', demandOption: true, describe: 'Id of the approval' } },
  options: { comment: { type: 'string', describe: 'Why' } },
} as const;

/** Decides what the server shows under the id: the digest of its step is sent back. */
export async function decideApproval(
  context: CommandContext,
  id: number,
  decision: 'approve' | 'deny',
  comment: string | undefined,
): Promise<0> {
  const { rest } = await context.connect();
  const shown = objectIn(await rest.get(`/api/v1/approvals/${id}`), 'approval');
  const reply = await rest.send('POST', `/api/v1/approvals/${id}/decide`, {
    decision,
    step_sha256: shown.step_sha256 ?? null,
    ...(comment === undefined ? {} : { comment }),
  });
  await printItems(context, [objectIn(reply, 'approval')], LISTINGS.approvals.columns);
  return 0;
}
