import { createClient } from '@connectrpc/connect';
import {
  type ControlExecutionEvent,
  ObservabilityService,
  TotalKind,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { useEffect, useRef, useState } from 'react';
import { transport } from '../data/transport.js';
import { errorText } from '../ui/error-text.js';
import type { EventFilter } from './event-filter.js';
import { type ExportProgress, exportEvents } from './export-events.js';
import { openSink } from './export-sink.js';
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
  const [state, setState] = useState<ExportState>({ kind: 'idle' });
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = (filter: EventFilter): void => {
    stop.current = new AbortController();
    void runExport(filter, stop.current.signal, setState);
  };
  return { state, start, cancel: () => stop.current?.abort() };
}

async function runExport(
  filter: EventFilter,
  signal: AbortSignal,
  report: (state: ExportState) => void,
): Promise<void> {
  let progress: ExportProgress = { events: 0, bytes: 0 };
  const fail = (error: unknown): void => {
    if (signal.aborted) report({ kind: 'cancelled', ...progress });
    else report({ kind: 'failed', reason: errorText(error).detail, ...progress });
  };
  // Asked first: browsers show the question for a file only in answer to a click.
  const sink = await openSink(
    `events-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
  ).catch((error: unknown) => fail(error));
  if (!sink) return;
  try {
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
    await sink.finish();
    report({ kind: 'finished', ...progress });
  } catch (error) {
    await sink.discard().catch(() => undefined);
    fail(error);
  }
}

async function* received(filter: EventFilter, signal: AbortSignal): AsyncGenerator<ControlExecutionEvent> {
  for await (const { event } of client.exportEvents(filter, { signal })) {
    if (event !== undefined) yield event;
  }
}
