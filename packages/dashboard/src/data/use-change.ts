import type { DescMessage, DescMethod, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { touchedBy } from './touched.js';

/** An RPC that changes what is stored. After it, what it touches is read again. */
export function useChange<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  onDone?: (reply: MessageShape<O>) => void,
) {
  const refresh = useRefresh();
  return useMutation(method, {
    onSuccess: (reply) => {
      // Before: a page that is left does not ask for what is deleted.
      onDone?.(reply);
      refresh(method);
    },
  });
}

/** Has what a change touched read again, where it is shown. Not awaited: the dialog or form is done. */
export function useRefresh(): (change: DescMethod) => void {
  const queries = useQueryClient();
  return useCallback(
    (change) => {
      for (const queryKey of touchedBy(change)) void queries.invalidateQueries({ queryKey });
    },
    [queries],
  );
}
