import { useEffect, useRef, useState } from 'react';
import { restAddress } from '../data/rest-address.js';
import { openSink } from '../events/export-sink.js';
import { errorText } from '../ui/error-text.js';
import { countText } from '../ui/numbers.js';
import { type AuditFilter, exportBody } from './audit-filter.js';

type ExportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' | 'finished'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Saves all entries that pass the filters as lines of JSON, exactly as the JSON route sends them. */
export function ExportAudit({ filter }: { readonly filter: AuditFilter }) {
  const [state, setState] = useState<ExportState>({ kind: 'idle' });
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = (): void => {
    stop.current = new AbortController();
    void save(filter, stop.current.signal, setState);
  };
  return (
    <div className="export">
      <button type="button" disabled={state.kind === 'running'} onClick={start}>
        Export as NDJSON
      </button>
      <span className={state.kind === 'failed' ? 'problem' : 'muted'} role="status">
        {stateText(state)}
      </span>
    </div>
  );
}

async function save(
  filter: AuditFilter,
  signal: AbortSignal,
  report: (state: ExportState) => void,
): Promise<void> {
  const fail = (error: unknown) => report({ kind: 'failed', reason: errorText(error).detail });
  // Asked first: browsers show the question for a file only in answer to a click.
  const sink = await openSink('audit.ndjson').catch(fail);
  if (!sink) return;
  try {
    const reply = await fetch(restAddress('/audit/export'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: exportBody(filter),
      signal,
    });
    if (!reply.ok || reply.body === null) throw new Error(`The server answered ${reply.status}.`);
    const reader = reply.body.getReader();
    let bytes = 0;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      await sink.write(value);
      bytes += value.length;
      report({ kind: 'running', bytes });
    }
    await sink.finish();
    report({ kind: 'finished', bytes });
  } catch (error) {
    await sink.discard().catch(() => undefined);
    if (!signal.aborted) fail(error);
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
