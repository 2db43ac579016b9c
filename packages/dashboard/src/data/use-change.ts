import type { DescMessage, DescMethodUnary } from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';

/** An RPC that changes what is stored. After it, everything shown is read again. */
export function useChange<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const queries = useQueryClient();
  return useMutation(method, {
    // Not awaited: the dialog or form is done.
    onSuccess: () => void queries.invalidateQueries(),
  });
}
