import type { DescMessage, DescMethodUnary } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import type { ListAgentsRequestSchema } from '@gen/enforcement/v1/agent_service_pb.js';
import type { ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import type { ListPoliciesRequestSchema } from '@gen/enforcement/v1/policy_service_pb.js';
import { useState } from 'react';
import { useDebounced } from '../ui/browser/use-debounced.js';

/** Things found at once; a longer name finds the others. */
const FOUND_AT_ONCE = 25;

type ByName =
  | typeof ListAgentsRequestSchema
  | typeof ListControlsRequestSchema
  | typeof ListPoliciesRequestSchema;

/** A search by a part of a name: the text of its field, and what a list request finds by it. */
export function useNameSearch<O extends DescMessage>(list: DescMethodUnary<ByName, O>) {
  const [text, setText] = useState('');
  const name = useDebounced(text).trim();
  const { data, error } = useQuery(list, { limit: FOUND_AT_ONCE, ...(name === '' ? {} : { name }) });
  return { text, setText, data, error };
}
