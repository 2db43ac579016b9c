import { create, toBinary } from '@bufbuild/protobuf';
import { ApprovalService, WatchApprovalsRequestSchema } from '@gen/enforcement/v1/approval_service_pb.js';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { queriesOf } from '../data/touched.js';
import { APPROVALS } from '../streams/sources.js';
import { listen } from '../streams/streams.js';

/** Least time between two readings of what is shown. */
const REFRESH_MS = 400;

/** Reads everything that is shown of approvals again when one of them changes. */
export function useApprovalNews(isListening: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isListening) return;
    const refresh = atMostEvery(REFRESH_MS, () => {
      void queries.invalidateQueries({ queryKey: queriesOf(ApprovalService) });
    });
    const request = toBinary(WatchApprovalsRequestSchema, create(WatchApprovalsRequestSchema));
    const end = listen(
      { source: APPROVALS, request },
      {
        position: () => undefined,
        onAttached: (_position, isLive) => {
          if (isLive) refresh.run();
        },
        onMessage: () => refresh.run(),
        onLost: () => undefined,
      },
    );
    return () => {
      end();
      refresh.stop();
    };
  }, [queries, isListening]);
}

/** Runs at once, and again at the end of the time if it was asked for meanwhile. */
function atMostEvery(ms: number, action: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsked = false;
  const run = (): void => {
    if (timer !== undefined) {
      isAsked = true;
      return;
    }
    action();
    timer = setTimeout(() => {
      timer = undefined;
      if (!isAsked) return;
      isAsked = false;
      run();
    }, ms);
  };
  return { run, stop: () => clearTimeout(timer) };
}
