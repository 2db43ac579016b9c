import type { JsonObject } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import type { ControlDefinition, ControlTemplate, Warning } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { TemplateService } from '@gen/enforcement/v1/template_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type FieldViolation, fieldViolations } from '../data/field-violations.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { givenValues, missingLabels } from './template-model.js';

/** What the server makes of a template and its values. */
export interface Rendering {
  /** Absent as long as values are missing or wrong. */
  readonly definition: ControlDefinition | undefined;
  readonly warnings: readonly Warning[];
  readonly problems: readonly FieldViolation[];
  /** A failure without problems of members. */
  readonly failure: unknown;
  /** Whether this is about earlier values. */
  readonly isStale: boolean;
  readonly retry: () => void;
}

const OPTIONS = { placeholderData: keepPreviousData, gcTime: 10_000, retry: false } as const;

/** Renders a template as one types; with incomplete values, they and the template are checked only. */
export function useRendering(template: ControlTemplate | undefined, values: JsonObject): Rendering {
  const input = useMemo(() => ({ template, values: givenValues(values) }), [template, values]);
  const settled = useDebounced(input);
  const isCurrent = settled === input;
  const isComplete = template !== undefined && missingLabels(template, values).length === 0;
  const request =
    settled.template === undefined ? {} : { template: settled.template, templateValues: settled.values };
  const isReady = isCurrent && template !== undefined;
  const rendered = useQuery(TemplateService.method.renderTemplate, request, {
    ...OPTIONS,
    enabled: isReady && isComplete,
  });
  const checked = useQuery(
    ControlService.method.validateControl,
    { data: request },
    { ...OPTIONS, enabled: isReady && !isComplete },
  );
  const query = isComplete ? rendered : checked;
  const violations = query.error === null ? [] : fieldViolations(query.error);
  return {
    definition: isComplete && rendered.error === null ? rendered.data?.control : undefined,
    // With incomplete values, the only warning says so.
    warnings: isComplete && rendered.error === null ? (rendered.data?.warnings ?? []) : [],
    problems: (violations ?? []).map(({ path, message }) => ({ path: path.replace(/^data\./, ''), message })),
    failure: violations === null ? query.error : null,
    isStale: !isCurrent || query.isFetching,
    retry: () => void query.refetch(),
  };
}
