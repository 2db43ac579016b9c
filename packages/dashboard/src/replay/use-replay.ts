import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { type ReplaySummary, SampleService } from '@gen/enforcement/v1/sample_service_pb.js';
import { useEffect, useState } from 'react';
import { transport } from '../data/transport.js';
import { errorText } from '../ui/error-text.js';

const samples = createClient(SampleService, transport);

export const REPLAYED_DAYS = 7;
/** So many are replayed within a few seconds, whenever the definition changes. */
const MAX_SAMPLES = 5_000;
/** How long a definition stays as it is before it is replayed. */
const PAUSE_MS = 800;

export type Replay =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly summary: ReplaySummary }
  | { readonly kind: 'failed'; readonly reason: string };

/** What is replayed: a control as it would be; null for nothing. */
export interface Replayed {
  readonly name: string;
  readonly definition: () => ControlDefinition;
  /** Another text is another definition. */
  readonly text: string;
}

/** What the samples of the last days say about a changed control. A change cancels what is in the making. */
export function useReplay(replayed: Replayed | null): Replay {
  const [replay, setReplay] = useState<Replay>({ kind: 'none' });
  const key = replayed === null ? null : `${replayed.name} ${replayed.text}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for what is replayed
  useEffect(() => {
    if (replayed === null) {
      setReplay({ kind: 'none' });
      return;
    }
    setReplay({ kind: 'running' });
    const stop = new AbortController();
    const timer = setTimeout(() => {
      summaryOf(replayed, stop.signal).then(
        (summary) => !stop.signal.aborted && setReplay({ kind: 'done', summary }),
        (error) => !stop.signal.aborted && setReplay({ kind: 'failed', reason: errorText(error).detail }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return replay;
}

async function summaryOf({ name, definition }: Replayed, signal: AbortSignal): Promise<ReplaySummary> {
  const request = {
    documents: [{ kind: 'Control', name, data: definition() }],
    since: timestampFromMs(Date.now() - REPLAYED_DAYS * 86_400_000),
    maxSamples: MAX_SAMPLES,
    maxChanges: 0,
  };
  for await (const { news } of samples.replaySamples(request, { signal })) {
    if (news.case === 'summary') return news.value;
  }
  throw new Error('the service sent no sums');
}
