import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  list,
  nullable,
  oneOf,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { described } from '../../contract/input/messages.js';
import { unreadAgentName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';

const expectation = z.object(
  {
    point: nullable(text(LIMITS.WantedExpectation.point)),
    interval_seconds: integer(LIMITS.WantedExpectation.interval_seconds),
  },
  described('an object with interval_seconds'),
);

/** Input schemas of CoverageService, by RPC. */
export const COVERAGE_SCHEMAS = {
  listCoverage: z.object({
    cursor: nullable(text()),
    limit: pageSize(LIMITS.ListCoverageRequest.limit),
    name: nullable(text()),
    state: nullable(oneOf(['never_seen', 'overdue'], 'enum')),
  }),
  getCoverage: z.object({ agent_name: unreadAgentName }),
  setExpectations: withExample(
    z
      .object({
        agent_name: unreadAgentName,
        expectations: withDefault(list(expectation, LIMITS.SetExpectationsRequest.expectations), []),
      })
      .superRefine(({ expectations }, sink) => {
        const points = expectations.map(({ point }) => point);
        const at = points.findIndex((point, index) => points.indexOf(point) < index);
        if (at === -1) return;
        report(sink, 'value_error', 'must be another point than those before', null, [
          'expectations',
          at,
          'point',
        ]);
      }),
    { expectations: [{ point: 'rest', interval_seconds: 900 }] },
  ),
};

/** Outputs of these schemas, by RPC. */
export type CoverageInputs = InputsOf<typeof COVERAGE_SCHEMAS>;
