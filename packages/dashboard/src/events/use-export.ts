import { createClient } from '@connectrpc/connect';
import {
  type ControlExecutionEvent,
  ObservabilityService,
  TotalKind,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { transport } from '../data/transport.js';
import { errorText } from '../ui/error-text.js';
import { useTask } from '../ui/use-task.js';
import type { EventFilter } from './event-filter.js';
import { type ExportProgress, exportEvents } from './export-events.js';
import { saveToFile } from './export-sink.js';
import type { EventTotal } from './total-text.js';

const client = createClient(ObservabilityService, transport);
const PROGRESS_MS = 100;

/** How an export is. The total is unknown at its start. */
export type ExportState =
  | { readonly kind: 'idle' }
  | ({ readonly kind: 'running'; readonly total: EventTotal | undefined } & ExportProgress)
  | ({ readonly kind: 'finished' | 'cancelled' } & ExportProgress)
  | ({ readonly kind: 'failed'; readonly reason: string } & ExportProgress);

/** An export of events to a file. It ends with the page. */
export function useExport() {
  return useTask<ExportState, [EventFilter]>({ kind: 'idle' }, runExport);
}

async function runExport(
  report: (state: ExportState) => void,
  signal: AbortSignal,
  filter: EventFilter,
): Promise<void> {
  const fileName = `events-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`;
  let progress: ExportProgress = { events: 0, bytes: 0 };
  try {
    const isSaved = await saveToFile(fileName, async (sink) => {
      report({ kind: 'running', total: undefined, ...progress });
      // Events that are not stored yet would be missing.
      const total = await client.queryEvents(
        { ...filter, limit: 1, includeBuffered: true, total: TotalKind.ESTIMATE },
        { signal },
      );
      let shownAt = 0;
      const show = (next: ExportProgress): void => {
        progress = next;
        if (performance.now() - shownAt < PROGRESS_MS) return;
        shownAt = performance.now();
        report({ kind: 'running', total, ...next });
      };
      progress = await exportEvents(received(filter, signal), sink, show);
      signal.throwIfAborted();
    });
    if (isSaved) report({ kind: 'finished', ...progress });
  } catch (error) {
    if (signal.aborted) report({ kind: 'cancelled', ...progress });
    else report({ kind: 'failed', reason: errorText(error).detail, ...progress });
  }
}

async function* received(filter: EventFilter, signal: AbortSignal): AsyncGenerator<ControlExecutionEvent> {
  for await (const { event } of client.exportEvents(filter, { signal })) {
    if (event !== undefined) yield event;
  }
}
