import { useQuery } from '@connectrpc/connect-query';
import {
  ControlService,
  type ExpressionProblem,
  type InspectExpressionResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { type FieldViolation, fieldViolations } from '../data/field-violations.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import type { ExpressionPlace } from './expression-place.js';

const DELAY_MS = 250;
const NONE: readonly never[] = [];

/** What the server says about an expression. */
export interface Inspection {
  /** The reply about the text that was inspected last; undefined before the first. */
  readonly reply: InspectExpressionResponse | undefined;
  /** The problems of the text as it is; none while they are not known. */
  readonly problems: readonly ExpressionProblem[];
  /** Why the text was refused as a whole, for example for its length. */
  readonly refused: readonly FieldViolation[];
  /** Whether the reply is about an earlier text. */
  readonly isStale: boolean;
  /** Why the server could not inspect it; null if it could. */
  readonly failure: unknown;
  readonly retry: () => void;
}

/** Has an expression inspected as one types. */
export function useInspection(text: string, { scope, selectorPath }: ExpressionPlace): Inspection {
  const settled = useDebounced(text, DELAY_MS);
  const query = useQuery(
    ControlService.method.inspectExpression,
    {
      expression: settled,
      ...(scope === undefined ? {} : { scope }),
      ...(selectorPath === '' ? {} : { selectorPath }),
    },
    { enabled: settled.trim() !== '', placeholderData: keepPreviousData, gcTime: 10_000, retry: false },
  );
  const isStale = settled !== text || query.isPlaceholderData || query.isFetching;
  const refused = query.error === null ? NONE : fieldViolations(query.error);
  const isBlank = settled.trim() === '';
  return {
    reply: isBlank ? undefined : query.data,
    problems: isStale || isBlank || query.error !== null ? NONE : (query.data?.problems ?? NONE),
    refused: isStale ? NONE : (refused ?? NONE),
    isStale,
    failure: refused === null ? query.error : null,
    retry: () => void query.refetch(),
  };
}
