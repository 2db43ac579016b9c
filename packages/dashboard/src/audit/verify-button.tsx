import { createClient } from '@connectrpc/connect';
import { AuditService, type VerifyAuditResponse } from '@gen/enforcement/v1/audit_service_pb.js';
import { transport } from '../data/transport.js';
import { errorText } from '../ui/error-text.js';
import { numberOf } from '../ui/numbers.js';
import { useTask } from '../ui/use-task.js';

const client = createClient(AuditService, transport);

type Verification =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly verified: bigint; readonly last: bigint | undefined }
  | { readonly kind: 'intact'; readonly verified: bigint; readonly reply: VerifyAuditResponse }
  | { readonly kind: 'broken' | 'failed'; readonly reason: string };

/** Verifies the whole chain, part by part. It ends with the page. */
export function VerifyButton() {
  const { state, start } = useTask<Verification, []>({ kind: 'idle' }, verify);
  const isWrong = state.kind === 'broken' || state.kind === 'failed';
  return (
    <div className="export">
      <button type="button" disabled={state.kind === 'running'} onClick={() => start()}>
        Verify the chain
      </button>
      <span className={isWrong ? 'problem audit-state' : 'muted audit-state'} role="status">
        {verificationText(state)}
      </span>
    </div>
  );
}

async function verify(report: (state: Verification) => void, signal: AbortSignal): Promise<void> {
  let verified = 0n;
  let after: bigint | undefined;
  report({ kind: 'running', verified, last: undefined });
  try {
    for (;;) {
      const reply = await client.verifyAudit(after === undefined ? {} : { afterPosition: after }, { signal });
      verified += reply.verified;
      if (!reply.intact) return report({ kind: 'broken', reason: reply.problem?.message ?? 'unknown' });
      after = reply.nextAfterPosition;
      if (after === undefined) return report({ kind: 'intact', verified, reply });
      report({ kind: 'running', verified, last: reply.head?.position });
    }
  } catch (error) {
    if (!signal.aborted) report({ kind: 'failed', reason: errorText(error).detail });
  }
}

function verificationText(state: Verification): string {
  switch (state.kind) {
    case 'idle':
      return 'Finds entries that were changed, removed or inserted.';
    case 'running':
      return `${numberOf(Number(state.verified), 'entry', 'entries')} verified, up to ${state.last?.toLocaleString() ?? '…'}`;
    case 'intact':
      return `Intact: ${numberOf(Number(state.verified), 'entry', 'entries')}. The last one is ${state.reply.head?.position}:${state.reply.head?.hash}`;
    case 'broken':
      return `Broken: ${state.reason}.`;
    case 'failed':
      return `Not verified: ${state.reason}`;
  }
}
