import { createClient } from '@connectrpc/connect';
import { NamespaceService } from '@gen/enforcement/v1/namespace_service_pb.js';
import { transport } from '../data/transport.js';
import { saveToFile } from '../events/export-sink.js';
import { errorText } from '../ui/error-text.js';
import { numberOf } from '../ui/numbers.js';
import { useTask } from '../ui/use-task.js';

type ExportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' | 'finished'; readonly records: number }
  | { readonly kind: 'failed'; readonly reason: string };

const namespaces = createClient(NamespaceService, transport);
/** Records are handed to the sink in pieces of about this many characters. */
const PIECE_LENGTH = 1 << 18;

/** Saves what a namespace contains as lines of JSON, with the members of the JSON route. */
export function ExportNamespace({ name }: { readonly name: string }) {
  const { state, start } = useTask<ExportState, []>({ kind: 'idle' }, (report, signal) =>
    save(name, report, signal),
  );
  return (
    <span>
      <button
        type="button"
        aria-label={`Export ${name}`}
        disabled={state.kind === 'running'}
        onClick={() => start()}
      >
        Export
      </button>
      <span className={state.kind === 'failed' ? 'problem' : 'muted'} role="status">
        {stateText(state)}
      </span>
    </span>
  );
}

async function save(name: string, report: (state: ExportState) => void, signal: AbortSignal): Promise<void> {
  let records = 0;
  try {
    const isSaved = await saveToFile(`namespace-${name}.ndjson`, async (sink) => {
      const encoder = new TextEncoder();
      let piece = '';
      const flush = async (): Promise<void> => {
        const encoded = encoder.encode(piece);
        piece = '';
        await sink.write(encoded);
      };
      // Over gRPC-Web: a stream that breaks off is an error, not a shorter file.
      for await (const { kind, recordJson } of namespaces.exportNamespace({ namespace: name }, { signal })) {
        piece += `${JSON.stringify({ kind, record_json: recordJson })}\n`;
        records += 1;
        report({ kind: 'running', records });
        if (piece.length >= PIECE_LENGTH) await flush();
      }
      await flush();
    });
    if (isSaved) report({ kind: 'finished', records });
    else report({ kind: 'idle' });
  } catch (error) {
    if (!signal.aborted) report({ kind: 'failed', reason: errorText(error).detail });
  }
}

function stateText(state: ExportState): string {
  switch (state.kind) {
    case 'idle':
      return '';
    case 'running':
      return ` ${numberOf(state.records, 'record')}`;
    case 'finished':
      return ` ${numberOf(state.records, 'record')} saved.`;
    case 'failed':
      return ` No file was saved: ${state.reason}`;
  }
}
