import { restAddress } from '../data/rest-address.js';
import { saveToFile } from '../events/export-sink.js';
import { errorText } from '../ui/error-text.js';
import { countText } from '../ui/numbers.js';
import { useTask } from '../ui/use-task.js';
import { type AuditFilter, exportBody } from './audit-filter.js';

type ExportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' | 'finished'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Saves all entries that pass the filters as lines of JSON, exactly as the JSON route sends them. */
export function ExportAudit({ filter }: { readonly filter: AuditFilter }) {
  const { state, start } = useTask<ExportState, [AuditFilter]>({ kind: 'idle' }, save);
  return (
    <div className="export">
      <button type="button" disabled={state.kind === 'running'} onClick={() => start(filter)}>
        Export as NDJSON
      </button>
      <span className={state.kind === 'failed' ? 'problem' : 'muted'} role="status">
        {stateText(state)}
      </span>
    </div>
  );
}

async function save(
  report: (state: ExportState) => void,
  signal: AbortSignal,
  filter: AuditFilter,
): Promise<void> {
  let bytes = 0;
  try {
    const isSaved = await saveToFile('audit.ndjson', async (sink) => {
      const reply = await fetch(restAddress('/audit/export'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: exportBody(filter),
        signal,
      });
      if (!reply.ok || reply.body === null) throw new Error(`The server answered ${reply.status}.`);
      const reader = reply.body.getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        await sink.write(value);
        bytes += value.length;
        report({ kind: 'running', bytes });
      }
    });
    if (isSaved) report({ kind: 'finished', bytes });
  } catch (error) {
    if (!signal.aborted) report({ kind: 'failed', reason: errorText(error).detail });
  }
}

function stateText(state: ExportState): string {
  switch (state.kind) {
    case 'idle':
      return 'All entries that pass the filters.';
    case 'running':
      return `${countText(state.bytes)}B`;
    case 'finished':
      return `Saved, ${countText(state.bytes)}B.`;
    case 'failed':
      return `The export broke off, so no file was saved: ${state.reason}`;
  }
}
