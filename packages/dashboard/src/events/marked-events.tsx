import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import {
  type ControlExecutionEvent,
  type FalsePositive,
  type ListFalsePositivesResponse,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { IconFlag } from '@tabler/icons-react';
import { keepPreviousData, type UseQueryResult, useQueries } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { useIsLimited, useMay } from '../session/session-context.js';

/** Events of one request. */
const ASKED = 100;

type Marks = ReadonlyMap<string, FalsePositive>;

const MarksContext = createContext<Marks>(new Map());

interface MarkedEventsProps {
  readonly events: readonly ControlExecutionEvent[];
  readonly children: ReactNode;
}

/** Events that tell which of their matches are marked as false positives. */
export function MarkedEvents({ events, children }: MarkedEventsProps) {
  const transport = useTransport();
  const isLimited = useIsLimited();
  const mayRead = useMay('events.read') && !isLimited;
  const ids = events.flatMap(({ matched, controlExecutionId: id }) =>
    mayRead && matched === true && id !== undefined ? [id] : [],
  );
  const parts = Array.from({ length: Math.ceil(ids.length / ASKED) }, (_, index) =>
    ids.slice(index * ASKED, (index + 1) * ASKED),
  );
  const marks = useQueries({
    queries: parts.map((controlExecutionIds) => ({
      ...createQueryOptions(
        ObservabilityService.method.listFalsePositives,
        { controlExecutionIds, limit: ASKED },
        { transport },
      ),
      placeholderData: keepPreviousData,
    })),
    combine: byEvent,
  });
  return <MarksContext value={marks}>{children}</MarksContext>;
}

function byEvent(found: readonly UseQueryResult<ListFalsePositivesResponse>[]): Marks {
  const marks = found.flatMap(({ data }) => data?.falsePositives ?? []);
  return new Map(marks.map((mark) => [mark.controlExecutionId, mark]));
}

/** The mark of an event inside of `MarkedEvents`; undefined without one. */
export function useMark({ controlExecutionId = '' }: ControlExecutionEvent): FalsePositive | undefined {
  return useContext(MarksContext).get(controlExecutionId);
}

/** Says that a match is marked; nothing without a mark. */
export function MarkBadge({ event }: { readonly event: ControlExecutionEvent }) {
  if (useMark(event) === undefined) return null;
  return (
    <span className="badge">
      <IconFlag size={14} aria-hidden="true" />
      false positive
    </span>
  );
}
